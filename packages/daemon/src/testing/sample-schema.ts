import * as z from 'zod';
import { type HostPort, hostPort, hostPrefix, ipAddress } from '../config/address.ts';
import { ConfigError, type Diagnostic } from '../config/diagnostic.ts';
import { duration } from '../config/duration.ts';
import { filePath } from '../config/file-path.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { asNumber, port } from '../config/number-field.ts';
import { percent } from '../config/percent.ts';

/** What the sample schema makes. */
export interface Sample {
  readonly asn: number;
  readonly routerId?: string | undefined;
  readonly vips: readonly { readonly address: string; readonly port: number }[];
  readonly neighbors: readonly {
    readonly name: string;
    readonly range?: string | undefined;
    readonly holdTime: number;
    readonly asn: number | readonly number[] | 'external';
  }[];
  readonly healthCheck: { readonly serverName: string; readonly interval: number; readonly rise: number };
  readonly panicThreshold: number;
  readonly api: { readonly socket: string; readonly listen?: HostPort | undefined };
  readonly routeToVip: boolean;
  readonly role: 'init' | 'join';
}

/** A schema with every kind of key that the daemons' schemas have. */
export const sampleSchema: z.ZodType<Sample> = z
  .object({
    asn: asNumber().describe('our AS'),
    routerId: ipAddress({ version: 4 }).optional(),
    vips: z
      .array(z.strictObject({ address: ipAddress(), port: port().default(6443) }))
      .min(1)
      .max(4),
    neighbors: z
      .array(
        z.strictObject({
          name: z.string(),
          range: hostPrefix().optional(),
          holdTime: duration({ min: 3000, max: 65_535_000 }).default(9000).describe('hold time'),
          asn: z.union([asNumber(), z.array(asNumber()), z.literal('external')]),
        }),
      )
      .default([]),
    healthCheck: z
      .strictObject({
        serverName: z.string().min(1).default('kubernetes'),
        interval: duration().prefault('1s'),
        rise: z.int().min(1).max(10).default(2),
      })
      .prefault({}),
    panicThreshold: percent().default(0.5),
    api: z
      .strictObject({ socket: filePath().default('/run/bgp-lb/router.sock'), listen: hostPort().optional() })
      .prefault({}),
    routeToVip: z.boolean().default(false),
    role: z.enum(['init', 'join']).default('init'),
  })
  .superRefine((config, context) => {
    if (config.vips.length > 1 && config.routeToVip) {
      context.addIssue({ code: 'custom', path: ['routeToVip'], message: 'needs a single VIP' });
    }
  });

/** The head that every sample document begins with: three lines. */
export const HEAD = 'apiVersion: bgp-lb.dev/v1alpha1\nkind: Router\nvips: [{ address: 10.0.0.100 }]\n';

/** Other sources of a load. */
export interface Sources {
  readonly argv?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
}

/** Loads a text by the sample schema under the name router.yaml. */
export function loadSample(text: string, sources: Sources = {}): LoadedConfig<Sample> {
  return loadConfig({
    schema: sampleSchema,
    file: 'router.yaml',
    text,
    apiVersion: 'bgp-lb.dev/v1alpha1',
    kind: 'Router',
    ...sources,
  });
}

/** The error that loading a text ends with. */
export function faultsOf(load: () => unknown): {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
} {
  try {
    load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { text: String(error), diagnostics: error.diagnostics };
  }
  throw new Error('the configuration was accepted');
}
