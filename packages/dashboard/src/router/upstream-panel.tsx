import type { DashboardSnapshot } from '@bgp-lb/router/dashboard';
import type { JSX } from 'preact';
import { ageText } from '../parts/age-text.ts';
import { DataTable } from '../parts/data-table.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { sessionTone } from './member-tone.ts';

type Neighbor = DashboardSnapshot['neighbors'][number];

/** The neighbors that are no masters: upstream routers and other load balancers, and what each is told. */
export function UpstreamPanel({ snapshot }: { readonly snapshot: DashboardSnapshot }): JSX.Element {
  const { neighbors, status } = snapshot;
  const others = neighbors.filter(({ role }) => role !== 'master');
  return (
    <section class="panel" aria-labelledby="upstreams">
      <h2 id="upstreams">Upstream routers and other load balancers</h2>
      <DataTable
        caption="Neighbors that are no masters"
        columns={['Neighbor', 'Role', 'Session', 'For', 'BFD', 'VIPs that it has', 'Last error']}
        rows={others.map((neighbor) => ({
          key: neighbor.name,
          cells: [
            neighbor.name === neighbor.address ? neighbor.name : `${neighbor.name} (${neighbor.address})`,
            neighbor.role,
            <StateMark key="session" tone={sessionTone(neighbor.state)} text={neighbor.state} />,
            ageText(neighbor.sinceMs),
            <BfdMark key="bfd" neighbor={neighbor} />,
            vipsOf(neighbor, status),
            lastError(neighbor),
          ],
        }))}
        empty="None is configured."
      />
    </section>
  );
}

/** Masters and their sessions, those too that announce nothing. */
export function MasterPanel({ snapshot }: { readonly snapshot: DashboardSnapshot }): JSX.Element {
  const masters = snapshot.neighbors.filter(({ role }) => role === 'master');
  return (
    <section class="panel" aria-labelledby="masters">
      <h2 id="masters">Sessions with masters</h2>
      <DataTable
        caption="Neighbors that are masters"
        columns={['Neighbor', 'Session', 'For', 'BFD', 'Detection time', 'Prefixes', 'Last error']}
        rows={masters.map((neighbor) => ({
          key: neighbor.name,
          cells: [
            neighbor.name,
            <StateMark key="session" tone={sessionTone(neighbor.state)} text={neighbor.state} />,
            ageText(neighbor.sinceMs),
            <BfdMark key="bfd" neighbor={neighbor} />,
            neighbor.bfd === null || neighbor.bfd.detectionTime === null
              ? ''
              : `${neighbor.bfd.detectionTime} ms`,
            `${neighbor.prefixes.received}`,
            lastError(neighbor),
          ],
        }))}
        empty="None has ever had a session."
      />
    </section>
  );
}

function BfdMark({ neighbor: { bfd } }: { readonly neighbor: Neighbor }): JSX.Element {
  return bfd === null ? (
    <StateMark tone="idle" text="off" />
  ) : (
    <StateMark tone={sessionTone(bfd.state)} text={bfd.state} />
  );
}

function vipsOf({ name }: Neighbor, { vips }: DashboardSnapshot['status']): string {
  return vips
    .flatMap(({ vip, advertisements }) => {
      const own = advertisements.find(({ upstream }) => upstream === name);
      if (own === undefined) return [];
      return [own.advertised ? vip : `not ${vip}: ${own.reason}`];
    })
    .join('; ');
}

function lastError({ state, lastDown, lastFailure }: Neighbor): string {
  if (state === 'Established') return '';
  const newest = [lastDown, lastFailure].filter((one) => one !== null).sort((a, b) => a.agoMs - b.agoMs)[0];
  return newest === undefined ? '' : `${newest.text}, ${ageText(newest.agoMs)} ago`;
}
