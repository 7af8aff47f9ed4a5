import { render } from '@bgp-lb/daemon';

/** A file that cloud-init writes (module write_files). Absolute path, text, mode as in `0600`. */
export interface CloudFile {
  readonly path: string;
  readonly content: string;
  readonly permissions: '0600' | '0644' | '0755';
}

/** What a machine gets at its first boot. */
export interface UserData {
  readonly files: readonly CloudFile[];
  /** Commands that are run once, in this order, as argument lists. */
  readonly commands: readonly (readonly string[])[];
}

/** The text of user-data: cloud-config, as cloud-init's own schema has it. */
export function cloudConfig({ files, commands }: UserData): string {
  const config = {
    write_files: files.map((file) => ({ ...file, owner: 'root:root' })),
    runcmd: commands,
  };
  return `#cloud-config\n${render(config, 'yaml')}`;
}
