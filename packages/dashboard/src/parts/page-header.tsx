import type { JSX } from 'preact';
import { StateMark } from './state-mark.tsx';

export interface PageHeaderProps {
  readonly program: string;
  readonly hostName: string;
  readonly facts: readonly string[];
  /** No snapshot comes at the moment; what is shown is old. */
  readonly isLost: boolean;
  /** When the snapshot was taken, ISO 8601; empty before the first. */
  readonly time: string;
  /** What goes on although the daemon does not answer. */
  readonly meanwhile: string;
}

/** The name of the daemon, and whether what is shown is live. */
export function PageHeader(props: PageHeaderProps): JSX.Element {
  const { program, hostName, facts, isLost, time, meanwhile } = props;
  return (
    <header>
      <h1>
        {program}
        {hostName !== '' && <span class="host"> on {hostName}</span>}
      </h1>
      <p class="facts">{facts.join(' · ')}</p>
      <p class="live" role="status">
        {isLost ? (
          <StateMark
            tone="warn"
            text={`The daemon does not answer. ${meanwhile} Shown: ${clockText(time)}`}
          />
        ) : (
          <StateMark tone={time === '' ? 'idle' : 'good'} text={time === '' ? 'Connecting' : 'Live'} />
        )}
      </p>
    </header>
  );
}

/** `14:03:59`, of this browser's time zone. */
export function clockText(time: string): string {
  return time === '' ? 'nothing yet' : new Date(time).toLocaleTimeString('en-GB');
}
