import type { DashboardSnapshot } from '@bgp-lb/router/dashboard';
import type { JSX } from 'preact';
import { DataTable } from '../parts/data-table.tsx';
import { StateMark } from '../parts/state-mark.tsx';

/** What carries the VIPs: what there is against what is wanted, and what is wrong on this host. */
export function DataPlanePanel({ snapshot }: { readonly snapshot: DashboardSnapshot }): JSX.Element {
  const { status, fib, differences, differencesError } = snapshot;
  const problems = [
    ...fib.problems,
    ...status.bfd.problems.map((problem) => `BFD does not receive: ${problem}`),
    ...(status.healthCheck.verified ? [] : [status.healthCheck.detail]),
  ];
  return (
    <section class="panel" aria-labelledby="data-plane">
      <h2 id="data-plane">Data plane: {fib.kind}</h2>
      <p>
        {differences === null ? (
          <StateMark tone="warn" text={differencesError} />
        ) : differences.length === 0 ? (
          <StateMark tone="good" text="What there is is what is wanted." />
        ) : (
          <StateMark tone="bad" text={`${differences.length} things are not as wanted.`} />
        )}
      </p>
      {differences !== null && differences.length > 0 && (
        <DataTable
          caption="Wanted against real"
          columns={['VIP', 'Object', 'Difference']}
          rows={differences.map(({ vip, object, difference }, index) => ({
            key: `${index}`,
            cells: [vip ?? 'all', object, difference],
          }))}
          empty=""
        />
      )}
      {problems.length > 0 && (
        <ul class="reasons" aria-label="Problems of this host">
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {status.onLink.length > 0 && (
        <DataTable
          caption="Who answers for a VIP on the clients' links"
          columns={['VIP', 'Interface', 'Answers', 'Other owner', 'Problem']}
          rows={status.onLink.map((one) => ({
            key: `${one.address} ${one.interface}`,
            cells: [one.address, one.interface, one.phase, one.owner ?? '', one.problem],
          }))}
          empty=""
        />
      )}
    </section>
  );
}
