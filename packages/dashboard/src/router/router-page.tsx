import type { DashboardSnapshot } from '@bgp-lb/router/dashboard';
import { type JSX, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LiveSnapshots } from '../live/live-snapshots.ts';
import { TrafficHistory } from '../live/traffic-history.ts';
import { ageText } from '../parts/age-text.ts';
import { CommandList } from '../parts/command-list.tsx';
import { EventList } from '../parts/event-list.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { DataPlanePanel } from './data-plane-panel.tsx';
import { MasterPanel, UpstreamPanel } from './upstream-panel.tsx';
import { VipPanel } from './vip-panel.tsx';

/** Moments that the plots reach back: a quarter of an hour at one a second. */
const MOMENTS = 900;

const COMMANDS = [
  { command: 'bgp-lb-router explain', what: 'why each member is in or out, one gate after the other' },
  { command: 'bgp-lb-router fib --diff', what: 'what there is against what is wanted' },
  { command: 'bgp-lb-router events --follow', what: 'what happens, as it happens' },
  { command: 'bgp-lb-router doctor', what: 'looks for what is wrong on this host' },
] as const;

const histories = new Map<string, TrafficHistory>();

/** Keeps the shares of each VIP of a snapshot. */
function remember({ time, fib }: DashboardSnapshot): void {
  for (const { vip, members } of fib.vips) {
    const history = histories.get(vip) ?? new TrafficHistory(MOMENTS);
    histories.set(vip, history);
    history.add(Date.parse(time) / 1000, members);
  }
  for (const vip of histories.keys()) {
    if (!fib.vips.some((one) => one.vip === vip)) histories.delete(vip);
  }
}

function RouterPage(): JSX.Element {
  const [snapshot, setSnapshot] = useState<DashboardSnapshot>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const live = new LiveSnapshots<DashboardSnapshot>({
      open: () => new EventSource('api/v1/dashboard'),
      onSnapshot: (next) => {
        remember(next);
        setSnapshot(next);
        setLost(false);
        document.title = titleOf(next);
      },
      onLost: () => setLost(true),
    });
    live.start();
    return () => live.stop();
  }, []);
  return (
    <>
      <PageHeader
        program="bgp-lb-router"
        hostName={snapshot?.hostName ?? ''}
        facts={snapshot === undefined ? [] : factsOf(snapshot)}
        isLost={isLost}
        time={snapshot?.time ?? ''}
        meanwhile="What was forwarded goes on."
      />
      <main>
        {snapshot === undefined ? (
          <p class="quiet">{isLost ? 'The daemon does not answer yet.' : 'Asking the daemon.'}</p>
        ) : (
          <Snapshot snapshot={snapshot} />
        )}
      </main>
    </>
  );
}

function Snapshot({ snapshot }: { readonly snapshot: DashboardSnapshot }): JSX.Element {
  const { status, fib, events } = snapshot;
  return (
    <>
      {status.drain.phase !== 'none' && (
        <p class="notice" role="status">
          This load balancer is drained: {status.drain.phase}.
        </p>
      )}
      {status.vips.map((vip) => (
        <VipPanel
          key={vip.vip}
          vip={vip}
          forwarding={fib.vips.find((one) => one.vip === vip.vip)}
          series={histories.get(vip.vip)?.series() ?? { times: [], members: [] }}
        />
      ))}
      <UpstreamPanel snapshot={snapshot} />
      <DataPlanePanel snapshot={snapshot} />
      <MasterPanel snapshot={snapshot} />
      <section class="panel" aria-labelledby="events">
        <h2 id="events">Events</h2>
        <EventList events={events} />
      </section>
      <section class="panel" aria-labelledby="commands">
        <h2 id="commands">Commands to copy</h2>
        <p class="quiet">This page changes nothing. On the load balancer, as root:</p>
        <CommandList commands={COMMANDS} />
      </section>
    </>
  );
}

function factsOf({ status }: DashboardSnapshot): string[] {
  return [
    `AS ${status.asn}`,
    `router ID ${status.routerId}`,
    `version ${status.version}`,
    `up ${ageText(status.uptimeMs)}`,
  ];
}

/** The state of the first VIP first: a tab shows little more. */
function titleOf({ status, hostName }: DashboardSnapshot): string {
  const [first] = status.vips;
  return `${first?.status ?? 'no VIP'} - bgp-lb-router ${hostName}`;
}

const root = document.querySelector('#page');
if (root !== null) render(<RouterPage />, root);
