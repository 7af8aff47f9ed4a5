/**
 * The lab's kubelet: once started it runs the static pods whose manifests are in the folder, and more as they come.
 * kubeadm calls it over a Unix socket where a real one would call systemctl, or write a manifest that inotify reports.
 * It restarts what has ended only where a lab asks for that: in most tests what ends stays ended until the test starts it.
 */
import { appendFileSync, existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostProcess } from './host-process.ts';
import { serveUnix } from './unix-http.ts';

/** A static pod: it starts when all its files are there. */
export interface StaticPod {
  /** Manifests, relative to the manifest folder. A kube-apiserver needs etcd's too: until then it only crashes. */
  readonly manifests: readonly string[];
  start(): Promise<unknown>;
  /** What it runs as; undefined before the first start. */
  process(): HostProcess | undefined;
}

/** Where a kubelet has its files. */
export interface KubeletFiles {
  readonly manifestFolder: string;
  /** Pods that could not be started are told here, and nowhere else, as with a real one. */
  readonly logFile: string;
  /** Milliseconds from the end of a pod to its next start; undefined for never. A real kubelet's first restart is at once. */
  readonly restartDelay: number | undefined;
}

/** The kubelet of one master. */
export class Kubelet {
  readonly #files: KubeletFiles;
  readonly #pods: readonly StaticPod[];
  readonly #running = new Set<StaticPod>();
  #server: Server | undefined;
  #isStarted = false;
  /** Changes when the host is switched off or reset: what was to be restarted is not. */
  #life = 0;

  constructor(files: KubeletFiles, pods: readonly StaticPod[]) {
    this.#files = files;
    this.#pods = pods;
  }

  /** Listens on the socket: `POST /start` is `systemctl start kubelet`, `POST /sync` a change in the folder. */
  async listen(socketPath: string): Promise<void> {
    this.#server = await serveUnix(socketPath, (_method, path) => {
      if (path === '/start') this.start();
      else if (this.#isStarted) this.#sync();
    });
    this.#server.unref();
  }

  /** Starts the pods whose manifests are there, and from now on those that a sync finds. */
  start(): void {
    this.#isStarted = true;
    this.#sync();
  }

  /** Forgets what runs, as a host that is switched off does. The socket is closed. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.#running.clear();
    this.#isStarted = false;
    this.#life += 1;
  }

  #sync(): void {
    for (const pod of this.#pods) {
      if (this.#running.has(pod)) continue;
      if (!pod.manifests.every((name) => existsSync(`${this.#files.manifestFolder}/${name}`))) continue;
      this.#running.add(pod);
      void this.#run(pod);
    }
  }

  async #run(pod: StaticPod): Promise<void> {
    const life = this.#life;
    const { logFile, restartDelay } = this.#files;
    do {
      try {
        await pod.start();
      } catch (error) {
        appendFileSync(logFile, `${error instanceof Error ? error.stack : String(error)}\n`);
      }
      if (restartDelay === undefined) return;
      await pod.process()?.exited;
      await sleep(restartDelay);
    } while (life === this.#life);
  }
}
