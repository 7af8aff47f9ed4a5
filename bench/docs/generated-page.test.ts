import { describe, expect, it } from 'vitest';
import { withSections } from './generated-page.ts';

const page = (...names: string[]): string =>
  ['# Page', ...names.map((name) => `<!-- generated: ${name} -->\nold\n<!-- end -->`), 'by hand\n'].join(
    '\n\n',
  );

describe('pages with generated sections', () => {
  it('replace what is between the markers and nothing else', () => {
    expect(
      withSections({ a: page('one', 'two'), b: page('three') }, { one: '| a |', two: '', three: 'c' }),
    ).toEqual({
      a: [
        '# Page',
        '<!-- generated: one -->\n\n| a |\n\n<!-- end -->',
        '<!-- generated: two -->\n\n<!-- end -->',
        'by hand\n',
      ].join('\n\n'),
      b: ['# Page', '<!-- generated: three -->\n\nc\n\n<!-- end -->', 'by hand\n'].join('\n\n'),
    });
  });

  it('change nothing the second time', () => {
    const sections = { one: 'text with $& in it', two: '' };
    const once = withSections({ a: page('one', 'two') }, sections);
    expect(withSections(once, sections)).toEqual(once);
  });

  it.each([
    ['name what there is none of', [page('one', 'other')], 'a0, section other: expected one of one'],
    ['have one twice', [page('one', 'one')], 'a0, section one: is in the pages twice'],
    ['have one in two pages', [page('one'), page('one')], 'a1, section one: is in the pages twice'],
    ['lack one', [page()], 'the pages lack the sections one'],
    ['do not end one', ['<!-- generated: one -->\n\ntext\n'], 'a0: 1 sections begin, 0 end'],
  ])('are refused when they %s', (_, texts, message) => {
    const pages = Object.fromEntries(texts.map((text, index) => [`a${index}`, text]));
    expect(() => withSections(pages, { one: '' })).toThrow(message);
  });
});
