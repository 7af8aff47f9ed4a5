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
  const errors = [
    // The end of a session names the NOTIFICATION that was its reason.
    { error: session.lastDown, lead: '' },
    { error: session.lastNotificationSent, lead: 'sent NOTIFICATION ' },
    { error: session.lastNotificationReceived, lead: 'received NOTIFICATION ' },
    { error: session.lastFailure, lead: '' },
  ].flatMap(({ error, lead }) =>
    error === null ? [] : [{ agoMs: error.agoMs, text: `${lead}${error.text}` }],
  );
  return errors.sort((a, b) => a.agoMs - b.agoMs)[0];
}
