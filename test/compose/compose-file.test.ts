import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tryCommand } from '../../scripts/lab/run-command.ts';

const file = new URL('../../docker-compose.yml', import.meta.url).pathname;
/**
 * Compose 1.29 is a program of Debian's and holds a file without `version` against the schema of the Compose Specification, which it carries.
 * Compose 2 is a part of docker, where it is installed.
 */
const programs = [['docker-compose'], ['docker', 'compose']] as const;

/** What a program says of a file, without an engine. */
async function judged(program: readonly string[], text: string): Promise<{ code: number; said: string }> {
  const argv = [...program, '--project-name', 'bgp-lb', '--project-directory', '/', '-f', '-'];
  const { code, stderr } = await tryCommand([...argv, 'config', '--quiet'], { input: text });
  return { code, said: stderr };
}

describe('docker-compose.yml', () => {
  it('is what every Compose here takes, one at least, and each of them looks at it', async () => {
    const text = readFileSync(file, 'utf8');
    const found = await Promise.all(
      programs.map(async (program) => {
        const { code } = await tryCommand([...program, 'version']);
        return code === 0 ? [program] : [];
      }),
    );
    expect(found.flat().length).toBeGreaterThan(0);
    for (const program of found.flat()) {
      expect(await judged(program, text)).toMatchObject({ code: 0 });
      const wrong = await judged(program, text.replace('cap_drop: [ALL]', 'cap_drip: [ALL]'));
      expect(wrong.code).not.toBe(0);
      expect(wrong.said).toContain('cap_drip');
    }
  });

  it('has nothing that Compose 2 calls obsolete', () => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/^version:/m);
    expect(text).not.toMatch(/^\s+(links|external_links|volumes_from|cpu_count|scale):/m);
  });
});
