import { readFileSync } from 'node:fs';

const textOf = (page: string): string =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url).pathname, 'utf8');

/** The blocks of code of a page in `docs`, in its order. */
function blocksOf(page: string): readonly string[] {
  return [...textOf(page).matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

/** The one block that has this text in it. */
export function blockWith(page: string, text: string): string {
  const found = blocksOf(page).filter((block) => block.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${page} have ${text}; expected one`);
  return found.join('');
}

/** The blocks of the chapter `## HEADING`, in its order, each with its language: empty for commands. */
export function chapterBlocks(
  page: string,
  heading: string,
): readonly { readonly language: string; readonly text: string }[] {
  const chapter = textOf(page)
    .split(/^## /m)
    .find((one) => one.startsWith(`${heading}\n`));
  const found = [...(chapter ?? '').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  if (found.length === 0) throw new Error(`${page} has no block in a chapter ${heading}`);
  return found.map(([, language = '', text = '']) => ({ language, text }));
}

/** The row of a table whose first cell begins so, as its cells. */
export function rowOf(page: string, first: string): readonly string[] {
  const rows = [...textOf(page).matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) => row.split(' | '));
  const found = rows.filter(([cell = '']) => cell.startsWith(first));
  if (found.length !== 1)
    throw new Error(`${found.length} rows of ${page} begin with ${first}; expected one`);
  return found.flat();
}

/** What a text has as code, between backticks. */
export function codeIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
