import { openChannel } from '../../../src/actors/channel.ts';
import { serveThread } from '../../../src/actors/serve-thread.ts';

export interface ServiceData {
  readonly onStart?: 'throw' | 'reject';
  readonly onClose?: 'never' | 'say';
  readonly farewell?: number;
}

export type ServiceDeed = 'echo' | 'exit' | 'throw' | 'spin' | 'say-and-exit';

serveThread((data: ServiceData, port) => {
  if (data.onStart === 'throw') throw new Error('cannot serve');
  if (data.onStart === 'reject') return Promise.reject(new Error('cannot serve'));
  const channel = openChannel<ServiceDeed, unknown>(port, (deed) => {
    switch (deed) {
      case 'echo':
        return channel.send('echo');
      case 'exit':
        return process.exit(0);
      case 'throw':
        throw new Error('thrown by the service');
      case 'spin':
        for (;;);
      case 'say-and-exit':
        for (let n = 0; n < 100; n += 1) channel.send(n);
        channel.flush();
        return process.exit(3);
    }
  });
  return () => {
    if (data.onClose === 'never') return new Promise<void>(() => undefined);
    if (data.onClose === 'say') channel.send('goodbye');
    return undefined;
  };
});
