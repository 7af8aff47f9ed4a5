/** Alerts whose faults take days, or a broken machine, on series as the daemons would show them. test/e2e/alerts.test.ts causes the others. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { rulesFile } from '../kit/alert-watch.ts';

const folder = mkdtempSync(`${tmpdir()}/bgp-lb-rules-`);
afterAll(() => rmSync(folder, { recursive: true }));

const router = 'job="bgp-lb-router", instance="lb1"';

interface Case {
  readonly what: string;
  /** One value each minute, in promtool's notation. */
  readonly series: Readonly<Record<string, string>>;
  /** What fires after half an hour. */
  readonly alerts: readonly string[];
}
const cases: readonly Case[] = [
  {
    what: 'a router that is started again and again',
    series: { [`bgp_lb_process_start_time_seconds{${router}}`]: '100x24 200 300 300 300 300 300 300' },
    alerts: ['BgpLbRouterRestarts'],
  },
  {
    what: 'a router that was upgraded',
    series: { [`bgp_lb_process_start_time_seconds{${router}}`]: '100x24 200 200 200 200 200 200' },
    alerts: [],
  },
  {
    what: 'a member that is held back',
    series: { [`bgp_lb_router_member_held_back{${router}, vip="v", member="m1"}`]: '0x20 1x10' },
    alerts: ['BgpLbMemberFlaps'],
  },
  {
    what: 'BFD that is down towards an upstream, and off towards another',
    series: {
      [`bgp_lb_router_bfd_sessions{${router}, role="upstream", state="Down"}`]: '1x30',
      [`bgp_lb_router_bfd_sessions{${router}, role="upstream", state="AdminDown"}`]: '1x30',
      [`bgp_lb_router_bfd_sessions{${router}, role="master", state="Down"}`]: '1x30',
    },
    alerts: ['BgpLbBfdDown'],
  },
  {
    what: 'a kernel that refuses what is wanted',
    series: { [`bgp_lb_router_data_plane_as_wanted{${router}}`]: '1x20 0x10' },
    alerts: ['BgpLbDataPlaneRefuses'],
  },
  {
    what: 'a list that cannot be read',
    series: { [`bgp_lb_router_member_source_up{${router}, kind="configMap", list="a/b"}`]: '1x20 0x10' },
    alerts: ['BgpLbMemberListOld'],
  },
  {
    what: 'a token that ends within a week, and one that does not',
    series: {
      [`bgp_lb_router_member_source_credential_expiry_timestamp_seconds{${router}, list="a/b"}`]: `${6 * 86_400}x30`,
      [`bgp_lb_router_member_source_credential_expiry_timestamp_seconds{${router}, list="c/d"}`]: `${9 * 86_400}x30`,
    },
    alerts: ['BgpLbCredentialEnds'],
  },
];

it.each(cases)('$what: $alerts', async ({ series, alerts }) => {
  const tests = `${folder}/tests.yml`;
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const expected = alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
  const promql = { expr: 'count by (alertname) (ALERTS{alertstate="firing"})', eval_time: '30m' };
  // JSON is YAML.
  writeFileSync(
    tests,
    JSON.stringify({
      rule_files: [rulesFile],
      evaluation_interval: '1m',
      tests: [
        { interval: '1m', input_series: input, promql_expr_test: [{ ...promql, exp_samples: expected }] },
      ],
    }),
  );
  const { code, stdout, stderr } = await tryCommand(['promtool', 'test', 'rules', tests]);
  expect({ code, said: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ code: 0, said: '' });
});
