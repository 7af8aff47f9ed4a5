/** What the main thread and the BFD worker say to each other. All of it can be copied between threads. */
import type { BfdKey } from '../index.ts';
import type { BfdScheduling, BfdSessionOptions, BfdStateChange, BfdStatus, BfdTiming } from './bfd-status.ts';

/** To the worker. */
export type BfdRequest =
  | { readonly type: 'add'; readonly session: BfdSessionOptions }
  | { readonly type: 'remove'; readonly id: string }
  | { readonly type: 'change'; readonly id: string; readonly timing: BfdTiming }
  | { readonly type: 'authenticate'; readonly id: string; readonly key: BfdKey | undefined }
  | { readonly type: 'admin-down'; readonly id: string; readonly isDown: boolean }
  | { readonly type: 'status'; readonly request: number }
  /** Takes all sessions down; `stopped` answers. */
  | { readonly type: 'stop' };

/** From the worker. */
export type BfdReport =
  /** The first one. */
  | { readonly type: 'ready'; readonly scheduling: BfdScheduling }
  | { readonly type: 'changed'; readonly change: BfdStateChange }
  | { readonly type: 'removed'; readonly id: string }
  /** A request about a session that could not be carried out. */
  | { readonly type: 'refused'; readonly id: string; readonly message: string }
  | { readonly type: 'status'; readonly request: number; readonly status: BfdStatus }
  | { readonly type: 'stopped' };

/** One end of the channel: a `MessagePort`, or on the main thread the `Worker` itself. */
export interface BfdPort<Sent, Received> {
  postMessage(message: Sent): void;
  on(event: 'message', listener: (message: Received) => void): unknown;
}
