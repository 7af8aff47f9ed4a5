import type { Immutable } from '@bgp-lb/daemon';
import type * as z from 'zod';
import type { routerKeys } from './router-keys.ts';

/** The router's configuration: the file with all defaults filled in. Durations are milliseconds, addresses canonical text. */
export type RouterConfig = Immutable<z.output<typeof routerKeys>>;

/** Where the members of a VIP come from. */
type MembersConfig = RouterConfig['vips'][number]['members'];

/** A member of a list in the configuration. */
export type StaticMemberConfig = MembersConfig['static'][number];

/** How the Kubernetes API is reached. */
export type KubernetesConfig = NonNullable<RouterConfig['kubernetes']>;

/** A pair, or more, of load balancers on one link that pass the VIPs between them by VRRP. */
export type VrrpConfig = NonNullable<RouterConfig['vrrp']>;

export type NeighborConfig = RouterConfig['neighbors'][number];

/** The masters, by a range or one by one: the VIPs are imported from them. */
export type MasterNeighborConfig = Extract<NeighborConfig, { readonly role: 'master' }>;

/** An upstream router: the VIPs are advertised to it. */
export type UpstreamNeighborConfig = Extract<NeighborConfig, { readonly role: 'upstream' }>;

/** How packets get to the members, by `kind`. Keys of one kind are none of another. */
export type DataplaneConfig = RouterConfig['dataplane'];
export type KernelDataplaneConfig = Extract<DataplaneConfig, { readonly kind: 'kernel' }>;
export type HaproxyDataplaneConfig = Extract<DataplaneConfig, { readonly kind: 'haproxy' }>;
/** The kernel where it can serve every member, else HAProxy; with the settings of both. */
export type AutoDataplaneConfig = Extract<DataplaneConfig, { readonly kind: 'auto' }>;
/** A data plane of one kind. */
export type ChosenDataplaneConfig = KernelDataplaneConfig | HaproxyDataplaneConfig;

/** The configuration when it is known of which kind the data plane is. */
export type ChosenConfig = Omit<RouterConfig, 'dataplane'> & { readonly dataplane: ChosenDataplaneConfig };
