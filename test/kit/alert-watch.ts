/** Debian's Prometheus on a host of the lab, with the alert rules that we ship, and what fires there. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Host } from '../../scripts/lab/host.ts';

export const rulesFile: string = fileURLToPath(
  new URL('../../deploy/prometheus/bgp-lb.rules.yml', import.meta.url),
);

const port = 9090;

/** Prints the names of what fires, one line for each change. */
const watcher = `
  let last;
  const look = async () => {
    const { data } = await (await fetch('http://127.0.0.1:${port}/api/v1/alerts')).json();
    const firing = [...new Set(data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))];
    const now = JSON.stringify(firing.sort());
    if (now !== last) console.log(now);
    last = now;
  };
  setInterval(() => look().catch(() => undefined), 200);`;

/**
 * The rules in quick motion: what takes minutes of patience takes seconds, in the same order.
 * Ranges are made shorter too, so that what has ended is seen to have ended.
 */
function quickRules(text: string): string {
  const waits: Record<string, string> = {
    '10s': '1s',
    '30s': '2s',
    '1m': '3s',
    '2m': '3s',
    '5m': '4s',
    '4h': '4s',
  };
  return text
    .replace(/^( +for: )(\S+)$/gm, (_, key: string, time: string) => `${key}${waits[time] ?? time}`)
    .replace(/\[1[05]m\]/g, '[12s]');
}

/** Starts both; they end with the host. @param targets `HOST:PORT` of each job */
export function startPrometheus(
  host: Host,
  targets: Readonly<Record<string, readonly string[]>>,
): AlertWatch {
  const folder = host.path('prometheus');
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/rules.yml`, quickRules(readFileSync(rulesFile, 'utf8')));
  const jobs = Object.entries(targets).map(([job_name, addresses]) => ({
    job_name,
    static_configs: [{ targets: addresses }],
  }));
  const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
  // JSON is YAML.
  const config = { global, rule_files: [`${folder}/rules.yml`], scrape_configs: jobs };
  writeFileSync(`${folder}/prometheus.yml`, JSON.stringify(config));
  host.spawn('prometheus', [
    'prometheus',
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  host.spawn('alerts', [process.execPath, '-e', watcher]);
  return new AlertWatch(host.path('log/alerts.log'));
}

/** What fired, as it changed. */
export class AlertWatch {
  readonly #log: string;

  constructor(log: string) {
    this.#log = log;
  }

  /** The sets of names that fired, oldest first; the last one fires now. */
  changes(): readonly (readonly string[])[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith(']')).map((line) => JSON.parse(line) as string[]);
  }

  /** Now; undefined before Prometheus has answered. */
  firing(): readonly string[] | undefined {
    return this.changes().at(-1);
  }
}
