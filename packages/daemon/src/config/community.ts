import { FieldError, type TextField, textField } from './field.ts';

/** A community (RFC 1997) as its 32-bit number, or a large one (RFC 8092) by its three. */
export type Community =
  | number
  | { readonly globalAdministrator: number; readonly localData1: number; readonly localData2: number };

const NAMES: Readonly<Record<string, number>> = { 'no-export': 0xffff_ff01, 'no-advertise': 0xffff_ff02 };
const ALLOWED = `64512:100, 64512:1000:2, ${Object.keys(NAMES).join(' or ')}, in quotes`;

/** Schema of a community as text. */
export function community(): TextField<Community> {
  return textField(
    {
      type: 'community',
      allowed: ALLOWED,
      format: (value) => formatCommunity(value as Community),
      jsonSchema: { type: 'string', pattern: '^(\\d+:\\d+(:\\d+)?|no-export|no-advertise)$' },
    },
    parseCommunity,
    // YAML 1.1 readers take 64512:59 for a number to the base of 60.
    (input) => (typeof input === 'number' ? 'is a number to YAML' : undefined),
  );
}

function parseCommunity(text: string): Community {
  const named = NAMES[text];
  if (named !== undefined) return named;
  const parts = /^\d{1,10}(:\d{1,10}){1,2}$/.test(text) ? text.split(':').map(Number) : [];
  const [first = 0, second = 0, third] = parts;
  const largest = third === undefined ? 0xffff : 0xffff_ffff;
  if (parts.length === 0 || parts.some((part) => part > largest)) throw new FieldError('is not a community');
  if (third === undefined) return first * 65_536 + second;
  return { globalAdministrator: first, localData1: second, localData2: third };
}

/** Communities of 65535:* mean something to every router (RFC 1997). */
export function isWellKnownCommunity(community: number): boolean {
  return community >>> 16 === 0xffff;
}

/** As the operator writes it. */
export function formatCommunity(value: Community): string {
  if (typeof value !== 'number')
    return `${value.globalAdministrator}:${value.localData1}:${value.localData2}`;
  return `${Math.floor(value / 65_536)}:${value % 65_536}`;
}
