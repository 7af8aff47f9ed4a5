import { expect, it } from 'vitest';
import { lastErrorOf } from './last-error.ts';

const none = {
  lastDown: null,
  lastNotificationSent: null,
  lastNotificationReceived: null,
  lastFailure: null,
};

it('is the newest of what ended a session or an attempt at one', () => {
  expect(lastErrorOf(none)).toBeUndefined();
  const lastFailure = { text: 'TCP connection failed: connect ENETUNREACH', agoMs: 5 };
  const lastNotificationReceived = { text: 'Cease/Administrative Shutdown', agoMs: 900 };
  const lastDown = { text: 'NOTIFICATION received: Cease/Administrative Shutdown', agoMs: 900 };
  expect(lastErrorOf({ ...none, lastFailure, lastNotificationReceived, lastDown })).toEqual(lastFailure);
  // The end of a session names the NOTIFICATION that was its reason.
  expect(lastErrorOf({ ...none, lastNotificationReceived, lastDown })).toEqual(lastDown);
  // A connection that is closed without a word says less than the NOTIFICATION before it.
  const closed = { text: 'TCP connection failed: closed by the peer', agoMs: 5 };
  expect(lastErrorOf({ ...none, lastNotificationReceived, lastFailure: closed })?.agoMs).toBe(900);
  expect(lastErrorOf({ ...none, lastFailure: closed })).toEqual(closed);
  expect(lastErrorOf({ ...none, lastNotificationReceived })?.text).toBe(
    'received NOTIFICATION Cease/Administrative Shutdown',
  );
});
