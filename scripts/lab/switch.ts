/** The lab's Ethernet switch: a namespace with one bridge per subnet, and a veth pair per cable. */
import { type SubnetName, subnetNames } from './addresses.ts';
import { createNamespace, inNamespace, ipBatch } from './network-namespace.ts';
import { runCommand, tryCommand } from './run-command.ts';

/** A cable from a port of the switch to a device of a host. */
export interface Cable {
  /** The interface name on the switch, at most 15 characters. */
  readonly port: string;
  readonly bridge: SubnetName;
  readonly namespace: string;
  readonly device: string;
  /** Makes the device's MAC address, with the subnet: a machine keeps its address when it is switched on again. */
  readonly hostNumber: number;
}

function macAddress({ bridge, hostNumber }: Cable): string {
  const octet = (n: number): string => n.toString(16).padStart(2, '0');
  // 02: locally administered, unicast.
  return `02:62:67:70:${octet(subnetNames.indexOf(bridge))}:${octet(hostNumber)}`;
}

/** The switch. Cables are made inside its namespace, so no interface of the machine itself is ever involved. */
export class Switch {
  readonly namespace: string;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** Makes the namespace and the bridges. */
  async powerOn(): Promise<void> {
    await createNamespace(this.namespace);
    // A switch has no addresses of its own and says nothing by itself. The file is absent where IPv6 is.
    const quiet = 'test ! -e "$1" || echo 1 > "$1"';
    const file = '/proc/sys/net/ipv6/conf/default/disable_ipv6';
    await runCommand(inNamespace(this.namespace, ['sh', '-c', quiet, 'switch', file]));
    await ipBatch(this.namespace, [
      'link set lo up',
      ...subnetNames.flatMap((name) => [
        `link add ${name} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
        `link set ${name} up`,
      ]),
    ]);
  }

  /** Connects devices, which come into being in their hosts' namespaces. */
  async plug(cables: readonly Cable[]): Promise<void> {
    await ipBatch(
      this.namespace,
      cables.flatMap((cable) => [
        `link add ${cable.port} type veth peer name ${cable.device} address ${macAddress(cable)} netns ${cable.namespace}`,
        `link set ${cable.port} master ${cable.bridge} up`,
      ]),
    );
  }

  /** Switches ports off or on. */
  async setPorts(ports: readonly string[], state: 'up' | 'down'): Promise<void> {
    await ipBatch(
      this.namespace,
      ports.map((port) => `link set ${port} ${state}`),
    );
  }

  /** Removes cables with both their ends; one that is gone already is no error. */
  async unplug(ports: readonly string[]): Promise<void> {
    for (const port of ports) await tryCommand(['ip', '-n', this.namespace, 'link', 'delete', port]);
  }
}
