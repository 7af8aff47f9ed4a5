/** docker-compose.yml, built and up in a container engine of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { baseImage, importBaseImage } from '../../scripts/engine/base-image.ts';
import { ContainerEngine } from '../../scripts/engine/container-engine.ts';
import { ClientCalls } from '../../scripts/lab/client-calls.ts';
import type { RouterStatus } from '../../scripts/lab/lb-host.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

const root = new URL('../..', import.meta.url).pathname;
const buildLimit = 20 * 60_000;
const upLimit = 5 * 60_000;
const composeFile = [
  '--project-name',
  'bgp-lb',
  '--project-directory',
  root,
  '-f',
  `${root}docker-compose.yml`,
];

export const vip = '10.77.100.1';

/** The containers of a master. */
export interface Master {
  readonly name: string;
  readonly address: string;
  /** In the order in which they start. */
  readonly containers: readonly [string, string];
}

const master = (n: number): Master => ({
  name: `master-${n}`,
  address: `10.77.0.${10 + n}`,
  containers: [`master-${n}`, `speaker-${n}`],
});

export const masters: readonly [Master, Master, Master] = [master(1), master(2), master(3)];
export const frrMaster: Master = {
  name: 'frr-master',
  address: '10.77.0.14',
  containers: ['frr-master', 'frr-master-api'],
};
export const everyMaster: readonly Master[] = [...masters, frrMaster];

/** What FRR says of a neighbor, as far as these tests look at it. */
interface FrrNeighbor {
  readonly bgpState: string;
  readonly authenticationEnabled?: number;
}

/** What a speaker's status says, as far as these tests look at it. */
interface SpeakerView {
  readonly vips: readonly { readonly state: string; readonly bound: boolean }[];
  readonly routers: readonly { readonly session: string; readonly bfd: string; readonly password: boolean }[];
  readonly bfd: { readonly scheduling: string; readonly missing: readonly string[] };
  readonly kernel: { readonly fault: string | null };
}

/** The containers. */
export class ComposeLab {
  readonly #engine: ContainerEngine;
  readonly #compose: readonly string[];
  readonly #clients: ChildProcessWithoutNullStreams[] = [];

  private constructor(engine: ContainerEngine, compose: readonly string[]) {
    this.#engine = engine;
    this.#compose = compose;
  }

