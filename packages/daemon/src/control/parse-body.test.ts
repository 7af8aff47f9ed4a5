import { expect, it } from 'vitest';
import * as z from 'zod';
import { ControlError } from './control-route.ts';
import { parseBody } from './parse-body.ts';

const order = z.strictObject({ member: z.string().min(1).max(64), wait: z.int().min(0).max(3600) });

it('gives what the schema makes of a body', () => {
  expect(parseBody(order, { member: 'm1', wait: 3 })).toEqual({ member: 'm1', wait: 3 });
});

it.each([
  [{ member: 'm1' }, 'wait: is required; allowed: a whole number from 0 to 3600'],
  [{ member: 'm1', wait: 9999 }, 'wait: is too large, got 9999; allowed: a whole number from 0 to 3600'],
  [{ member: 'm1', wait: 'soon' }, 'wait: is text, got "soon"; allowed: a whole number from 0 to 3600'],
  [{ member: 'm1', wait: 1, force: true }, 'force: is not a known key'],
  [undefined, 'the body: is null; allowed: a mapping of keys'],
])('names place, value and what is allowed: %j', (body, message) => {
  expect(() => parseBody(order, body)).toThrow(ControlError);
  expect(() => parseBody(order, body)).toThrow(message);
});
