import { checkReload } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { speakerSchema } from '../config/schema.ts';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { speakerReload } from './reload-rule.ts';

const base = {
  role: 'join',
  asn: 64512,
  vips: [{ address: '10.0.0.100' }],
  routers: [{ address: '10.0.0.10', asn: 64512 }],
};

function config(changes: object = {}): SpeakerConfig {
  return speakerSchema.parse({ ...base, ...changes });
}

describe('a reload', () => {
  it('takes other routers and another log level', () => {
    const routers = [{ address: '10.0.0.11', asn: 64512, holdTime: '3s' }];
    expect(() =>
      checkReload(config(), config({ routers, log: { level: 'debug' } }), speakerReload),
    ).not.toThrow();
  });

  it('takes nothing when anything else changed, and names all of it', () => {
    const next = config({
      asn: 64513,
      endpoint: 'api.example.net',
      apiServer: { interval: '1s', rise: 3 },
      routers: [{ address: '10.0.0.11', asn: 64512 }],
    });
    expect(() => checkReload(config(), next, speakerReload)).toThrow(
      /since asn, apiServer\.interval, apiServer\.rise, endpoint changed|since asn, endpoint, apiServer\.interval, apiServer\.rise changed/,
    );
    expect(() => checkReload(config(), config({ role: 'init' }), speakerReload)).toThrow(
      'since role changed',
    );
  });
});
