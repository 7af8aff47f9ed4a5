import { describe, expect, it } from 'vitest';
import { checkLiveness } from './check-liveness.ts';

const session = {
  ...{ check: 'neighbor', place: 'm1', value: 'Established', bfd: 'Up', holdTime: 9 },
  ...{ authentication: 'none', sinceMs: 60_000 },
};

describe('doctor of an Established session', () => {
  it('finds nothing to say where BFD watches it', () => {
    expect(checkLiveness(session)).toMatchObject({ level: 'good', value: 'Established' });
  });

  it('warns where BFD is wanted and not Up, and says what the session rests on', () => {
    expect(checkLiveness({ ...session, bfd: 'Down' })).toMatchObject({
      level: 'warning',
      value: 'Established, BFD Down: a silent death is noticed by the hold timer alone, after 9 s',
      fix: expect.stringContaining('UDP 3784'),
    });
  });

  it('says so where BFD is not configured, which is no fault', () => {
    expect(checkLiveness({ ...session, bfd: 'off' })).toMatchObject({
      level: 'good',
      value:
        'Established; BFD is not configured: a silent death is noticed by the hold timer alone, after 9 s',
    });
    expect(checkLiveness({ ...session, bfd: 'off', holdTime: 0 }).value).toContain('is never noticed');
  });

  it('warns where authentication of BFD was agreed on and no valid packet has come in half a minute', () => {
    const agreed = { ...session, authentication: 'agreed' };
    expect(checkLiveness(agreed)).toMatchObject({
      level: 'warning',
      value: expect.stringContaining('agreed on and no valid packet has come'),
      fix: expect.stringContaining('passwordFile'),
    });
    expect(checkLiveness({ ...agreed, sinceMs: 20_000 })).toMatchObject({ level: 'good' });
    for (const authentication of ['none', 'not agreed', 'required', undefined]) {
      expect(checkLiveness({ ...session, authentication })).toMatchObject({ level: 'good' });
    }
  });
});
