/** ExaBGP: how it is run. It keeps no table, so there is nothing to ask it. */
import { PrivateView } from './private-view.ts';

/** A view with this configuration. */
export function exabgpView(folder: string, config: string): PrivateView {
  const view = new PrivateView(folder, { users: [{ name: 'exabgp' }], folders: [['/run/exabgp', 'exabgp']] });
  view.write('/etc/exabgp/exabgp.conf', config);
  return view;
}

/** The argument list of ExaBGP, which listens on port 179 of an address and logs to standard output. */
export function exabgpDaemon(view: PrivateView, listen: string): string[] {
  const settings = [
    `exabgp.tcp.bind=${listen}`,
    'exabgp.tcp.port=179',
    'exabgp.daemon.user=root',
    'exabgp.api.cli=false',
    'exabgp.log.destination=stdout',
  ];
  return view.inside(['env', ...settings, 'exabgp', '/etc/exabgp/exabgp.conf']);
}
