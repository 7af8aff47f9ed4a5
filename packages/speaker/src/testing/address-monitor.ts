/** Tells which addresses appear on and vanish from this network namespace, as lines of JSON `{change}`. A renewal is no change. */
import { RouteMonitor, RouteSocket } from '@bgp-lb/linux';

const known = new Set(new RouteSocket().addresses().map(({ address }) => address));

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

new RouteMonitor(
  {
    changed: (_, change) => {
      if (change.kind !== 'address') return;
      const { address } = change.object;
      if (change.action === 'deleted') known.delete(address);
      else if (known.has(address)) return;
      else known.add(address);
      say({ change: `${change.action} ${address}` });
    },
    overflow: () => say({ change: 'overflow' }),
    error: (error) => say({ change: String(error) }),
  },
  ['address'],
);
say({ monitoring: true });
