import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { controllerCommandLine } from '../cli.ts';

type Json = Record<string, unknown> & { kind: string; metadata: { name: string; namespace?: string } };

async function printed(...argv: string[]): Promise<Json[]> {
  let out = '';
  const code = await controllerCommandLine(argv, { stdout: { write: (text) => (out += String(text)) } });
  expect(code).toBe(0);
  return parseAllDocuments(out).map((one) => one.toJS() as Json);
}

describe('manifests', () => {
  it('have everything that runs it, the CRDs too', async () => {
    const objects = await printed('manifests');
    expect(objects.map(({ kind }) => kind).filter((kind, index, all) => all.indexOf(kind) === index)).toEqual(
      [
        ...[
          'Namespace',
          'CustomResourceDefinition',
          'ServiceAccount',
          'ClusterRole',
          'ClusterRoleBinding',
          'Role',
        ],
        ...['RoleBinding', 'Deployment'],
      ],
    );
    expect(await printed('crds')).toEqual(objects.filter(({ kind }) => kind === 'CustomResourceDefinition'));
  });

  it('ask for no right that is not needed: nothing of secrets, no wildcard, no deletion', async () => {
    const roles = (await printed('manifests')).filter(
      ({ kind }) => kind === 'ClusterRole' || kind === 'Role',
    );
    const text = JSON.stringify(roles);
    for (const word of ['secrets', '*', 'delete', 'escalate', 'impersonate', 'bind'])
      expect(text).not.toContain(`"${word}"`);
  });

  it('with a namespace give rights in that one alone, Nodes and providers apart', async () => {
    const objects = await printed('manifests', '--namespace', 'fleet');
    const cluster = objects.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
    expect(cluster).toEqual(['bgp-lb-controller-nodes', 'bgp-lb-controller-providers']);
    expect(JSON.stringify(objects.at(-1))).toContain('"--namespace=fleet"');
  });

  it('run it with what the configuration takes', async () => {
    const [deployment] = (await printed('manifests', '--watch-filter', 'x')).slice(-1);
    const { args, env } = (
      deployment as unknown as {
        spec: { template: { spec: { containers: [{ args: string[]; env: { name: string }[] }] } } };
      }
    ).spec.template.spec.containers[0];
    let out = '';
    const flags = args.slice(1);
    const code = await controllerCommandLine(['check-config', ...flags], {
      stdout: { write: (text) => (out += String(text)) },
    });
    expect([code, out]).toEqual([0, '/etc/bgp-lb/controller.yaml is good\n']);
    expect(env.map(({ name }) => name)).toEqual(['BGP_LB_LEASE_IDENTITY']);
  });
});

describe('the page of the controller', () => {
  it('explains every reason that a condition or an event may have', () => {
    const core = new URL('../core/', import.meta.url);
    const page = readFileSync(new URL('../../../../docs/controller.md', import.meta.url), 'utf8');
    const sources = readdirSync(core).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
    const reasons = sources.flatMap((file) => {
      const text = readFileSync(new URL(file, core), 'utf8');
      const said = /(?:reason: |reason === |waits\(|not\(|normal\(|\? |: )'([A-Z][a-z]+[A-Za-z]*)'/g;
      return [...text.matchAll(said)].map(([, reason = '']) => reason);
    });
    const notReasons = new Set([
      'True',
      'False',
      'Unknown',
      'Machine',
      'Node',
      'Normal',
      'Warning',
      'MachineLoadBalancer',
      'ConfigMap',
      'Any',
      'Prefer',
      'Only',
      'Static',
      'Pool',
    ]);
    const wanted = [...new Set(reasons)].filter((reason) => !notReasons.has(reason));
    expect(wanted.length).toBeGreaterThan(25);
    expect(wanted.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
  });
});
