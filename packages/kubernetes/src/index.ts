export {
  type ApiAccess,
  type ApiServer,
  type TokenAccess,
  tokenAccess,
} from './api-access.ts';
export { ApiClient, type ApiClientOptions, type ObjectRequest } from './api-client.ts';
export { ApiError } from './api-error.ts';
export type { Clock } from './clock.ts';
export { type Credential, type CredentialState, credentialState } from './credential.ts';
export {
  isJsonObject,
  type KubernetesObject,
  kubernetesObject,
  type ObjectMeta,
} from './kubernetes-object.ts';
export type { ObjectSelection } from './list-objects.ts';
export { openKubeconfig } from './open-kubeconfig.ts';
export {
  Reflector,
  type ReflectorHandlers,
  type ReflectorOptions,
  type ReflectorStatus,
} from './reflector.ts';
