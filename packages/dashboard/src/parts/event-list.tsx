import type { JSX } from 'preact';
import { clockText } from './page-header.tsx';

export interface ListedEvent {
  readonly sequence: number;
  readonly time: string;
  readonly type: string;
  readonly text: string;
}

/** What has happened, newest first. */
export function EventList({ events }: { readonly events: readonly ListedEvent[] }): JSX.Element {
  if (events.length === 0) return <p class="quiet">Nothing has happened yet.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section class="scroll events" aria-label="Events, newest first" tabIndex={0}>
      <ol>
        {events.map(({ sequence, time, type, text }) => (
          <li key={sequence}>
            <time dateTime={time}>{clockText(time)}</time> <b>{type}</b> <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
