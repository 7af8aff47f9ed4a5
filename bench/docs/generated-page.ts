/** A page with generated parts between markers; what is around them is written by hand. */

const marker = /^<!-- generated: ([a-z-]+) -->\n(?:.*\n)*?<!-- end -->$/gm;
const opening = /^<!-- generated:/gm;

/**
 * Replaces what is between the markers.
 * @throws Error when the page names a section that there is none of, has one twice, lacks one, or does not end one
 */
export function withSections(page: string, sections: Readonly<Record<string, string>>): string {
  const seen = new Set<string>();
  const result = page.replaceAll(marker, (_, name: string) => {
    const text = sections[name];
    if (text === undefined) {
      throw new Error(`section ${name}: expected one of ${Object.keys(sections).join(', ')}`);
    }
    if (seen.has(name)) throw new Error(`section ${name}: is in the page twice`);
    seen.add(name);
    // A section may be empty: a benchmark without plots.
    return `<!-- generated: ${name} -->\n\n${text === '' ? '' : `${text}\n\n`}<!-- end -->`;
  });
  const opened = page.match(opening)?.length ?? 0;
  if (opened !== seen.size) throw new Error(`${opened} sections begin, ${seen.size} end`);
  const lacking = Object.keys(sections).filter((name) => !seen.has(name));
  if (lacking.length > 0) throw new Error(`the page lacks the sections ${lacking.join(', ')}`);
  return result;
}
