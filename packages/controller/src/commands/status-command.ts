import type { Cell, Command, Table } from '@bgp-lb/daemon';
import { API_VERSION, RESOURCES } from '../api/group.ts';
import { listAt, textAt, valueAt } from '../core/read-json.ts';
import { ApiCommand, apiOptions } from './api-command.ts';

type Json = Readonly<Record<string, unknown>>;

const conditionsOf = (object: unknown): readonly Json[] => listAt(object, 'status', 'conditions');

export const statusCommand: Command = {
  syntax: 'status',
  describe: 'Show the MachineLoadBalancers of a namespace',
  prints: true,
  options: apiOptions,
  async run(context) {
    const api = new ApiCommand(context);
    try {
      const path = `/apis/${API_VERSION}/namespaces/${api.namespace}/${RESOURCES.MachineLoadBalancer}`;
      const list = await api.send({ method: 'GET', path, query: { limit: '500' } });
      context.print(listAt(list, 'items'), statusTable);
    } finally {
      api.close();
    }
  },
};

function statusTable(items: readonly Json[]): Table {
  return {
    columns: ['name', 'endpoint', 'ready', 'status', 'provider', 'not as wanted'],
    rows: items.map((item) => [
      textAt(item, 'metadata', 'name') ?? '',
      textAt(item, 'status', 'endpoint') ?? '-',
      valueAt(item, 'status', 'ready') === true ? 'yes' : 'no',
      textAt(item, 'status', 'status') ?? 'no controller has looked at it yet',
      `${textAt(item, 'spec', 'providerRef', 'kind')}/${textAt(item, 'spec', 'providerRef', 'name')}`,
      troubles(item).join(', '),
    ]),
  };
}

/** Conditions that are not as they are when all is well. */
function troubles(item: Json): string[] {
  return conditionsOf(item)
    .filter(({ type, status, reason }) => {
      if (type === 'Paused') return status === 'True';
      return status !== 'True' && reason !== 'NotWanted';
    })
    .map(({ type, reason }) => `${String(type)}: ${String(reason)}`);
}

export const explainCommand: Command = {
  syntax: 'explain <name>',
  describe: 'Say why each member is in or out, by what the spec asks for and what each LB host sees',
  prints: true,
  options: apiOptions,
  positionals: { name: { describe: 'name of the MachineLoadBalancer' } },
  async run(context) {
    const api = new ApiCommand(context);
    try {
      const folder = `/apis/${API_VERSION}/namespaces/${api.namespace}`;
      const name = String(context.args['name']);
      const object = await api.send({
        method: 'GET',
        path: `${folder}/${RESOURCES.MachineLoadBalancer}/${name}`,
      });
      const list = await api.send({
        method: 'GET',
        path: `${folder}/${RESOURCES.LoadBalancerInstance}`,
        query: { limit: '500' },
      });
      context.print({ loadBalancer: object, instances: listAt(list, 'items') }, (answer) =>
        explainTables(name, answer.loadBalancer, answer.instances),
      );
    } finally {
      api.close();
    }
  },
};

function explainTables(name: string, object: unknown, instances: readonly Json[]): readonly Table[] {
  const ref = valueAt(object, 'spec', 'providerRef');
  const own = instances.filter((one) =>
    listAt(one, 'spec', 'providers').some(
      (provider) => provider['kind'] === valueAt(ref, 'kind') && provider['name'] === valueAt(ref, 'name'),
    ),
  );
  const reports = own.map((one) => ({
    host: textAt(one, 'metadata', 'name') ?? '',
    report: listAt(one, 'status', 'loadBalancers').find((report) => report['name'] === name),
  }));
  const members = listAt(object, 'status', 'members');
  const known = new Set(members.map((one) => one['address']));
  const strange = reports.flatMap(({ report }) =>
    listAt(report, 'members').filter((one) => !known.has(one['address'])),
  );
  const seenBy = (address: unknown): Cell[] =>
    reports.map(({ report }) => {
      const said = listAt(report, 'members').find((one) => one['address'] === address);
      if (report === undefined) return 'no report';
      if (said === undefined) return 'not in its pool';
      return said['healthy'] === true ? 'healthy' : (textAt(said, 'reason') ?? 'not healthy');
    });
  const hosts = reports.map(({ host }) => host);
  return [
    {
      columns: ['condition', 'is', 'reason', 'message'],
      rows: conditionsOf(object).map((one) =>
        ['type', 'status', 'reason', 'message'].map((key) => String(one[key] ?? '')),
      ),
    },
    {
      columns: ['member', 'address', 'zone', 'why', ...hosts],
      rows: [
        ...members.map((one) => [
          String(one['name']),
          textAt(one, 'address') ?? '-',
          textAt(one, 'zone') ?? '-',
          textAt(one, 'reason') ?? '',
          ...seenBy(one['address']),
        ]),
        ...[...new Map(strange.map((one) => [one['address'], one])).values()].map((one) => [
          String(one['name']),
          String(one['address']),
          '-',
          'an LB host has it, and the spec does not select it',
          ...seenBy(one['address']),
        ]),
      ],
    },
  ];
}
