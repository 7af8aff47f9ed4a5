import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import type { SpeakerStatus } from '../status.ts';

/** Manifests of others that own a VIP of the control plane, by the name that their projects give them. */
const rivals = ['kube-vip.yaml', 'keepalived.yaml', 'haproxy.yaml'] as const;

/** Whether one speaker runs, and nothing else that does its work. @param manifestFolder the kubelet's */
export async function checkSpeaker(
  { api }: SpeakerConfig,
  status: SpeakerStatus | undefined,
  manifestFolder = '/etc/kubernetes/manifests',
): Promise<readonly Finding[]> {
  const findings: Finding[] = rivals
    .map((name) => `${manifestFolder}/${name}`)
    .filter((path) => existsSync(path))
    .map((path) =>
      warning(
        'another speaker',
        path,
        'may own the same VIP',
        'see docs/migration.md; remove it when it does',
      ),
    );
  if (status !== undefined) return [good('speaker', api.socket, 'runs'), ...findings];
  const place = `${api.listen.host} port ${api.listen.port}`;
  const isTaken = await isListening(api.listen);
  return [
    isTaken
      ? fault(
          'another speaker',
          place,
          `something listens there, and no speaker answers at ${api.socket}`,
          'find it (ss -ltnp): a speaker with another configuration, or a port to be changed by api.listen',
        )
      : warning(
          'speaker',
          api.socket,
          'does not run',
          'before kubeadm that is as it should be; after it, see the pod',
        ),
    ...findings,
  ];
}

function isListening({ host, port }: SpeakerConfig['api']['listen']): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const done = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
