import type { Action } from '../action.ts';
import type { Step } from '../state.ts';

/** An action in one word or a few: `notify 6/7`, `start Hold 240`, `down tcp-closed`. */
export function actionText(action: Action): string {
  switch (action.type) {
    case 'send':
      return `send ${action.message.type}`;
    case 'notify':
      return `notify ${action.code}/${action.subcode}`;
    case 'startTimer':
      return `start ${action.timer} ${action.seconds}`;
    case 'stopTimer':
      return `stop ${action.timer}`;
    case 'connectRetryCounter':
      return `counter ${action.change}`;
    case 'deliver':
      return `deliver ${action.message.type}`;
    case 'down':
      return `down ${action.end.kind}`;
    default:
      return action.type;
  }
}

/** What a step does, without the timers that are stopped. */
export function stepText({ state, actions }: Step): string {
  const words = actions.filter(({ type }) => type !== 'stopTimer').map(actionText);
  return [state.name, ...words].join('; ');
}
