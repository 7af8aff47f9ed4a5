import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('..', import.meta.url));
/** What .gitignore names: not of the checkout. */
const ignored = new Set(['node_modules', 'dist', 'coverage', 'out', '.git']);
/** Every file of the checkout, also of one that came without git. */
export const files: readonly string[] = globSync('**', {
  cwd: root,
  exclude: ({ name }) => ignored.has(name),
  withFileTypes: true,
})
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.tsbuildinfo'))
  .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
  .sort();
/** Every page that a reader may come to. */
export const pages: readonly string[] = files.filter((file) => file.endsWith('.md'));
export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** What stands in a page as code: blocks, and words in the text, each with its line. */
interface Code {
  readonly line: number;
  readonly text: string;
}

function codeOf(text: string): Code[] {
  let isBlock = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) {
      isBlock = !isBlock;
      return [];
    }
    if (isBlock || /^ {4}\S/.test(line)) return [{ line: index + 1, text: line.trim() }];
    return [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => ({ line: index + 1, text: code }));
  });
}

/** Each fault with its page and line. */
export const faultsOf = (look: (page: string, code: Code) => readonly string[]): string[] =>
  pages.flatMap((page) =>
    codeOf(textOf(page)).flatMap((code) => look(page, code).map((fault) => `${page}:${code.line}: ${fault}`)),
  );
