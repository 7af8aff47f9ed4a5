import { openApiWarnings } from '@bgp-lb/daemon';
import type { SpeakerConfig } from './speaker-config.ts';

/** What is allowed and yet seldom wanted, one sentence each. */
export function speakerWarnings({ api }: SpeakerConfig): readonly string[] {
  return openApiWarnings(api.listen);
}
