import type { DashboardSnapshot } from '@bgp-lb/router/dashboard';
import type { JSX } from 'preact';
import type { TrafficSeries } from '../live/traffic-history.ts';
import { ageText } from '../parts/age-text.ts';
import { DataTable } from '../parts/data-table.tsx';
import { StateMark, type Tone } from '../parts/state-mark.tsx';
import { healthTone, memberTone, sessionTone } from './member-tone.ts';
import { TrafficPlot } from './traffic-plot.tsx';

type Vip = DashboardSnapshot['status']['vips'][number];
type Member = Vip['members'][number];
type Share = DashboardSnapshot['fib']['vips'][number]['members'][number];
type Evidence = NonNullable<Vip['clients']>['members'][number];

export interface VipPanelProps {
  readonly vip: Vip;
  /** What the data plane does for it; undefined where it knows nothing of it. */
  readonly forwarding: DashboardSnapshot['fib']['vips'][number] | undefined;
  readonly series: TrafficSeries;
}

/** A VIP: whether clients are served, by whom, and why not by the others. */
export function VipPanel({ vip, forwarding, series }: VipPanelProps): JSX.Element {
  const id = `vip-${vip.vip.replace(/[^0-9a-z]/gi, '-')}`;
  const out = vip.members.filter(({ state }) => state !== 'active');
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{vip.endpoint}</h2>
      <p class="headline" role="status">
        <StateMark tone={vipTone(vip)} text={vip.status} />
      </p>
      <p class="facts">{vipFacts(vip).join(' · ')}</p>
      {out.length > 0 && (
        <ul class="reasons" aria-label="Members that do not get their full share">
          {out.map((member) => (
            <li key={member.nextHop}>
              <b>{member.name}</b> is {member.state}:{' '}
              {member.reason === '' ? 'no reason given' : member.reason}
            </li>
          ))}
        </ul>
      )}
      <DataTable
        caption={`Members of ${vip.endpoint}`}
        columns={[
          'Member',
          'State',
          'For',
          'Session',
          'BFD',
          'Health',
          'Clients',
          'Share',
          'Packets',
          'Reason',
        ]}
        rows={vip.members.map((member) => ({
          key: member.nextHop,
          cells: memberCells(
            member,
            forwarding?.members.find(({ nextHop }) => nextHop === member.nextHop),
            vip.clients?.members.find((one) => one.nextHop === member.nextHop),
          ),
        }))}
        empty="No members yet."
      />
      {vip.members.length > 0 && <TrafficPlot series={series} label={vip.endpoint} />}
    </section>
  );
}

function vipTone(vip: Vip): Tone {
  if (!vip.ready || vip.members.length === 0) return 'bad';
  return vip.members.every(({ state }) => state === 'active') ? 'good' : 'warn';
}

function vipFacts(vip: Vip): string[] {
  const { panic, initialHold } = vip.rules;
  return [
    `${vip.ready ? 'serves' : 'does not serve'} since ${ageText(vip.readySinceMs)}`,
    vip.advertisements.length === 0
      ? 'no upstream is configured'
      : vip.advertised
        ? 'advertised'
        : 'not advertised',
    ...(vip.clients === null ? [] : [`clients: ${vip.clients.text}`]),
    ...(panic === null
      ? []
      : [`too few members are good: health has been overruled for ${ageText(panic.sinceMs)}`]),
    ...(initialHold === null ? [] : [`waits ${ageText(initialHold.endsInMs)} more for other members`]),
  ];
}

function memberCells(
  member: Member,
  share: Share | undefined,
  evidence: Evidence | undefined,
): (string | JSX.Element)[] {
  return [
    member.name === member.nextHop ? member.name : `${member.name} (${member.nextHop})`,
    <StateMark key="state" tone={memberTone(member.state)} text={member.state} />,
    ageText(member.sinceMs),
    <StateMark key="session" tone={sessionTone(member.session)} text={member.session} />,
    <StateMark key="bfd" tone={sessionTone(member.bfd)} text={member.bfd} />,
    <StateMark key="health" tone={healthTone(member.health)} text={member.health} />,
    evidence === undefined || evidence.sent === 0
      ? 'none seen'
      : `${evidence.established} of ${evidence.sent} established`,
    share === undefined ? '0 %' : shareText(share),
    share?.packets === undefined ? '' : share.packets.toLocaleString('en'),
    member.reason,
  ];
}

function shareText({ share, buckets }: Share): string {
  const percent = `${(share * 100).toFixed(1)} %`;
  return buckets === undefined ? percent : `${percent}, ${buckets} buckets`;
}
