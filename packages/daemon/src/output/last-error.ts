import { age } from './age.ts';

/** Something that ended a session or an attempt at one. */
interface Ended {
  readonly text: string;
  readonly agoMs: number;
}

/** What a BGP session tells of its errors. */
export interface SessionErrors {
  readonly lastDown: Ended | null;
  readonly lastNotificationSent: Ended | null;
  readonly lastNotificationReceived: Ended | null;
  readonly lastFailure: Ended | null;
}

/** The newest of what ended a session or an attempt at one, in words; `undefined` where nothing has. */
export function lastErrorOf(session: SessionErrors): Ended | undefined {
  const { lastDown, lastNotificationSent, lastNotificationReceived, lastFailure } = session;
  const notifications = [lastNotificationSent, lastNotificationReceived].filter(
    (one) => one !== null && one.agoMs < (lastDown?.agoMs ?? Number.POSITIVE_INFINITY),
  );
  // A neighbor that refuses us says why once, and closes what comes after that without a word.
  const isWordless = lastFailure !== null && /closed by the peer|ECONNRESET/.test(lastFailure.text);
  const errors = [
    // The end of a session names the NOTIFICATION that was its reason.
    { error: lastDown, lead: '' },
    { error: lastNotificationSent, lead: 'sent NOTIFICATION ' },
    { error: lastNotificationReceived, lead: 'received NOTIFICATION ' },
    { error: isWordless && notifications.length > 0 ? null : lastFailure, lead: '' },
  ].flatMap(({ error, lead }) =>
    error === null ? [] : [{ agoMs: error.agoMs, text: `${lead}${error.text}` }],
  );
  return errors.sort((a, b) => a.agoMs - b.agoMs)[0];
}

/** The last error with its age, since one of an established session is of the session before; empty where there was none. */
export function lastErrorText(session: SessionErrors): string {
  const error = lastErrorOf(session);
  return error === undefined ? '' : `${error.text} (${age(error.agoMs)} ago)`;
}
