import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('..', import.meta.url));
export const files: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
/** Every page that a reader may come to. */
export const pages: readonly string[] = files.filter(
  (file) => file.endsWith('.md') && !file.includes('node_modules/'),
);
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
