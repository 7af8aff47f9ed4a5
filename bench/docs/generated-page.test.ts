import { describe, expect, it } from 'vitest';
import { withSections } from './generated-page.ts';

const page = (...names: string[]): string =>
  ['# Page', ...names.map((name) => `<!-- generated: ${name} -->\nold\n<!-- end -->`), 'by hand\n'].join(
    '\n\n',
  );

describe('a page with generated sections', () => {
  it('replaces what is between the markers and nothing else', () => {
    expect(withSections(page('one', 'two'), { one: '| a |', two: '' })).toBe(
      [
        '# Page',
        '<!-- generated: one -->\n\n| a |\n\n<!-- end -->',
        '<!-- generated: two -->\n\n<!-- end -->',
        'by hand\n',
      ].join('\n\n'),
    );
  });

  it('changes nothing the second time', () => {
    const sections = { one: 'text with $& in it', two: '' };
    const once = withSections(page('one', 'two'), sections);
    expect(withSections(once, sections)).toBe(once);
  });

  it.each([
    ['names what there is none of', page('one', 'other'), 'section other: expected one of one'],
    ['has one twice', page('one', 'one'), 'section one: is in the page twice'],
    ['lacks one', page(), 'the page lacks the sections one'],
    ['does not end one', '<!-- generated: one -->\n\ntext\n', '1 sections begin, 0 end'],
  ])('refuses a page that %s', (_, text, message) => {
    expect(() => withSections(text, { one: '' })).toThrow(message);
  });
});
