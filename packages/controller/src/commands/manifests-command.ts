import type { Command } from '@bgp-lb/daemon';
import { yamlDocuments } from './crds-command.ts';
import { manifests } from './manifests.ts';

export function manifestsCommand(image: string): Command {
  const text = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));
  return {
    syntax: 'manifests',
    describe: 'Print all that runs the controller in a cluster, for kubectl apply --server-side -f -',
    options: {
      'install-namespace': {
        type: 'string',
        requiresArg: true,
        default: 'bgp-lb-system',
        describe: 'where the controller runs',
      },
      namespace: {
        alias: 'n',
        type: 'string',
        requiresArg: true,
        describe: 'the only namespace that it looks at, and has rights in; all by default',
      },
      'watch-filter': {
        type: 'string',
        requiresArg: true,
        describe: 'only objects whose label cluster.x-k8s.io/watch-filter has this value',
      },
      image: { type: 'string', requiresArg: true, default: image, describe: 'container image' },
    },
    run({ args, write }) {
      write(
        yamlDocuments(
          manifests({
            home: String(args['install-namespace']),
            namespace: text(args['namespace']),
            watchFilter: text(args['watch-filter']),
            image: String(args['image']),
          }),
        ),
      );
    },
  };
}
