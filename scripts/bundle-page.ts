/** Makes one file of a daemon's page and all that it loads: what `pageRoutes` of packages/daemon serves. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { PageFiles } from '@bgp-lb/daemon';
import { build } from 'esbuild';

const source = 'packages/dashboard/src';

/** @param root of the checkout; the file goes to `dist/bgp-lb-NAME-page.json` there */
export async function bundlePage(root: string, name: 'router' | 'speaker'): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`${source}/${name}/${name}-page.tsx`],
    bundle: true,
    write: false,
    outdir: 'dist',
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    banner: { js: licences(root) },
    logLevel: 'warning',
  });
  const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');
  const style = ['node_modules/uplot/dist/uPlot.min.css', `${source}/page.css`].map(read).join('\n');
  const page: PageFiles = {
    '/': {
      contentType: 'text/html; charset=utf-8',
      body: read(`${source}/page.html`),
    },
    '/page.js': {
      contentType: 'text/javascript; charset=utf-8',
      body: outputFiles.map(({ text }) => text).join(''),
    },
    '/page.css': { contentType: 'text/css; charset=utf-8', body: style },
  };
  writeFileSync(`${root}/dist/bgp-lb-${name}-page.json`, JSON.stringify(page));
}

/** Of what is bundled, as their licences ask for. */
function licences(root: string): string {
  const texts = ['preact', 'uplot'].map((name) =>
    readFileSync(`${root}/node_modules/${name}/LICENSE`, 'utf8'),
  );
  return `/*!\n${texts.join('\n')}*/`;
}
