/** A line of haproxy.cfg, or the lines of a section. */
export interface HaproxyLine {
  /** From 1. */
  readonly number: number;
  /** Of the last line, where it is a section of several. */
  readonly last?: number;
  /** Its words with one space between them. */
  readonly text: string;
}

/** A directive: its words without quotes and escapes. */
export interface Directive extends HaproxyLine {
  readonly words: readonly string[];
}

/** From one heading to the next. */
export interface Section {
  /** `global`, `defaults`, `frontend`, `backend`, `listen` or another of HAProxy's; empty before the first heading. */
  readonly kind: string;
  /** Empty for those without one. */
  readonly name: string;
  readonly heading: Directive | undefined;
  readonly lines: readonly Directive[];
}

const kinds = new Set(
  'global defaults frontend backend listen resolvers peers userlist mailers cache program ring http-errors fcgi-app log-forward log-profile crt-store traces acme'.split(
    ' ',
  ),
);

/** Cuts haproxy.cfg into sections (HAProxy's configuration manual, sections 2.1 and 2.2). Pure; never throws. */
export function haproxySections(text: string): Section[] {
  const sections: { kind: string; name: string; heading: Directive | undefined; lines: Directive[] }[] = [
    { kind: '', name: '', heading: undefined, lines: [] },
  ];
  for (const [index, line] of text.split('\n').entries()) {
    const words = wordsOf(line);
    const [kind = '', name = ''] = words;
    if (words.length === 0) continue;
    const directive = { number: index + 1, text: words.join(' '), words };
    if (kinds.has(kind)) sections.push({ kind, name, heading: directive, lines: [] });
    else sections.at(-1)?.lines.push(directive);
  }
  return sections.filter(({ heading, lines }) => heading !== undefined || lines.length > 0);
}

/** All lines of a section, as one. */
export function wholeSection({ heading, lines }: Section): HaproxyLine {
  const first = heading ?? lines[0];
  const last = lines.at(-1)?.number ?? first?.number ?? 0;
  return { number: first?.number ?? 0, last, text: first?.text ?? '' };
}

/** White space, a word with its quoted and escaped parts, or a comment. */
const token = /\s+|(?:\\.?|"(?:\\.|[^"\\])*(?:"|\\?$)|'[^']*(?:'|$)|[^\s"'\\#])+|#.*/gs;
const quotedPart = /\\(.?)|"((?:\\.|[^"\\])*)"?|'([^']*)'?/gs;

/** Words are cut at white space that is neither quoted nor escaped; `#` outside of these begins a comment. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(token)]
    .map(([text]) => text)
    .filter((text) => !/^[\s#]/.test(text))
    .map((text) =>
      text.replace(quotedPart, (_, escaped?: string, double?: string, single?: string) => {
        return escaped ?? double?.replace(/\\(.)/gs, '$1') ?? single ?? '';
      }),
    );
}
