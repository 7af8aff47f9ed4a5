import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/**
 * Compares the RFC sections that the sources cite with docs/rfc-compliance.md: a section that code follows must stand
 * there, itself or a section above it. Also looks whether the files and tests that this and SECURITY.md name exist.
 */

const DOCUMENT = 'docs/rfc-compliance.md';
/** Names a test for each thing that it says. */
const THREATS = 'SECURITY.md';

export interface Citation {
  /** The line that the citation begins in, from 1. */
  readonly line: number;
  readonly rfc: string;
  /** `4.3`, or `undefined` where the whole RFC is meant. */
  readonly section: string | undefined;
}

// Between two words of a citation there may be the end of a comment line and the beginning of the next.
const gap = '[\\s*/]+';
const number = '\\d+(?:\\.\\d+)*';
const letter = `(?:${gap}\\([a-z]\\))?`;
const list = `${number}${letter}(?:(?:,|${gap}and|${gap}to)${gap}${number}${letter})*`;
const citation = new RegExp(
  `RFC${gap}(\\d+)(?:${gap}(?:section${gap}(${number})|sections${gap}(${list})))?`,
  'g',
);

/** Every RFC and section that a text cites: `RFC 4271 section 4.3`, `RFC 4760 sections 3 and 4`, `RFC 6286`. */
export function citationsOf(text: string): readonly Citation[] {
  return [...text.matchAll(citation)].flatMap(({ index, 1: rfc = '', 2: one, 3: several }) => {
    const line = text.slice(0, index).split('\n').length;
    const sections =
      several === undefined ? [one] : [...several.matchAll(new RegExp(number, 'g'))].map(([s]) => s);
    return sections.map((section) => ({ line, rfc, section }));
  });
}

/** What the first column of the tables lists: per RFC its sections, `undefined` among them for all of it. */
export function listedSections(document: string): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const listed = new Map<string, Set<string | undefined>>();
  for (const line of document.split('\n')) {
    const cell = /^\| *(RFC [^|]*)\|/.exec(line)?.[1];
    for (const { rfc, section } of citationsOf(cell ?? '')) {
      listed.set(rfc, (listed.get(rfc) ?? new Set()).add(section));
    }
  }
  return listed;
}

/** True when the document has the section, one above it, or the whole RFC; for a citation without section, anything of the RFC. */
export function isListed(
  { rfc, section }: Pick<Citation, 'rfc' | 'section'>,
  listed: ReadonlyMap<string, ReadonlySet<string | undefined>>,
): boolean {
  const sections = listed.get(rfc);
  if (sections === undefined) return false;
  if (section === undefined || sections.has(undefined)) return true;
  const parts = section.split('.');
  return parts.some((_, i) => sections.has(parts.slice(0, i + 1).join('.')));
}

/** Paths in backquotes that end in `.ts`, as the document's columns name them. */
export function pathsOf(document: string): readonly string[] {
  return [...document.matchAll(/`([a-z0-9./-]+\.ts)`/g)].map(([, path = '']) => path);
}

function main(root: string): number {
  const document = readFileSync(join(root, DOCUMENT), 'utf8');
  const listed = listedSections(document);
  const files = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  let count = 0;
  const problems: string[] = [];
  for (const file of files.toSorted()) {
    for (const cited of citationsOf(readFileSync(join(root, file), 'utf8'))) {
      count += 1;
      if (isListed(cited, listed)) continue;
      const section = cited.section === undefined ? '' : ` section ${cited.section}`;
      problems.push(`${file}:${cited.line}: RFC ${cited.rfc}${section} has no row in ${DOCUMENT}`);
    }
  }
  for (const path of new Set(pathsOf(document))) {
    const places = [path, join('packages/protocol/src', path)];
    if (!places.some((place) => existsSync(join(root, place)))) problems.push(`${DOCUMENT}: no file ${path}`);
  }
  for (const path of new Set(pathsOf(readFileSync(join(root, THREATS), 'utf8')))) {
    if (!existsSync(join(root, path))) problems.push(`${THREATS}: no file ${path}`);
  }
  for (const problem of problems) console.error(problem);
  console.log(`${count} citations of RFCs, ${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main(join(import.meta.dirname, '..'));
