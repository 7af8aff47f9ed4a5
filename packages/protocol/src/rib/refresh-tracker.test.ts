import { describe, expect, it } from 'vitest';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import type { ReceivedUpdate } from '../wire/message.ts';
import { receivedUpdate } from '../wire/update.ts';
import { endOfRib } from './end-of-rib.ts';
import { pathFrom, source } from './kit/paths.ts';
import { RefreshTracker } from './refresh-tracker.ts';

const prefixes = ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '2001:db8::/32'];
const paths = prefixes.map((prefix) => pathFrom(source(11), {}, { prefix }));

function update(fields: { announced?: string; withdrawn?: string }): ReceivedUpdate {
  const nlri = (text: string | undefined) =>
    text === undefined ? [] : [{ prefix: parsePrefix(text), pathId: undefined }];
  const attributes = fields.announced === undefined ? undefined : pathFrom(source(11)).attributes;
  return receivedUpdate({
    ...endOfRib(ipv4Unicast),
    attributes,
    nlri: nlri(fields.announced),
    withdrawn: nlri(fields.withdrawn),
    faults: [],
    treatAsWithdraw: false,
  });
}

function left(tracker: RefreshTracker): string[] {
  return tracker.end(ipv4Unicast).map(({ prefix }) => formatPrefix(prefix));
}

describe('RefreshTracker', () => {
  it('knows what was neither announced nor withdrawn between begin and end, in one family', () => {
    const tracker = new RefreshTracker();
    tracker.begin(ipv4Unicast, paths);
    tracker.note(update({ announced: '10.0.1.0/24' }));
    tracker.note(update({ withdrawn: '10.0.2.0/24' }));
    expect(tracker.isRefreshing(ipv4Unicast)).toBe(true);
    expect(tracker.isRefreshing(ipv6Unicast)).toBe(false);
    expect(left(tracker)).toEqual(['10.0.0.0/24']);
    expect(left(tracker)).toEqual([]);
  });

  it('begins anew with a second beginning', () => {
    const tracker = new RefreshTracker();
    tracker.begin(ipv4Unicast, paths);
    tracker.note(update({ announced: '10.0.1.0/24' }));
    tracker.begin(ipv4Unicast, paths);
    expect(left(tracker)).toEqual(['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24']);
  });

  it('has nothing to say about an end without a beginning, or after the session', () => {
    const tracker = new RefreshTracker();
    expect(left(tracker)).toEqual([]);
    tracker.begin(ipv4Unicast, paths);
    tracker.clear();
    expect(left(tracker)).toEqual([]);
  });
});
