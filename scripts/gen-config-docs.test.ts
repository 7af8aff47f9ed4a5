import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('the pages made of the configuration schemas', () => {
  it('are up to date', () => {
    const script = fileURLToPath(new URL('./gen-config-docs.ts', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: 'docs: the configuration pages are up to date\n',
      stderr: '',
    });
  });
});
