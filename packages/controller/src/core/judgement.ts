import type { Finding } from './conditions.ts';
import { strangers } from './member-health.ts';
import type { MemberStates } from './member-states.ts';
import { POOL_LABEL } from './pool-object.ts';
import { type ProviderView, STALE_AFTER } from './provider-view.ts';
import { listAt, textAt, valueAt } from './read-json.ts';

interface Question {
  readonly states: MemberStates;
  readonly view: ProviderView;
  readonly previous: unknown;
  readonly now: number;
  readonly protocol: Finding;
  readonly hasAddress: boolean;
  /** The name of the pool's ConfigMap, where that is not ours. */
  readonly foreignPool: string | undefined;
}

/** How it is as a whole. */
interface Judgement {
  readonly isReady: boolean;
  readonly ready: Finding;
  readonly membersHealthy: Finding;
  /** `4 of 5 members healthy`. */
  readonly text: string;
  /** Milliseconds after which it may be another one although nothing is heard. */
  readonly changesIn: number | undefined;
}

export function judgement(question: Question): Judgement {
  const { states, view, protocol, hasAddress, foreignPool } = question;
  const used = states.members.filter(({ standby }) => standby === undefined);
  const healthy = used.filter(({ status }) => status.healthy === true);
  const membersHealthy = membersFinding(states, view);
  const isKnown = membersHealthy.status !== 'Unknown';
  const text = isKnown
    ? `${healthy.length} of ${used.length} members healthy`
    : unknownText(used.length, membersHealthy);
  const base = { membersHealthy, text };
  const not = (reason: string, message: string): Judgement => ({
    ...base,
    isReady: false,
    ready: { status: 'False', reason, message },
    changesIn: undefined,
  });
  if (protocol.status !== 'True') return not('ProtocolNotSupported', protocol.message);
  if (!hasAddress) return not('NoAddress', 'there is no address');
  if (foreignPool !== undefined) {
    const message = `ConfigMap ${foreignPool} was not made by this controller (it has no label ${POOL_LABEL}) and is left alone: LB hosts do not get these members`;
    return not('PoolNotOurs', message);
  }
  if (membersHealthy.reason === 'NoInstance') return { ...base, ...unheard(question, membersHealthy) };
  if (view.ready !== 'True') return not('ProviderNotReady', `${view.reason}: ${view.message}`);
  if (isKnown && healthy.length === 0) return not(membersHealthy.reason, membersHealthy.message);
  return {
    ...base,
    isReady: true,
    ready: { status: 'True', reason: 'Ready', message: text },
    changesIn: undefined,
  };
}

function unknownText(count: number, { reason }: Finding): string {
  return reason === 'NoInstance' ? `${count} members, no LB host reports` : `${count} members, not observed`;
}

function membersFinding({ members, tooMany }: MemberStates, view: ProviderView): Finding {
  const used = members.filter(({ standby }) => standby === undefined);
  const bad = used.filter(({ status }) => status.healthy !== true);
  const notes = [
    ...(tooMany.length === 0 ? [] : [`more than a pool takes: ${tooMany.join(', ')}`]),
    ...unexpected(members, view),
  ];
  // Before the members, whose texts may be long and are cut.
  const lead = notes.map((note) => `${note}; `).join('');
  if (view.reports?.length === 0)
    return { status: 'Unknown', reason: 'NoInstance', message: `${lead}${view.message}` };
  if (used.length === 0) {
    return { status: 'False', reason: 'NoMember', message: `${lead}nothing is selected that can be used` };
  }
  if (view.reports === undefined && !view.observes) {
    const message = `${lead}nothing reports on ${used.map(({ name }) => name).join(', ')}`;
    return { status: 'Unknown', reason: 'NotObserved', message };
  }
  if (bad.length === 0) {
    const message = `${lead}${used.map(({ name }) => name).join(', ')} healthy`;
    return { status: 'True', reason: notes.length === 0 ? 'AllHealthy' : 'AllHealthyWithNotes', message };
  }
  const message = `${lead}${bad.map(({ name, status }) => `${name}: ${status.reason}`).join('; ')}`;
  return {
    status: 'False',
    reason: bad.length === used.length ? 'NoHealthyMember' : 'SomeNotHealthy',
    message,
  };
}

function unexpected(members: MemberStates['members'], { reports = [] }: ProviderView): readonly string[] {
  const names = strangers(members, reports);
  return names.length === 0 ? [] : [`LB hosts have members that are not selected: ${names.join(', ')}`];
}

/** Without any LB host it stays as it was for one stale period: the hosts may serve on, and only their way to us be broken. */
function unheard(
  { previous, now }: Question,
  members: Finding,
): Pick<Judgement, 'isReady' | 'ready' | 'changesIn'> {
  const before = listAt(previous, 'conditions').find(
    (one) =>
      one['type'] === 'MembersHealthy' && one['status'] === 'Unknown' && one['reason'] === 'NoInstance',
  );
  const since = before === undefined ? now : Date.parse(textAt(before, 'lastTransitionTime') ?? '');
  const left = since + STALE_AFTER - now;
  const wasReady = valueAt(previous, 'ready') === true;
  if (wasReady && left > 0) {
    const ready = {
      status: 'True',
      reason: 'NoInstance',
      message: `${members.message}; as it was for now`,
    } as const;
    return { isReady: true, ready, changesIn: left };
  }
  return {
    isReady: false,
    ready: { status: 'Unknown', reason: 'NoInstance', message: members.message },
    changesIn: undefined,
  };
}
