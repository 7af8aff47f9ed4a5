import { formatDuration, type Table } from '@bgp-lb/daemon';
import type { MemberSourceStatus } from '../membership/source-status.ts';
import type { RouterStatus } from './router-status.ts';

/** Where members come from, for people; nothing where BGP alone says it. */
export function sourceTables({ memberSources, vips }: RouterStatus): Table[] {
  if (memberSources.length === 0) return [];
  return [
    {
      columns: ['MEMBERS FROM', 'LIST', 'MEMBERS', 'WHAT IT IS', 'HEARD', 'CREDENTIAL', 'PROBLEM'],
      rows: memberSources.map((one) => [
        one.kind,
        one.name,
        one.members,
        one.detail,
        one.heardMs === null ? '' : `${seconds(one.heardMs)} ago`,
        credentialText(one),
        [one.problem, one.ignored].filter((text) => text !== '').join('; '),
      ]),
    },
    {
      columns: ['VIP', 'MEMBER', 'SOURCE', 'SAYS'],
      rows: vips.flatMap(({ vip, members }) =>
        members.flatMap(({ name, sources }) =>
          sources.map(({ kind, name: list, says }) => [
            vip,
            name,
            list === '' ? kind : `${kind} ${list}`,
            says,
          ]),
        ),
      ),
      empty: 'no source has a member',
    },
  ];
}

/** `token, ends 2026-11-29T10:00:00Z`, and how that is; empty where none is needed. */
export function credentialText({ credential }: MemberSourceStatus): string {
  if (credential === null) return '';
  const { kind, state, expiresAt } = credential;
  if (expiresAt === null) return kind;
  const time = new Date(expiresAt * 1_000).toISOString().replace('.000Z', 'Z');
  const texts = { good: 'ends', ending: 'not renewed, ends', expired: 'has ended' } as const;
  return `${kind}, ${texts[state]} ${time}`;
}

function seconds(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms / 1_000)) * 1_000);
}
