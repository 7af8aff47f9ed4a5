import { Gauge, type Registry } from 'prom-client';
import type { MemberSourceStatus } from '../membership/source-status.ts';

/** Gauges of the lists that members come from, which ask with each scrape. Labels are bounded by the configuration. */
export function observeSources(
  registry: Registry,
  prefix: string,
  read: () => readonly MemberSourceStatus[],
): void {
  const gauge = (
    name: string,
    help: string,
    value: (status: MemberSourceStatus) => number | undefined,
  ): void => {
    new Gauge({
      name: `${prefix}${name}`,
      help,
      labelNames: ['kind', 'list'],
      registers: [registry],
      collect() {
        this.reset();
        for (const status of read()) {
          const known = value(status);
          if (known !== undefined) this.set({ kind: status.kind, list: status.name }, known);
        }
      },
    });
  };
  gauge(
    'member_source_up',
    '1 while a list of members is as its source says, 0 while it may be old.',
    ({ problem }) => (problem === '' ? 1 : 0),
  );
  gauge('member_source_members', 'Members that a list has.', ({ members }) => members);
  gauge(
    'member_source_heard_seconds',
    'Seconds since the source of a list was last heard; nothing before it was.',
    ({ heardMs }) => (heardMs === null ? undefined : heardMs / 1_000),
  );
  gauge(
    'member_source_credential_expiry_timestamp_seconds',
    'When the token or certificate that is shown to the Kubernetes API ends, in seconds since the epoch.',
    ({ credential }) => credential?.expiresAt ?? undefined,
  );
}
