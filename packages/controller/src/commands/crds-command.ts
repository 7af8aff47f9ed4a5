import type { Command } from '@bgp-lb/daemon';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../crd/custom-resources.ts';

/** One YAML document each, as kubectl takes them. */
export function yamlDocuments(objects: readonly object[]): string {
  return objects
    .map((object) => `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join('');
}

export const crdsCommand: Command = {
  syntax: 'crds',
  describe: 'Print the CustomResourceDefinitions, for kubectl apply --server-side -f -',
  run({ write }) {
    write(yamlDocuments(customResourceDefinitions()));
  },
};
