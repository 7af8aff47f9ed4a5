import type { Immutable } from '@bgp-lb/daemon';
import type * as z from 'zod';
import type { speakerKeys } from './speaker-keys.ts';

/** The speaker's configuration: the file with all defaults filled in. Durations are milliseconds, addresses canonical text. */
export type SpeakerConfig = Immutable<z.output<typeof speakerKeys>>;

/** A virtual address of the control plane. */
export type VipConfig = SpeakerConfig['vips'][number];

/** A router (load balancer) that the VIPs are advertised to. */
export type RouterPeerConfig = SpeakerConfig['routers'][number];

/** `apiVersion` of the file. */
export const API_VERSION = 'bgp-lb.dev/v1alpha1';
/** `kind` of the file. */
export const KIND = 'Speaker';
