/**
 * Makes the tables and plots of docs/benchmarks*.md from the reports in docs/benchmarks. With `--check` it writes nothing and fails
 * when one of them is stale, or a plot is there that no report has.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readRecorded } from '../record/recorded-report.ts';
import { withSections } from './generated-page.ts';
import { generate } from './sections.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const folder = 'benchmarks';
const pages = readdirSync(docs).filter((name) => /^benchmarks(-[a-z-]+)?\.md$/.test(name));

const { sections, plots } = generate(readRecorded(`${docs}${folder}`), folder);
const present = new Map(
  readdirSync(`${docs}${folder}`)
    .filter((name) => name.endsWith('.svg'))
    .map((name) => [`${folder}/${name}`, readFileSync(`${docs}${folder}/${name}`, 'utf8')]),
);
const texts = Object.fromEntries(pages.map((page) => [page, readFileSync(`${docs}${page}`, 'utf8')]));
for (const [page, text] of Object.entries(texts)) present.set(page, text);
const wanted = new Map(Object.entries(plots).map(([name, svg]) => [`${folder}/${name}`, svg]));
for (const [page, text] of Object.entries(withSections(texts, sections))) wanted.set(page, text);

const isCheck = process.argv.includes('--check');
const stale = [...new Set([...wanted.keys(), ...present.keys()])]
  .filter((path) => wanted.get(path) !== present.get(path))
  .toSorted();
for (const path of isCheck ? [] : stale) {
  const text = wanted.get(path);
  if (text === undefined) rmSync(`${docs}${path}`);
  else writeFileSync(`${docs}${path}`, text);
}
if (stale.length === 0) console.log('docs: the benchmarks pages are up to date');
else console.log(`docs: ${isCheck ? 'stale' : 'written'}: ${stale.map((path) => `docs/${path}`).join(', ')}`);
if (isCheck && stale.length > 0) {
  console.error('run: npm run bench-docs');
  process.exitCode = 1;
}
