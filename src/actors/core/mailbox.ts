export type Offer = 'accepted' | 'full' | 'closed';

export type Mail<System, User> =
  | { readonly lane: 'system'; readonly body: System }
  | { readonly lane: 'user'; readonly body: User };

/**
 * What waits for an actor, in two lanes: everything in the system lane is taken before anything in the user lane, and
 * each lane keeps its order. Both are bounded; the system lane is small because its senders are the kernel alone.
 */
export interface Mailbox<System, User> {
  offerSystem(body: System): Offer;
  offerUser(body: User): Offer;
  take(): Mail<System, User> | undefined;
  /** Refuses user mail from now on and forgets what waits; system mail still gets in and out. */
  close(): void;
  size(): number;
}

const systemMailMax = 16;

export function openMailbox<System, User>(userMailMax: number): Mailbox<System, User> {
  const system = openLane<System>(systemMailMax);
  const user = openLane<User>(userMailMax);
  let closed = false;
  return {
    offerSystem: (body) => (system.push(body) ? 'accepted' : 'full'),
    offerUser(body) {
      if (closed) return 'closed';
      return user.push(body) ? 'accepted' : 'full';
    },
    take() {
      if (system.size() > 0) return { lane: 'system', body: system.shift() };
      if (user.size() > 0) return { lane: 'user', body: user.shift() };
      return undefined;
    },
    close() {
      closed = true;
      user.clear();
    },
    size: () => system.size() + user.size(),
  };
}

interface Lane<Body> {
  push(body: Body): boolean;
  /** Only where `size() > 0`. */
  shift(): Body;
  clear(): void;
  size(): number;
}

/** A queue with a moving head: taking is constant time, and the taken half is dropped once it is the larger one. */
function openLane<Body>(max: number): Lane<Body> {
  let items: Body[] = [];
  let head = 0;
  return {
    push(body) {
      if (items.length - head >= max) return false;
      items.push(body);
      return true;
    },
    shift() {
      const body = items[head] as Body;
      head += 1;
      if (head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return body;
    },
    clear() {
      items = [];
      head = 0;
    },
    size: () => items.length - head,
  };
}
