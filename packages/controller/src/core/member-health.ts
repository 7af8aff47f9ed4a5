import { isIP } from 'node:net';
import type { LiveReport, ProviderView } from './provider-view.ts';
import type { SelectedMember } from './select-members.ts';

/** What is known of the health of one member. */
export interface MemberHealth {
  /** `undefined`: not known. */
  readonly healthy: boolean | undefined;
  readonly reason: string;
  /** No live LB host gives it new connections, and none of them has any left. */
  readonly isIdle: boolean;
  /** No LB host has it in its pool. */
  readonly isUnseen: boolean;
}

const unknown = { healthy: undefined, isIdle: false, isUnseen: true } as const;

/** Health of a member: what most of the live LB hosts say, or what the provider's status says. */
export function memberHealth({ name, address }: SelectedMember, view: ProviderView): MemberHealth {
  if (address === undefined)
    return { healthy: false, reason: 'it has no address that can be used', isIdle: true, isUnseen: false };
  const { reports } = view;
  if (reports === undefined) {
    const said = view.members.get(name);
    return said === undefined
      ? { ...unknown, reason: 'no report on it' }
      : { ...said, isIdle: false, isUnseen: false };
  }
  if (reports.length === 0) return { ...unknown, reason: 'no LB host reports' };
  const said = reports.map((report) => ({ instance: report.instance, ...saidBy(report, address) }));
  const good = said.filter(({ healthy }) => healthy).length;
  const bad = said.filter(({ healthy }) => !healthy).map(({ instance, reason }) => `${instance}: ${reason}`);
  const share = `${good} of ${said.length} LB hosts`;
  return {
    healthy: good * 2 > said.length,
    reason: bad.length === 0 ? 'healthy' : `healthy at ${share}; ${bad.join('; ')}`,
    isIdle: said.every(({ isIdle }) => isIdle),
    isUnseen: said.every(({ isUnseen }) => isUnseen),
  };
}

function saidBy(report: LiveReport, address: string): MemberHealth & { readonly healthy: boolean } {
  const known = report.members.find((one) => isSameAddress(one.address, address));
  if (known === undefined) return { healthy: false, reason: 'not in its pool', isIdle: true, isUnseen: true };
  const { healthy, draining, connections } = known;
  const reason = known.reason || (healthy ? 'healthy' : 'not healthy');
  return { healthy, reason, isIdle: draining === true && connections === 0, isUnseen: false };
}

/** Members that LB hosts have, and the spec does not: a speaker's session without a Machine. */
export function strangers(
  members: readonly SelectedMember[],
  reports: readonly LiveReport[],
): readonly string[] {
  const known = members.flatMap(({ address }) => address ?? []);
  const others = reports
    .flatMap((report) => report.members)
    .filter((one) => !known.some((address) => isSameAddress(address, one.address)))
    .map(({ name, address }) => (name === address ? name : `${name} (${address})`));
  return [...new Set(others)].toSorted();
}

function isSameAddress(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

/** IPv6 has several spellings, of which a URL keeps the one of RFC 5952. */
function canonical(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname : address;
}
