import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import { credentialText } from '../api/source-tables.ts';
import type { MemberSourceStatus } from '../membership/source-status.ts';

/** The lists that members come from, and what the Kubernetes API is shown for it. Pure. */
export function checkSources(sources: readonly MemberSourceStatus[]): readonly Finding[] {
  return sources.flatMap((one) => [checkList(one), ...checkIgnored(one), ...checkCredential(one)]);
}

function checkList({ kind, name, members, detail, problem }: MemberSourceStatus): Finding {
  const place = `${kind} ${name}`;
  const check = 'member source';
  if (problem === '') return good(check, place, `${members} members: ${detail}`);
  const fix =
    kind === 'static'
      ? 'the name in DNS or /etc/hosts of this host'
      : 'the ConfigMap, the rights of the credentials, or the way to an API server: the text says which';
  // With members of before it goes on; without any it has no server.
  return (members === 0 ? fault : warning)(check, place, problem, fix);
}

function checkIgnored({ kind, name, ignored }: MemberSourceStatus): readonly Finding[] {
  if (ignored === '') return [];
  const fix = 'dataplane.kind: haproxy, or an API server on the port of the VIP there';
  return [warning('member source', `${kind} ${name}`, ignored, fix)];
}

function checkCredential(source: MemberSourceStatus): readonly Finding[] {
  const { credential } = source;
  if (credential === null) return [];
  const [check, place, text] = ['credential', `${source.kind} ${source.name}`, credentialText(source)];
  const fix = 'renew the token or certificate: the file is read again with the next request';
  if (credential.state === 'expired') return [fault(check, place, text, fix)];
  return [credential.state === 'ending' ? warning(check, place, text, fix) : good(check, place, text)];
}