  /** Starts an engine, builds the images and starts all containers. */
  static async start(): Promise<ComposeLab> {
    const engine = await ContainerEngine.start();
    try {
      await importBaseImage(engine, () => undefined);
      const lab = new ComposeLab(engine, await composeProgram(engine));
      await lab.#buildDaemons();
      await lab.compose(['build'], buildLimit);
      await lab.compose(['up', '-d'], upLimit);
      return lab;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  /** Ends the containers and the engine. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.kill();
    await this.#engine.stop();
  }

  /** The stage that needs the npm registry; a Compose file has no portable way to give it a site's own CA. */
  async #buildDaemons(): Promise<void> {
    const ca = process.env['NODE_EXTRA_CA_CERTS'];
    const secret = ca === undefined ? [] : ['--secret', `id=ca,src=${ca}`];
    await this.docker(
      ['build', '--target', 'router', '--build-arg', `BASE_IMAGE=${baseImage}`, ...secret].concat(
        '-f',
        `${root}deploy/Dockerfile`,
        root,
      ),
      buildLimit,
    );
  }

  /** Runs docker-compose with arguments. */
  compose(args: readonly string[], timeoutMs?: number): Promise<string> {
    return this.#engine.run([...this.#compose, ...composeFile, ...args], {
      env: { BASE_IMAGE: baseImage },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  docker(args: readonly string[], timeoutMs = 60_000): Promise<string> {
    return this.#engine.run(['docker', ...args], { timeoutMs });
  }

  /** The engine's name of a service's container: what is between them is `_` in Compose 1 and `-` in Compose 2. */
  async #container(service: string): Promise<string> {
    const label = (key: string, value: string): string => `label=com.docker.compose.${key}=${value}`;
    const filter = ['--filter', label('service', service), '--filter', label('project', 'bgp-lb')];
    const id = (await this.docker(['ps', '--all', '--quiet', ...filter])).trim();
    if (id === '' || id.includes('\n')) throw new Error(`not one container of ${service}: ${id}`);
    return id;
  }

  /** Runs a program in a service's container. */
  async exec(service: string, argv: readonly string[]): Promise<string> {
    return this.docker(['exec', await this.#container(service), ...argv]);
  }

  /** `docker start`, `stop`, `kill` and so on of services' containers, one after the other. */
  async change(command: readonly string[], services: readonly string[]): Promise<void> {
    const containers = await Promise.all(services.map((service) => this.#container(service)));
    for (const container of containers) await this.docker([...command, container]);
  }

  /** The program's health as the engine's healthcheck has it. */
  async health(service: string): Promise<string> {
    const format = '{{.State.Health.Status}}';
    return (await this.docker(['inspect', '--format', format, await this.#container(service)])).trim();
  }

  async vtysh(service: string, ...commands: string[]): Promise<string> {
    return this.exec(service, ['vtysh', ...commands.flatMap((command) => ['-c', command])]);
  }

  /** What FRR says of a BGP neighbor. */
  async neighbor(service: string, address: string): Promise<FrrNeighbor> {
    const text = await this.vtysh(service, `show bgp neighbors ${address} json`);
    const neighbor = (JSON.parse(text) as Record<string, FrrNeighbor>)[address];
    if (neighbor === undefined) throw new Error(`${service} has no neighbor ${address}`);
    return neighbor;
  }

  /** The gateways of the upstream router's kernel route to the VIP, in order; none when there is no route. */
  async vipGateways(): Promise<string[]> {
    const text = await this.exec('upstream', ['ip', '-json', 'route', 'show', `${vip}/32`]);
    const routes = JSON.parse(text.trim() === '' ? '[]' : text) as readonly {
      gateway?: string;
      nexthops?: readonly { gateway: string }[];
    }[];
    return routes
      .flatMap(({ gateway, nexthops }) => [gateway, ...(nexthops ?? []).map((hop) => hop.gateway)])
      .filter((gateway) => gateway !== undefined)
      .sort();
  }

  async waitForVipGateways(gateways: readonly string[]): Promise<void> {
    let last: readonly string[] = [];
    await waitUntil(
      async () => {
        last = await this.vipGateways();
        return last.join(' ') === [...gateways].sort().join(' ');
      },
      {
        what: `upstream's route to the VIP by [${gateways.join(' ')}]`,
        timeoutMs: 60_000,
        everyMs: 200,
        detail: async () => `[${last.join(' ')}]\n${await this.vtysh('upstream', 'show bgp summary')}`,
      },
    );
  }

  /** Asked by a shell: the daemon's own command takes long to start on a machine with a dozen busy containers. */
  async routerStatus(service: string): Promise<RouterStatus> {
    return (await this.#status(service, 9474)) as RouterStatus;
  }

  /** The same of a speaker. */
  async speakerStatus(service: string): Promise<SpeakerView> {
    return (await this.#status(service, 9475)) as SpeakerView;
  }

  async #status(service: string, port: number): Promise<unknown> {
    const request = 'GET /api/v1/status HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n';
    const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf '${request}' >&3 && timeout 20 cat <&3`;
    const answer = await this.exec(service, ['bash', '-c', script]);
    return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  }

  /** What keeps a service's process from system calls and privileges: the engine's security options, and /proc/PID/status. */
  async confinement(
    service: string,
  ): Promise<{ readonly options: readonly string[]; readonly process: string }> {
    const format = '{{json .HostConfig.SecurityOpt}}';
    const options = await this.docker(['inspect', '--format', format, await this.#container(service)]);
    return { options: JSON.parse(options), process: await this.exec(service, ['cat', '/proc/1/status']) };
  }

  /** Waits until exactly these masters are in the pool of a router. */
  async waitForPool(service: string, wanted: readonly Master[]): Promise<void> {
    const addresses = wanted.map(({ address }) => address).sort();
    let last = '';
    await waitUntil(
      async () => {
        const status = await this.routerStatus(service).catch(String);
        if (typeof status === 'string') {
          last = status; // it has just been started
          return false;
        }
        const members = status.vips.flatMap((entry) => entry.members);
        last = JSON.stringify(members, null, 2);
        const active = members.filter(({ inPool }) => inPool).map(({ nextHop }) => nextHop);
        return active.sort().join(' ') === addresses.join(' ');
      },
      {
        what: `pool [${addresses.join(' ')}] of ${service}`,
        timeoutMs: 120_000,
        everyMs: 500,
        detail: async () => `${last}\n${await this.log(service)}`,
      },
    );
  }

  /** The lab's client program, in the client's container. */
  async client(): Promise<ClientCalls> {
    const argv = ['exec', '-i', await this.#container('client'), 'node', 'scripts/lab/client/main.ts'];
    const child = spawn('docker', argv, {
      env: { ...process.env, ...this.#engine.environment },
      stdio: 'pipe',
    });
    this.#clients.push(child);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const calls = new ClientCalls(child.stdin, child.stdout);
    child.once('exit', (code) => calls.ended(new Error(`the client ended with status ${code}\n${stderr}`)));
    return calls;
  }

  /** What a service's container printed. */
  async log(service: string): Promise<string> {
    return this.docker(['logs', '--tail', '40', await this.#container(service)]);
  }
}

/** Compose 2 is a part of `docker`; Debian 12 has Compose 1. */
async function composeProgram(engine: ContainerEngine): Promise<readonly string[]> {
  const env = { ...process.env, ...engine.environment };
  const isOfDocker = (await tryCommand(['docker', 'compose', 'version'], { env })).code === 0;
  return isOfDocker ? ['docker', 'compose'] : ['docker-compose'];
}
