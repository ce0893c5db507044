import { expect, it } from 'vitest';
import { Flight } from '../../src/models/flight.ts';

it('an abort is told once to each listener that is still there, and to none that comes later', () => {
  const flight = new Flight(1);
  const heard: string[] = [];
  const gone = () => heard.push('gone');
  flight.addEventListener('abort', () => heard.push('a'));
  flight.addEventListener('abort', gone);
  flight.addEventListener('abort', () => heard.push('b'));
  flight.removeEventListener('abort', gone);
  expect(flight.aborted).toBe(false);
  flight.abort();
  flight.abort();
  flight.addEventListener('abort', () => heard.push('late'));
  expect(heard).toEqual(['a', 'b']);
  expect(flight.aborted).toBe(true);
  expect(flight.reason).toMatchObject({ code: 'model.aborted' });
});
