import type { SystemdMachine } from './systemd-machine.ts';

/** Starts what a health check takes for an API server, on this address of the machine, as `api.service`. */
export async function startApiServer(machine: SystemdMachine, address: string): Promise<void> {
  const [key, certificate] = ['/run/api.pem', '/run/api.crt'];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=kubernetes'];
  await machine.run('openssl', ...request, '-keyout', key, '-out', certificate);
  const server = ['openssl', 's_server', '-www', '-accept', `${address}:6443`];
  await machine.run('systemd-run', '--quiet', '--unit=api', ...server, '-key', key, '-cert', certificate);
}

/** Opens a connection to the API server's port of that address that stays, as `watch.service`. */
export async function startWatch(machine: SystemdMachine, address: string): Promise<void> {
  const watch = `sleep 900 | openssl s_client -quiet -connect ${address}:6443`;
  await machine.run('systemd-run', '--quiet', '--unit=watch', 'sh', '-c', watch);
}

/** Where the connections to that address come from: address and port. */
export async function connectionsTo(machine: SystemdMachine, address: string): Promise<string[]> {
  const all = await machine.run('ss', '-Htn', 'state', 'established', 'dst', address);
  return all
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.trim().split(/\s+/)[2] ?? '');
}
