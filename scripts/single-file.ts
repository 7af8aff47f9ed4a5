/**
 * Makes the speaker one executable file: `node scripts/single-file.ts [OUTFILE]`, default dist/bgp-lb-speaker. It is the Node.js
 * that runs this script (the one that npm brought) with the bundled program and koffi's native part inside: Node's single
 * executable applications (SEA). The machine that it runs on needs a C library as old as Node's own needs, and nothing else.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'packages/speaker/src/single-file');
const outfile = resolve(process.argv[2] ?? join(root, 'dist/bgp-lb-speaker'));

/** Where postject puts the program, and the words by which Node knows that there is one (Node's documentation of SEA). */
const injection = ['NODE_SEA_BLOB', '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];

/** koffi's loader looks for files beside it; in here it is an asset. */
const koffiFromAsset: Plugin = {
  name: 'koffi-from-asset',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^koffi$/ }, () => ({ path: 'koffi', namespace: 'asset' }));
    onLoad({ filter: /.*/, namespace: 'asset' }, () => ({
      contents: "module.exports = require('./native-koffi.ts').nativeKoffi();",
      resolveDir: source,
    }));
  },
};

/** What few speakers need is an asset as well: no program that is read, compiled and cached with the rest. */
const kubernetesFromAsset: Plugin = {
  name: 'kubernetes-from-asset',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/kubeconfig-access\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'kubernetes', namespace: 'program' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'program' }, () => ({
      contents: "module.exports = require('./asset-program.ts').assetProgram('kubernetes.cjs');",
      resolveDir: source,
    }));
  },
};

async function bundle(entry: string, to: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: to,
    bundle: true,
    // A single executable's program is CommonJS.
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    define: { 'import.meta.url': '"file:///bgp-lb"', 'import.meta.dirname': '"/"' },
    plugins: [koffiFromAsset, kubernetesFromAsset],
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
  });
}

const work = mkdtempSync(join(tmpdir(), 'bgp-lb-single-file-'));
try {
  const file = (name: string): string => join(work, name);
  await bundle(join(source, 'main.ts'), file('main.cjs'));
  await bundle(join(root, 'packages/speaker/src/bfd/bfd-program.ts'), file('bfd.cjs'));
  await bundle(join(root, 'packages/kubernetes/src/kubeconfig-access.ts'), file('kubernetes.cjs'));
  const platform = `${process.platform}-${process.arch}`;
  const native = join(
    root,
    `node_modules/@koromix/koffi-${platform}/${platform.replace('-', '_')}/koffi.node`,
  );
  const config = {
    main: file('main.cjs'),
    output: file('program.blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // No options of the environment (NODE_OPTIONS is another program's), and none of ours: see docs/benchmarks.md.
    execArgvExtension: 'none',
    assets: { 'koffi.node': native, 'bfd.cjs': file('bfd.cjs'), 'kubernetes.cjs': file('kubernetes.cjs') },
  };
  writeFileSync(file('sea.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', file('sea.json')], { stdio: 'inherit' });
  const whole = file('bgp-lb-speaker');
  copyFileSync(process.execPath, whole);
  chmodSync(whole, 0o755);
  const postject = join(root, 'node_modules/.bin/postject');
  execFileSync(postject, [whole, injection[0] ?? '', file('program.blob'), ...injection.slice(1)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mkdirSync(dirname(outfile), { recursive: true });
  // postject writes all of it at once: as a program, such a file took 25 MB more than a copy of it (docs/benchmarks.md).
  const next = `${outfile}.new`;
  copyFileSync(whole, next);
  renameSync(next, outfile);
} finally {
  rmSync(work, { recursive: true, force: true });
}
