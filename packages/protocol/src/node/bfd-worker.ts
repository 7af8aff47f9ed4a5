import { BfdEngine } from './bfd-engine.ts';
import type { BfdPort, BfdReport, BfdRequest } from './bfd-message.ts';
import type { BfdSockets } from './bfd-sockets.ts';
import type { BfdScheduling } from './bfd-status.ts';

/**
 * Runs BFD for the other end of a channel, which `BfdClient` speaks for. Meant for a worker thread of its own, whose
 * timers hold while the main thread is busy; the thread starts nothing else.
 *
 * It is a function and not a file to be started, so that a daemon bundled into one file starts itself as the worker:
 *
 * ```ts
 * // main thread
 * const worker = new Worker(new URL(import.meta.url), { workerData: 'bfd' });
 * const bfd = new BfdClient(worker, handlers);
 * // main.ts, first of all
 * if (!isMainThread && workerData === 'bfd' && parentPort !== null) {
 *   runBfdWorker(parentPort, linuxUdpSockets, (isSettled) => raiseCallingThread(isSettled ? realTime : nice));
 * }
 * ```
 *
 * @param schedule raises the calling thread and says what it got, which the client hears. Called at once, and again when
 *   the start is over: a thread that starts works hard, and in real time it would keep others of its priority waiting for
 *   so long that their neighbors take them for dead.
 * @param settleTime milliseconds until then
 */
export function runBfdWorker(
  port: BfdPort<BfdReport, BfdRequest>,
  sockets: BfdSockets,
  schedule: (isSettled: boolean) => BfdScheduling,
  settleTime = 3_000,
): void {
  const report = (message: BfdReport): void => port.postMessage(message);
  report({ type: 'ready', scheduling: schedule(false) });
  setTimeout(() => report({ type: 'ready', scheduling: schedule(true) }), settleTime).unref();
  const engine = new BfdEngine({
    sockets,
    handlers: {
      changed: (change) => report({ type: 'changed', change }),
      removed: (id) => report({ type: 'removed', id }),
    },
  });

  const attempt = (id: string, carryOut: () => void): void => {
    try {
      carryOut();
    } catch (error) {
      report({ type: 'refused', id, message: error instanceof Error ? error.message : String(error) });
    }
  };

  port.on('message', (request: BfdRequest) => {
    switch (request.type) {
      case 'add':
        attempt(request.session.id, () => engine.add(request.session));
        return;
      case 'remove':
        engine.remove(request.id);
        return;
      case 'change':
        attempt(request.id, () => engine.change(request.id, request.timing));
        return;
      case 'authenticate':
        attempt(request.id, () => engine.authenticate(request.id, request.key));
        return;
      case 'admin-down':
        attempt(request.id, () => engine.setAdminDown(request.id, request.isDown));
        return;
      case 'status':
        report({ type: 'status', request: request.request, status: engine.status() });
        return;
      case 'stop':
        void engine.stop().then(() => report({ type: 'stopped' }));
        return;
    }
  });
}
