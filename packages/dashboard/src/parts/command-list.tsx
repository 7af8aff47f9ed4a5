import type { JSX } from 'preact';

/** Commands to copy: one click selects a whole one. The page itself changes nothing. */
export function CommandList({
  commands,
}: {
  readonly commands: readonly { readonly command: string; readonly what: string }[];
}): JSX.Element {
  return (
    <dl class="commands">
      {commands.map(({ command, what }) => (
        <div key={command}>
          <dt>
            <code>{command}</code>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
