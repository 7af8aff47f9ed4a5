import { describe, expect, it } from 'vitest';
import { checkScheduling } from './check-scheduling.ts';

const grant = 'give the daemon CAP_SYS_NICE';
const found = (scheduling: string, detectionTime: number) =>
  checkScheduling({ scheduling, detectionTime, grant });

const ORDINARY = 'ordinary (sched_setscheduler: EPERM; setpriority: EACCES)';

describe('the place of the BFD thread, by what it was granted', () => {
  it.each([150, 900])('is good as SCHED_FIFO, with neighbors that wait %i ms', (detectionTime) => {
    expect(found('SCHED_FIFO 10', detectionTime)).toMatchObject({ level: 'good' });
  });

  it('is good as an ordinary thread for the default of 300 ms x 3, which needs no privilege', () => {
    expect(found(ORDINARY, 900)).toMatchObject({
      level: 'good',
      value: `${ORDINARY}: enough for neighbors that wait 900 ms`,
    });
  });

  it('is a warning as an ordinary thread for shorter times, with the capability that is missing', () => {
    expect(found(ORDINARY, 899)).toMatchObject({
      level: 'warning',
      value: expect.stringContaining('taken for dead by neighbors that wait 899 ms'),
      fix: expect.stringMatching(/^give the daemon CAP_SYS_NICE/),
    });
  });

  it('is a warning as an ordinary thread where the times of neighbors are not looked at', () => {
    expect(checkScheduling({ scheduling: ORDINARY, grant })).toMatchObject({
      level: 'warning',
      fix: 'give the daemon CAP_SYS_NICE: a busy host may otherwise take neighbors for dead',
    });
  });

  it('does not ask for a capability that is there', () => {
    expect(found('nice -15 (sched_setscheduler: EPERM)', 900)).toMatchObject({
      level: 'warning',
      fix: expect.stringMatching(/^the daemon has CAP_SYS_NICE, and the kernel refuses SCHED_FIFO/),
    });
  });

  it('is good while it begins, with a nice value, before SCHED_FIFO was asked for', () => {
    expect(found('nice -15', 150)).toMatchObject({ level: 'good' });
  });

  it('says so where there is no thread', () => {
    expect(found('not running', 900)).toMatchObject({ level: 'warning', value: 'not running' });
  });
});
