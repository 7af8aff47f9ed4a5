import { expect, describe as group, it } from 'vitest';
import { describe } from './describe.ts';

function text(...data: readonly number[]): string {
  return describe({ code: 2, subcode: 7, data: Uint8Array.from(data) }).text;
}

const words = 'OPEN Message Error/Unsupported Capability';

group('a NOTIFICATION of Unsupported Capability in words', () => {
  it('names the capabilities that are missing (RFC 5492 section 5)', () => {
    expect(text(1, 4, 0, 2, 0, 1)).toBe(`${words}: missing: multiprotocol ipv6-unicast`);
    expect(text(1, 4, 0, 1, 0, 128, 65, 4, 0, 0, 0, 1)).toBe(
      `${words}: missing: multiprotocol 1/128, capability 65`,
    );
  });

  it('takes whatever a peer sends, and names no more than eight', () => {
    for (const data of [[], [1], [1, 4, 0, 2], [69, 200, 1]]) expect(text(...data)).toBe(words);
    expect(text(1, 0, 65, 9)).toBe(`${words}: missing: capability 1`);
    expect(text(...Array.from({ length: 4000 }, (_, at) => (at % 2 === 0 ? 77 : 0)))).toBe(
      `${words}: missing: ${Array(8).fill('capability 77').join(', ')}`,
    );
  });
});
