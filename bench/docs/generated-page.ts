/** Pages with generated parts between markers; what is around them is written by hand. */

const marker = /^<!-- generated: ([a-z-]+) -->\n(?:.*\n)*?<!-- end -->$/gm;
const opening = /^<!-- generated:/gm;

/**
 * Replaces what is between the markers of all pages.
 * @param pages their texts by name
 * @throws Error when a page names a section that there is none of, pages have one twice, lack one, or do not end one
 */
export function withSections(
  pages: Readonly<Record<string, string>>,
  sections: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const seen = new Set<string>();
  const results = Object.entries(pages).map(([page, text]) => [page, filled(page, text, sections, seen)]);
  const lacking = Object.keys(sections).filter((name) => !seen.has(name));
  if (lacking.length > 0) throw new Error(`the pages lack the sections ${lacking.join(', ')}`);
  return Object.fromEntries(results);
}

function filled(
  page: string,
  text: string,
  sections: Readonly<Record<string, string>>,
  seen: Set<string>,
): string {
  const before = seen.size;
  const result = text.replaceAll(marker, (_, name: string) => {
    const section = sections[name];
    if (section === undefined) {
      throw new Error(`${page}, section ${name}: expected one of ${Object.keys(sections).join(', ')}`);
    }
    if (seen.has(name)) throw new Error(`${page}, section ${name}: is in the pages twice`);
    seen.add(name);
    // A section may be empty: a benchmark without plots.
    return `<!-- generated: ${name} -->\n\n${section === '' ? '' : `${section}\n\n`}<!-- end -->`;
  });
  const [opened, ended] = [text.match(opening)?.length ?? 0, seen.size - before];
  if (opened !== ended) throw new Error(`${page}: ${opened} sections begin, ${ended} end`);
  return result;
}
