/** OpenBGPD: how it is run and asked. */
import { PrivateView } from './private-view.ts';

/** OpenBGPD's daemon. */
export const openbgpdProgram = '/usr/sbin/bgpd';

/** The home of its user, which it changes its root to. Its package leaves it to its unit to make this folder. */
const home = '/run/openbgpd';

/** A view as OpenBGPD's package and unit make the machine, with this configuration. */
export function openbgpdView(folder: string, config: string): PrivateView {
  const view = new PrivateView(folder, { users: [{ name: '_openbgpd', home }], folders: [[home, 'root']] });
  view.write('/etc/bgpd.conf', config, { mode: 0o600 });
  return view;
}

/** The argument list of OpenBGPD, which stays in the foreground. */
export function openbgpdDaemon(view: PrivateView): string[] {
  return view.inside([openbgpdProgram, '-d', '-f', '/etc/bgpd.conf']);
}

/** The argument list that gives OpenBGPD a command. */
export function bgpctl(view: PrivateView, ...command: readonly string[]): string[] {
  return view.inside(['bgpctl', ...command]);
}
