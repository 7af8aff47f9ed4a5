import { hostPrefix, ipVersion, isSameVersion } from '@bgp-lb/protocol';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { machineFiles } from './bootstrap-script.ts';

/** Runs the bootstrap script until it has succeeded. */
export const bootstrapUnit: string = `# Written by bgp-lb-speaker cloud-init.
[Unit]
Description=kubeadm, with the bgp-lb speaker
Wants=network-online.target
After=network-online.target containerd.service bgp-lb-vip-route.service
ConditionPathExists=!${machineFiles.done}

[Service]
Type=oneshot
ExecStart=/bin/sh ${machineFiles.script}
Restart=on-failure
# The script itself waits after a failure, longer each time.
RestartSec=1
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
`;

/** Routes to the VIPs by the load balancers, at each boot. */
export function routeUnit({ vips, routers }: SpeakerConfig): string {
  const routes = vips.flatMap(({ address }) =>
    routers.flatMap((router, index) => {
      if (!isSameVersion(router.address, address)) return [];
      const version = ipVersion(address) === 6 ? '-6 ' : '';
      const prefix = hostPrefix(address);
      return [
        `ExecStart=/bin/sh -c 'ip ${version}route replace ${prefix} via ${router.address} proto 84 metric ${8400 + index}'`,
      ];
    }),
  );
  return `# Written by bgp-lb-speaker cloud-init.
[Unit]
Description=Routes to the virtual addresses of the control plane
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
${routes.join('\n')}

[Install]
WantedBy=multi-user.target
`;
}
