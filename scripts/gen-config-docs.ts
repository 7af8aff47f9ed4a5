/**
 * Makes docs/configuration.md, docs/{router,speaker,pool}.schema.json and docs/custom-resources.md from the daemons' schemas. With `--check` it writes nothing
 * and fails when one of them is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { controllerSchema } from '@bgp-lb/controller/config';
import { fieldsMarkdown } from '@bgp-lb/controller/fields';
import { configMarkdown, jsonSchema, RESERVED_VARIABLES } from '@bgp-lb/daemon';
import { routerSchema } from '@bgp-lb/router/config';
import { poolSchema } from '@bgp-lb/router/pool';
import { speakerSchema } from '@bgp-lb/speaker/config';

const HEADING = {
  apiVersion: 'bgp-lb.dev/v1alpha1',
  router: { kind: 'Router', file: '/etc/bgp-lb/router.yaml' },
  speaker: { kind: 'Speaker', file: '/etc/bgp-lb/speaker.yaml' },
  controller: { kind: 'Controller', file: '/etc/bgp-lb/controller.yaml' },
} as const;

const INTRODUCTION = `# Configuration

<!-- Made by scripts/gen-config-docs.ts from the schemas: change those. -->

Each daemon reads one YAML 1.2 file. \`check-config\` reads it as \`run\` does and changes nothing; with \`--offline\` it leaves out what is on this host: password files, folders, own addresses. Every fault is shown with file, line
and column, the refused value and what is allowed; unknown keys are faults. A running daemon takes most changes by
\`reload\` or SIGHUP; it says which ones only a start takes, which breaks no connection either.

## Where values come from

A flag beats an environment variable, which beats the file, which beats the default.

| Place | Spelling of \`apiServer.serverName\` | Element of a list |
|---|---|---|
| file | \`apiServer: { serverName: kubernetes }\` | YAML list |
| flag | \`--apiServer.serverName kubernetes\` | \`--routers.0.address 10.0.0.10\` |
| variable | \`BGP_LB_API_SERVER_SERVER_NAME=kubernetes\` | \`BGP_LB_ROUTERS_0_ADDRESS=10.0.0.10\` |

A list grows by one element at a time at its end. A flag or variable may also give a whole list or mapping as YAML:
\`BGP_LB_LISTEN_ADDRESSES='[0.0.0.0]'\`. A variable that begins with \`BGP_LB_\` and names no key is a fault, except
${RESERVED_VARIABLES.map((name) => `\`${name}\``).join(' (the path of the file) and ')} (the control socket, for the other commands) and what the kubelet adds for
a Service whose name begins with \`bgp-lb\` (\`BGP_LB_SERVICE_HOST\`, \`BGP_LB_PORT_6443_TCP\` and the like).

Durations are a number with a unit (\`300ms\`, \`9s\`, \`2m\`, \`1h\`). Passwords stand in files of their own, never in the configuration.
Editors check a file as it is written when they are given \`router.schema.json\` or \`speaker.schema.json\` beside this page, for instance by
the line \`# yaml-language-server: $schema=router.schema.json\`. The list in a ConfigMap has \`pool.schema.json\` ([members.md](members.md#a-configmap)).
`;

function chapter(kind: string, file: string): string {
  return `\nThe file (${file} by default) begins with \`apiVersion: ${HEADING.apiVersion}\` and \`kind: ${kind}\`.\n`;
}

function markdown(): string {
  const router = configMarkdown({ title: 'Router', schema: routerSchema });
  const speaker = configMarkdown({ title: 'Speaker', schema: speakerSchema });
  const controller = configMarkdown({ title: 'Controller', schema: controllerSchema });
  const parts = [
    INTRODUCTION,
    router.replace('\n', `\n${chapter(HEADING.router.kind, HEADING.router.file)}`),
    speaker.replace('\n', `\n${chapter(HEADING.speaker.kind, HEADING.speaker.file)}`),
    controller.replace(
      '\n',
      `\n${chapter(HEADING.controller.kind, HEADING.controller.file)}It need not be there: every key has a default.\n`,
    ),
  ];
  return parts.join('\n');
}

const SCHEMAS = {
  router: { schema: routerSchema, kind: HEADING.router.kind, what: 'configuration' },
  speaker: { schema: speakerSchema, kind: HEADING.speaker.kind, what: 'configuration' },
  pool: { schema: poolSchema, kind: 'Pool', what: 'list' },
} as const;

function schemaText(name: keyof typeof SCHEMAS): string {
  const { schema, kind, what } = SCHEMAS[name];
  const made = jsonSchema(schema, {
    id: `https://bgp-lb.dev/schema/v1alpha1/${name}.schema.json`,
    title: `bgp-lb ${kind} ${what}`,
    apiVersion: HEADING.apiVersion,
    kind,
  });
  return formatted(`${name}.schema.json`, JSON.stringify(made, null, 2));
}

/** As the formatter wants it, so that the page passes lint as it is written. */
function formatted(name: string, text: string): string {
  const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));
  const args = ['format', '--colors=off', `--stdin-file-path=docs/${name}`];
  return execFileSync(biome, args, { input: text, encoding: 'utf8' });
}

const files: ReadonlyMap<string, string> = new Map([
  ['configuration.md', markdown()],
  ['router.schema.json', schemaText('router')],
  ['speaker.schema.json', schemaText('speaker')],
  ['pool.schema.json', schemaText('pool')],
  ['custom-resources.md', fieldsMarkdown()],
]);

async function isStale(path: string, text: string): Promise<boolean> {
  const present = await readFile(path, 'utf8').catch(() => undefined);
  return present !== text;
}

const isCheck = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, text] of files) {
  const path = fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
  if (!(await isStale(path, text))) continue;
  stale.push(`docs/${name}`);
  if (!isCheck) await writeFile(path, text);
}
if (stale.length === 0) console.log('docs: the configuration pages are up to date');
else console.log(`docs: ${isCheck ? 'stale' : 'written'}: ${stale.join(', ')}`);
if (isCheck && stale.length > 0) {
  console.error('run: node scripts/gen-config-docs.ts');
  process.exitCode = 1;
}
