import { describe, expect, it } from 'vitest';
import { loadBalancer } from '../testing/objects.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';
import { EventSender } from './event-sender.ts';

const text = (number: number): { type: 'Normal'; reason: string; message: string } => ({
  type: 'Normal',
  reason: 'MemberHealthy',
  message: String(number),
});
const texts = (count: number): ReturnType<typeof text>[] => Array.from({ length: count }, (_, n) => text(n));

function sender(send: () => Promise<void> = async () => undefined): {
  clock: SteppedClock;
  sent: string[];
  failed: string[];
  events: EventSender;
} {
  const clock = new SteppedClock();
  const [sent, failed]: [string[], string[]] = [[], []];
  const events = new EventSender({
    clock,
    async send(_, { message }) {
      await send();
      sent.push(message);
    },
    failed: ({ message }, error) => failed.push(`${message}: ${String(error)}`),
  });
  return { clock, sent, failed, events };
}

const named = (name: string): ReturnType<typeof loadBalancer> =>
  loadBalancer({}, undefined, { name, uid: `uid-${name}` });

describe('events', () => {
  it('are 25 of one object at once, then one each 5 minutes, and those of another one are not held', async () => {
    const { clock, sent, events } = sender();
    events.say(named('prod'), texts(30));
    events.say(named('users'), [text(100)]);
    clock.pass(299_000);
    events.say(named('prod'), [text(101)]);
    clock.pass(1_001);
    events.say(named('prod'), [text(102), text(103)]);
    await events.close();
    expect(sent).toEqual([...texts(25).map(({ message }) => message), '100', '102']);
  });

  it('go one after another, and one that fails does not keep the next one', async () => {
    let [underWay, most, number] = [0, 0, 0];
    const { sent, failed, events } = sender(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      number += 1;
      if (number === 2) throw new Error('no');
    });
    events.say(named('prod'), texts(3));
    await events.close();
    expect([sent, failed, most]).toEqual([['0', '2'], ['1: Error: no'], 1]);
  });

  it('wait 1000 at most, and no longer than 2 s at the end', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { clock, sent, failed, events } = sender(() => held);
    for (let number = 0; number < 50; number += 1) events.say(named(`p${number}`), texts(25));
    // One is under way.
    expect(failed).toHaveLength(50 * 25 - 1_001);
    const closed = events.close();
    clock.pass(2_001);
    release();
    await closed;
    expect(sent).toEqual(['0']);
  });
});
