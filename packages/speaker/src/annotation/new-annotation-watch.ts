import { ApiClient, openKubeconfig } from '@bgp-lb/kubernetes';
import { systemClock } from '@bgp-lb/protocol/node';
import type { SpeakerContext } from '../speaker-context.ts';
import { AnnotationWatch } from './annotation-watch.ts';
import { WishMemory } from './wish-memory.ts';

/** The watch of the Node's drain annotation, when one is configured. To be started. @param changed the Node asks for something else now */
export function newAnnotationWatch(
  { config, logger }: Pick<SpeakerContext, 'config' | 'logger'>,
  changed: () => void,
): AnnotationWatch | undefined {
  const { annotation } = config.drain;
  if (annotation === undefined) return undefined;
  const { node, kubeconfig } = annotation;
  return new AnnotationWatch({
    node,
    client: new ApiClient({ open: () => openKubeconfig(kubeconfig), clock: systemClock }),
    memory: new WishMemory(config.bootstrap.stateDir, node, (message) => logger.warn(message)),
    clock: systemClock,
    tell: (message, isBad) => (isBad ? logger.warn(message) : logger.info(message)),
    changed,
  });
}
