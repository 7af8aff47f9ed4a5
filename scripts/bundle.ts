/**
 * Makes one file of each daemon: `node scripts/bundle.ts [router] [speaker] [controller]`, all without an argument. A daemon with a program
 * for its BFD thread has a second, small file for that, which it does without when it is not there. The reader of kubeconfigs is a
 * file of its own for all, since few daemons need it.
 * koffi stays outside, since its native part is a file of its own. Licences of what is bundled go beside it.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundlePage } from './bundle-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const daemons = ['router', 'speaker', 'controller'] as const;
type DaemonName = (typeof daemons)[number];

// CommonJS dependencies call `require`, which an ES module does not have.
const requireBanner =
  "import { createRequire as createBundleRequire } from 'node:module';\n" +
  'const require = createBundleRequire(import.meta.url);';

const KUBERNETES = 'bgp-lb-kubernetes.mjs';

/** Leaves what the Kubernetes client is imported by in its own file, which the dynamic import reads when it comes to that. */
const kubernetesApart: Plugin = {
  name: 'kubernetes-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/kubeconfig-access\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${KUBERNETES}`, external: true } : undefined,
    );
  },
};

function isDaemonName(name: string): name is DaemonName {
  return daemons.some((daemon) => daemon === name);
}

async function bundle(name: DaemonName): Promise<void> {
  const entry = `packages/${name}/src/main.ts`;
  if (!existsSync(`${root}/${entry}`)) throw new Error(`cannot bundle ${name}: ${entry} does not exist`);
  await bundleFile(entry, `dist/bgp-lb-${name}.mjs`);
  const thread = `packages/${name}/src/bfd/bfd-program.ts`;
  if (existsSync(`${root}/${thread}`)) await bundleFile(thread, `dist/bgp-lb-${name}-bfd.mjs`);
  if (name === 'router') await bundlePage(root, name);
}

async function bundleFile(entry: string, outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: ['koffi'],
    plugins: [kubernetesApart],
    banner: { js: requireBanner },
    legalComments: 'linked',
    // One comment with a letter outside ASCII makes V8 keep the whole source with two octets per character.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    logLevel: 'warning',
  });
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !isDaemonName(name));
if (unknown.length > 0) {
  console.error(`no such daemon: ${unknown.join(', ')}; there are ${daemons.join(' and ')}`);
  process.exit(2);
}
try {
  for (const name of names.length === 0 ? daemons : names.filter(isDaemonName)) await bundle(name);
  await bundleFile('packages/kubernetes/src/kubeconfig-access.ts', `dist/${KUBERNETES}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
