import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { ControlServer, type ControlServerOptions } from '../control/control-server.ts';
import { EventLog } from '../control/event-log.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A control server on a new socket and a free loopback port, and its log lines. */
export interface RunningServer {
  readonly server: ControlServer;
  readonly events: EventLog;
  readonly socketPath: string;
  readonly port: number;
  readonly log: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Starts a control server for a test. */
export async function runningServer(options: Partial<ControlServerOptions> = {}): Promise<RunningServer> {
  const folder = temporaryFolder();
  const socketPath = join(folder.path, 'control.sock');
  const events = new EventLog({ capacity: 100 });
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => log.push(JSON.parse(line)) });
  const server = new ControlServer({
    socketPath,
    listen: { host: '127.0.0.1', port: 0 },
    routes: [],
    metrics: new Registry(),
    events,
    logger,
    ...options,
  });
  await server.start();
  return {
    server,
    events,
    socketPath,
    port: server.address?.port ?? 0,
    log,
    close: async () => {
      await server.close();
      folder.remove();
    },
  };
}
