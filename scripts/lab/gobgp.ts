/** GoBGP: how it is run and asked. */
import { PrivateView } from './private-view.ts';

/** GoBGP's daemon. */
export const gobgpProgram = '/usr/bin/gobgpd';

const configFile = '/etc/gobgpd.conf';

/** A view with this configuration; GoBGP needs nothing else of a machine. */
export function gobgpView(folder: string, config: string): PrivateView {
  const view = new PrivateView(folder, { folders: [] });
  view.write(configFile, config);
  return view;
}

/** The argument list of GoBGP, to use in its view. */
export function gobgpArguments(more: readonly string[] = []): string[] {
  return [gobgpProgram, '-f', configFile, '--api-hosts', '127.0.0.1:50051', ...more];
}

/** The argument list that gives GoBGP a command. */
export function gobgp(view: PrivateView, ...command: readonly string[]): string[] {
  return view.inside(['gobgp', ...command]);
}
