import type * as z from 'zod';
import { type ConfigKey, describeSchema } from './config-key.ts';

/** What a chapter of the documentation is about. */
export interface ConfigChapter {
  readonly title: string;
  readonly schema: z.ZodType;
}

/** A Markdown table of all keys of a schema under a heading. */
export function configMarkdown(chapter: ConfigChapter): string {
  const rows = describeSchema(chapter.schema).map(row);
  const table = ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
  return `## ${chapter.title}\n\n${table}\n`;
}

function row(key: ConfigKey): string {
  const meaning = [
    sentence(key.description),
    key.allowed === undefined ? '' : sentence(`Allowed: ${key.allowed}`),
  ];
  const cells = [
    `\`${key.path}\``,
    key.type,
    defaultText(key),
    meaning.filter((text) => text !== '').join(' '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function defaultText(key: ConfigKey): string {
  if (key.isRequired) return 'required';
  // A mapping's default is that of its keys, which have rows of their own.
  if (key.default === undefined || key.isMapping) return '';
  return `\`${typeof key.default === 'string' ? key.default : JSON.stringify(key.default)}\``;
}

function sentence(text: string): string {
  if (text === '') return '';
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
