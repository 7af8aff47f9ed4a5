import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { threadClock } from './bfd-clock.ts';
import { systemClock } from './clock.ts';

const day = 24 * 3600 * 1000;

describe.each([
  ['the clock of BGP', systemClock],
  ['the clock of BFD', threadClock],
])('%s', (_, clock) => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['forward', day],
    ['back', -day],
  ])('takes no notice of a wall clock that is set %s by a day', async (_direction, jump) => {
    // The time of day alone is the test's; timers are Node's own.
    vi.useFakeTimers({ toFake: ['Date'] });
    const since = { clock: clock.now(), real: performance.now() };
    let isCancelled = true;
    const cancel = clock.after(20, () => {
      isCancelled = false;
    });
    const fired = new Promise<void>((resolve_) => {
      clock.after(40, resolve_);
    });
    vi.setSystemTime(Date.now() + jump);
    cancel();
    await fired;
    const elapsed = performance.now() - since.real;
    expect(elapsed).toBeGreaterThanOrEqual(39);
    expect(Math.abs(clock.now() - since.clock - elapsed)).toBeLessThan(1000);
    expect(isCancelled).toBe(true);
  });
});

/** Where the time of day is read, and what for: all of it is for people, certificates or marks on the disk. */
const readers: readonly string[] = [
  // Objects of Kubernetes have the time of day: conditions, annotations, heartbeats and leases.
  'controller/src/core/conditions.ts',
  'controller/src/core/judgement.ts',
  'controller/src/core/member-states.ts',
  'controller/src/run/instance-silence.ts',
  'controller/src/run/leader-lease.ts',
  'controller/src/run/lease-record.ts',
  'controller/src/run/start-controller.ts',
  'daemon/src/control/event-log.ts',
  'daemon/src/health/tls-connection.ts',
  'daemon/src/process/log-stream.ts',
  'daemon/src/process/logger.ts',
  // Until when a credential for the Kubernetes API is good, here and where members are read from it.
  'router/src/api/source-tables.ts',
  // When a data plane was chosen, for people.
  'router/src/auto/chosen-config.ts',
  'router/src/auto/data-plane-chooser.ts',
  'router/src/dashboard/dashboard-routes.ts',
  // For member-drains.ts.
  'router/src/doctor/bundle.ts',
  'router/src/doctor/examine.ts',
  // What a restart has to wait of a drain, never more than was given.
  'router/src/drain/member-drains.ts',
  // A heartbeat in an object of Kubernetes.
  'router/src/instance/instance-reporter.ts',
  'router/src/membership/config-map-membership.ts',
  'router/src/membership/make-membership-sources.ts',
  // MRT records have the time of day.
  'router/src/mrt/message-recorder.ts',
  'router/src/router-parts.ts',
  // The time of a file that keepalived looks at.
  'router/src/vrrp/keepalived-files.ts',
  'speaker/src/bootstrap/bootstrap-watch.ts',
  'speaker/src/control-routes.ts',
  'speaker/src/doctor/check-api-server.ts',
  'speaker/src/doctor/examine.ts',
  'speaker/src/prepare-host.ts',
  'speaker/src/wait/wait-command.ts',
];

it('nothing else reads the time of day', () => {
  const packages = resolve(import.meta.dirname, '../../..');
  const isProgram = (file: string): boolean =>
    /^[^/]+\/src\/.*\.ts$/.test(file) && !/\.test\.ts$|\/(testing|kit)\//.test(file);
  const files = readdirSync(packages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(packages, join(parentPath, name)))
    .filter(isProgram);
  expect(files.length).toBeGreaterThan(200);
  const found = files.filter((file) =>
    /\bDate\s*[.(]|\bnew Date\b/.test(readFileSync(join(packages, file), 'utf8')),
  );
  expect(found.toSorted()).toEqual(readers);
});
