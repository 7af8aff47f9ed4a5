/**
 * Text from the network made harmless for a terminal.
 *
 * Shutdown communications, host names, API server answers and keys of a configuration file are other people's text. Escape
 * sequences (C0, C1, DEL) could rewrite what the operator sees, and the bidirectional controls of Unicode could reorder it.
 */

/** C0, DEL, C1, zero width and bidirectional controls, line and paragraph separators, byte order mark. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is looked for here
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** True when a terminal could act on a character of the text. */
export function hasUnsafeCharacters(text: string): boolean {
  return text.search(UNSAFE) >= 0;
}

/** The text with each unsafe character as `\uXXXX`. With `keepNewlines`, line feeds stay. */
export function printable(text: string, options?: { readonly keepNewlines?: boolean }): string {
  if (options?.keepNewlines !== true) return text.replace(UNSAFE, escapeCharacter);
  return text.replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)));
}

/** A value in one short line for an error message: JSON, harmless, at most `limit` characters. */
export function shortValue(value: unknown, limit = 80): string {
  if (value === undefined) return 'nothing';
  const text = printable(jsonText(value));
  return text.length <= limit ? text : `${text.slice(0, limit - 3)}...`;
}

function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
