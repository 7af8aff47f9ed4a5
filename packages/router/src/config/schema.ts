import { checkAcrossFields } from '@bgp-lb/daemon';
import type * as z from 'zod';
import { crossFieldFaults } from './cross-field.ts';
import type { RouterConfig } from './router-config.ts';
import { routerKeys } from './router-keys.ts';

/** `apiVersion` of the file. */
export const API_VERSION: string = 'bgp-lb.dev/v1alpha1';
/** `kind` of the file. */
export const CONFIG_KIND: string = 'Router';

/** Schema of the router's configuration file, with the rules that concern more than one key. */
export const routerSchema: z.ZodType<RouterConfig> = routerKeys.superRefine(
  checkAcrossFields(crossFieldFaults),
);
