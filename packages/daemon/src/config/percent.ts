import { FieldError, type FieldKind, type TextField, textField } from './field.ts';

const PERCENT = /^(\d{1,3}(?:\.\d+)?)%$/;

/** A share in the file (`50%`), a fraction from 0 to 1 in the program (0.5). A number without the sign is refused. */
export function percent(): TextField<number> {
  const kind: FieldKind = {
    type: 'percentage',
    allowed: "a percentage, '0%' to '100%'",
    format: (value: unknown) => (typeof value === 'number' ? `${Number((value * 100).toFixed(6))}%` : value),
    jsonSchema: { type: 'string', pattern: '^[0-9]{1,3}(\\.[0-9]+)?%$', examples: ['50%'] },
  };
  return textField(
    kind,
    (text) => {
      const match = PERCENT.exec(text);
      if (match?.[1] === undefined) throw new FieldError('is not a percentage');
      const value = Number(match[1]);
      if (value > 100) throw new FieldError('is more than 100%');
      return value / 100;
    },
    (input) => (typeof input === 'number' ? `has no percent sign (${percentGuess(input)}?)` : undefined),
  );
}

function percentGuess(value: number): string {
  return value > 0 && value < 1 ? `${Number((value * 100).toFixed(6))}%` : `${value}%`;
}
