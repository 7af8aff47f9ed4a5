/**
 * The lab's kubelet: once started it runs the static pods whose manifests are in the folder, and more as they come.
 * kubeadm calls it over a Unix socket where a real one would call systemctl, or write a manifest that inotify reports.
 * It restarts nothing: what ends in a test stays ended until the test starts it again.
 */
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { serveUnix } from './unix-http.ts';

/** A static pod: it starts when all its files are there. */
export interface StaticPod {
  /** Manifests, relative to the manifest folder. A kube-apiserver needs etcd's too: until then it only crashes. */
  readonly manifests: readonly string[];
  start(): Promise<unknown>;
}

/** The kubelet of one master. */
export class Kubelet {
  readonly #folder: string;
  readonly #pods: readonly StaticPod[];
  readonly #running = new Set<StaticPod>();
  #server: Server | undefined;
  #isStarted = false;

  constructor(manifestFolder: string, pods: readonly StaticPod[]) {
    this.#folder = manifestFolder;
    this.#pods = pods;
  }

  /** Listens on the socket: `POST /start` is `systemctl start kubelet`, `POST /sync` a change in the folder. */
  async listen(socketPath: string): Promise<void> {
    this.#server = await serveUnix(socketPath, async (_method, path) => {
      if (path === '/start') this.#isStarted = true;
      if (this.#isStarted) await this.#sync();
    });
    this.#server.unref();
  }

  /** Forgets what runs, as a host that is switched off does. The socket is closed. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    this.#running.clear();
    this.#isStarted = false;
  }

  async #sync(): Promise<void> {
    for (const pod of this.#pods) {
      if (this.#running.has(pod)) continue;
      if (!pod.manifests.every((name) => existsSync(`${this.#folder}/${name}`))) continue;
      this.#running.add(pod);
      await pod.start();
    }
  }
}
