import { expect, it } from 'vitest';
import { files, pages, textOf } from './pages.ts';

/** In the manual of a network daemon a host, a program, a peer or an operator does something: these words say which of them is meant. */
const unclear = /\b(nobody|somebody|everybody|anybody|whoever|whomever|anew)\b/gi;

/** Comments of TypeScript; `//` within a string or a URL is none. */
const comment = /\/\*.*?\*\/|(?<![:\w'"`/])\/\/[^\n]*/gs;

function faultsIn(file: string, text: string, isProse: RegExp): string[] {
  return [...text.matchAll(isProse)].flatMap(({ 0: prose, index }) =>
    // The names of users and words of other programs stand as code.
    [...prose.replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length)).matchAll(unclear)].map(
      ({ 0: word, index: at }) => `${file}:${text.slice(0, index + at).split('\n').length}: ${word}`,
    ),
  );
}

it('names who or what is meant, in comments as on the pages', () => {
  const sources = files.filter((file) => file.endsWith('.ts'));
  expect([
    ...sources.flatMap((file) => faultsIn(file, textOf(file), comment)),
    ...pages.flatMap((page) => faultsIn(page, textOf(page), /.+/gs)),
  ]).toEqual([]);
});

it('finds the words in what is a comment, and there alone', () => {
  const [open, close] = ['/', '/'].map((slash, index) => (index === 0 ? `${slash}**` : `*${slash}`));
  const text = [
    `const a = 'https:${'//'}nobody'; ${'//'} for whoever asks`,
    `${open} \`nobody\` is`,
    ` * somebody ${close} const anew = 1;`,
  ].join('\n');
  expect(faultsIn('a.ts', text, comment)).toEqual(['a.ts:1: whoever', 'a.ts:3: somebody']);
});
