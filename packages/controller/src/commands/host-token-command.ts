import { type Command, readRegularFile, UsageError } from '@bgp-lb/daemon';
import { stringify } from 'yaml';
import { textAt } from '../core/read-json.ts';
import { ApiCommand, apiOptions } from './api-command.ts';
import { hostObjects } from './host-objects.ts';

const KINDS = ['BGPLoadBalancer', 'HAProxyLoadBalancer'];
/** Octets of the CA's file. */
const MAX_CA_SIZE = 256 * 1024;
const NAME = /^[0-9a-z]([0-9a-z.-]{0,200}[0-9a-z])?$/;

export const hostTokenCommand: Command = {
  syntax: 'host-token <name>',
  describe: 'Give an LB host an object and rights of its own, and print a kubeconfig with its token',
  options: {
    ...apiOptions,
    provider: {
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: 'what it is part of: BGPLoadBalancer/NAME or HAProxyLoadBalancer/NAME',
    },
    'load-balancer': {
      type: 'array',
      string: true,
      demandOption: true,
      describe: 'MachineLoadBalancer whose members it reads; may be given several times',
    },
    server: {
      type: 'string',
      array: false,
      requiresArg: true,
      demandOption: true,
      describe: 'URL of the API server as the LB host reaches it: not by its own VIP',
    },
    'ca-file': {
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: "the cluster's CA certificate",
    },
    hours: { type: 'string', requiresArg: true, default: '720', describe: 'life of the token' },
  },
  positionals: { name: { describe: 'name of the LB host' } },
  async run(context) {
    const { args } = context;
    const name = named('name', args['name']);
    const [kind = '', provider] = String(args['provider']).split('/');
    if (!KINDS.includes(kind) || provider === undefined)
      throw new UsageError(
        `--provider ${String(args['provider'])} is no ${KINDS.map((one) => `${one}/NAME`).join(' or ')}`,
      );
    const given = args['load-balancer'];
    const loadBalancers = (Array.isArray(given) ? given : [given]).map((one) =>
      named('--load-balancer', one),
    );
    const hours = Number(args['hours']);
    if (!Number.isInteger(hours) || hours < 1 || hours > 8_760)
      throw new UsageError(`--hours ${String(args['hours'])} is no whole number of 1 to 8760`);
    const ca = readRegularFile(String(args['ca-file']), MAX_CA_SIZE).toString('base64');
    const api = new ApiCommand(context);
    try {
      const { namespace } = api;
      const objects = hostObjects({ namespace, name, provider: { kind, name: provider }, loadBalancers });
      for (const { path, object } of objects) await api.apply(path, object);
      const answer = await api.send({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/bgp-lb-host-${name}/token`,
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: hours * 3_600 },
        },
      });
      const token = textAt(answer, 'status', 'token');
      if (token === undefined) throw new Error('the API server gave no token');
      context.write(stringify(kubeconfig({ server: String(args['server']), ca, token, name, namespace })));
      context.say(
        `the token ends at ${textAt(answer, 'status', 'expirationTimestamp') ?? 'a time that is not known'}`,
      );
    } finally {
      api.close();
    }
  },
};

function named(what: string, value: unknown): string {
  const text = String(value);
  if (!NAME.test(text)) throw new UsageError(`${what} ${text} is no name of Kubernetes`);
  return text;
}

function kubeconfig(of: Readonly<Record<'server' | 'ca' | 'token' | 'name' | 'namespace', string>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bgp-lb', cluster: { server: of.server, 'certificate-authority-data': of.ca } }],
    users: [{ name: of.name, user: { token: of.token } }],
    contexts: [{ name: of.name, context: { cluster: 'bgp-lb', user: of.name, namespace: of.namespace } }],
    'current-context': of.name,
  };
}
