import type { JSX } from 'preact';

/** How good a state is. It is always written too: colour alone says nothing to many. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** A word for a state, with a mark of its tone. */
export function StateMark({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={`state ${tone}`}>
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}
