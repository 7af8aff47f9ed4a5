import { checkAcrossFields } from '@bgp-lb/daemon';
import type * as z from 'zod';
import { crossFieldFaults } from './cross-field.ts';
import type { SpeakerConfig } from './speaker-config.ts';
import { speakerKeys } from './speaker-keys.ts';

/** Schema of /etc/bgp-lb/speaker.yaml without `apiVersion` and `kind`, with the rules that concern more than one key. */
export const speakerSchema: z.ZodType<SpeakerConfig> = speakerKeys.superRefine(
  checkAcrossFields(crossFieldFaults),
);
