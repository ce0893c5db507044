import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Mail, openMailbox } from '../../../src/actors/core/mailbox.ts';

function takeAll<System, User>(take: () => Mail<System, User> | undefined): Mail<System, User>[] {
  const taken: Mail<System, User>[] = [];
  for (let mail = take(); mail !== undefined; mail = take()) taken.push(mail);
  return taken;
}

test('a mailbox gives system mail before user mail that was there first', () => {
  const mailbox = openMailbox<string, number>(10);
  mailbox.offerUser(1);
  mailbox.offerSystem('stop');
  expect(takeAll(mailbox.take)).toEqual([
    { lane: 'system', body: 'stop' },
    { lane: 'user', body: 1 },
  ]);
});

test('a mailbox refuses user mail beyond its bound and takes it again once one was taken', () => {
  const mailbox = openMailbox<string, number>(2);
  expect([mailbox.offerUser(1), mailbox.offerUser(2), mailbox.offerUser(3)]).toEqual([
    'accepted',
    'accepted',
    'full',
  ]);
  mailbox.take();
  expect(mailbox.offerUser(4)).toBe('accepted');
  expect(takeAll(mailbox.take).map((mail) => mail.body)).toEqual([2, 4]);
});

test('a mailbox bounds the system lane too', () => {
  const mailbox = openMailbox<number, number>(1);
  const offers = Array.from({ length: 17 }, (_, n) => mailbox.offerSystem(n));
  expect(offers.filter((offer) => offer === 'accepted')).toHaveLength(16);
  expect(offers.at(-1)).toBe('full');
});

test('a mailbox forgets user mail when it closes and still takes system mail', () => {
  const mailbox = openMailbox<string, number>(10);
  mailbox.offerUser(1);
  mailbox.close();
  expect(mailbox.offerUser(2)).toBe('closed');
  expect(mailbox.offerSystem('stop')).toBe('accepted');
  expect(takeAll(mailbox.take)).toEqual([{ lane: 'system', body: 'stop' }]);
});

test('a mailbox keeps the order of each lane under any sequence of offers and takes', () => {
  const step = fc.oneof(fc.constant('take' as const), fc.nat(1000));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const mailbox = openMailbox<string, number>(50);
      let model: number[] = [];
      const take = (): void => {
        expect(mailbox.take()?.body).toBe(model[0]);
        model = model.slice(1);
      };
      const offer = (body: number): void => {
        const accepted = mailbox.offerUser(body) === 'accepted';
        expect(accepted).toBe(model.length < 50);
        if (accepted) model.push(body);
      };
      for (const one of steps) {
        if (one === 'take') take();
        else offer(one);
        expect(mailbox.size()).toBe(model.length);
      }
    }),
  );
});
