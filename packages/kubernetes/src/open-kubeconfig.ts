import type { ApiAccess } from './api-access.ts';

/** The access that a kubeconfig gives now. Loads the library that reads it, when it is first asked. @throws Error that names the file */
export async function openKubeconfig(file: string): Promise<ApiAccess> {
  const { kubeconfigAccess } = await import('./kubeconfig-access.ts');
  return await kubeconfigAccess(file);
}
