import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import { judgePath, type MemberPath } from '../paths/member-path.ts';

const HAPROXY =
  'dataplane.kind: haproxy here (or auto), and vipBind: false on the speakers; see docs/overlay.md';

/** Whether packets for a VIP get to each member, and its answers back. Pure. */
export function checkPaths(paths: readonly MemberPath[]): readonly Finding[] {
  return paths.map(checkPath);
}

function checkPath(path: MemberPath): Finding {
  const check = 'path';
  const place = `${path.vip} by ${path.name === path.nextHop ? '' : `${path.name} `}${path.nextHop}`;
  const { verdict, text } = judgePath(path);
  switch (verdict) {
    case 'passes':
      return good(check, place, text);
    case 'untested':
      return warning(
        check,
        place,
        text,
        'start its API server, or see to the way to its host: what there is of it shows then',
      );
    case 'shared':
      return fault(check, place, text, HAPROXY);
    case 'dropped':
      return fault(check, place, text, droppedFix(path));
    case 'elsewhere':
      return fault(check, place, text, `find who else answers for the VIP there; over an overlay ${HAPROXY}`);
  }
}

function droppedFix({ link }: MemberPath): string {
  const cause =
    link?.isPointToPoint === true
      ? `${link.name} takes from a peer, and sends to it, only the addresses that are configured for it`
      : 'the VIP is not on that host, or something on the way drops packets to it, or its answers: a firewall, or an overlay or a cloud that takes from a host only its own address';
  return `${cause}. Where that cannot be changed: ${HAPROXY}`;
}
