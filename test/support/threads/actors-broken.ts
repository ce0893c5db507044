throw new Error('this entry cannot be loaded');
