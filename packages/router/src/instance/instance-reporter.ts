import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from '@bgp-lb/kubernetes';
import type { Clock } from '@bgp-lb/protocol/node';
import type { KubernetesConfig, RouterConfig } from '../config/router-config.ts';
import { kubernetesClient } from '../membership/kubernetes-client.ts';
import type { MemberView } from '../pool/member-view.ts';
import { instanceReports } from './instance-report.ts';

/** Milliseconds between two reports that say the same. Who reads them gives a load balancer up after four. */
const HEARTBEAT = 10_000;
/** Milliseconds between two looks at whether there is something new to say. */
const LOOK = 1_000;
/** Milliseconds for one answer. */
const LIMIT = 8_000;

export interface InstanceReporterOptions {
  /** The configuration that counts. */
  readonly config: () => RouterConfig;
  /** Members by VIP. */
  readonly pools: ReadonlyMap<string, { members(): readonly MemberView[] }>;
  /** What keeps the data plane from being as the router wants it. */
  readonly drift: () => string | undefined;
  /** What keeps this load balancer from carrying a VIP (`10.0.0.100/32`). */
  readonly hindrance: (vip: string) => string | undefined;
  readonly version: string;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Says once that reports are not taken, and once that they are again. */
  readonly problem: (text: string) => void;
}

/** Writes what this load balancer sees to the status of its LoadBalancerInstance, where the configuration names one. */
export class InstanceReporter {
  readonly #options: InstanceReporterOptions;
  readonly #end = new AbortController();
  #cancel: () => void = () => undefined;
  #client: ApiClient | undefined;
  #access: KubernetesConfig | undefined;
  /** Of the last report that was taken. */
  #sent: { readonly reports: unknown; readonly at: number } | undefined;
  #isFailing = false;

  constructor(options: InstanceReporterOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#end.abort();
    this.#cancel();
    this.#client?.close();
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const { kubernetes } = this.#options.config();
      if (kubernetes?.instance !== undefined) await this.#report(kubernetes, kubernetes.instance);
      await this.#pause();
    }
  }

  async #report(
    kubernetes: KubernetesConfig,
    { namespace, name }: NonNullable<KubernetesConfig['instance']>,
  ): Promise<void> {
    const { config, pools, drift, hindrance, version, clock, wallClock, problem } = this.#options;
    const loadBalancers = instanceReports(config(), pools, drift(), hindrance);
    const isNew = !isDeepStrictEqual(this.#sent?.reports, loadBalancers);
    if (!isNew && this.#sent !== undefined && clock.now() - this.#sent.at < HEARTBEAT) return;
    // Counted from before the request: who reads it sees the one after in time.
    const began = clock.now();
    const heartbeat = new Date(wallClock()).toISOString();
    try {
      await this.#clientOf(kubernetes).send(
        {
          method: 'PATCH',
          path: `/apis/bgp-lb.dev/v1alpha1/namespaces/${namespace}/loadbalancerinstances/${name}/status`,
          query: { fieldManager: 'bgp-lb-router' },
          contentType: 'application/merge-patch+json',
          body: { status: { heartbeat, version, loadBalancers } },
        },
        AbortSignal.any([this.#end.signal, AbortSignal.timeout(LIMIT)]),
      );
      this.#sent = { reports: loadBalancers, at: began };
      if (this.#isFailing) problem(`LoadBalancerInstance ${namespace}/${name} takes reports again`);
      this.#isFailing = false;
    } catch (error) {
      if (this.#end.signal.aborted || this.#isFailing) return;
      this.#isFailing = true;
      problem(
        `LoadBalancerInstance ${namespace}/${name} takes no report: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  #clientOf(kubernetes: KubernetesConfig): ApiClient {
    if (this.#client === undefined || !isDeepStrictEqual(this.#access, kubernetes)) {
      this.#client?.close();
      this.#client = kubernetesClient(kubernetes, this.#options.clock, () => []);
      this.#access = kubernetes;
    }
    return this.#client;
  }

  async #pause(): Promise<void> {
    if (this.#end.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(LOOK, resolve);
      this.#cancel = () => {
        cancel();
        resolve();
      };
    });
  }
}
