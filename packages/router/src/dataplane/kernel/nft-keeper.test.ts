import { expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { NftKeeper, type NftLook } from './nft-keeper.ts';

it('makes each table though another is refused, says why, and tries again', async () => {
  let refused = 'bgp_lb_evidence';
  const made: string[] = [];
  const looks: NftLook[] = [];
  const clock = new ManualClock();
  const keeper = new NftKeeper({
    nft: {
      table: () => Promise.resolve(undefined),
      apply: (commands) => {
        const text = JSON.stringify(commands);
        if (text.includes(`"${refused}"`)) return Promise.reject(new Error(`no room for ${refused}`));
        made.push(...new Set(text.match(/bgp_lb\w*/g)));
        return Promise.resolve();
      },
    },
    clock,
    replyMark: 1,
    refuseUnrouted: true,
    vips: () => [{ prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 }],
    copies: () => new Map(),
    looked: (look) => looks.push(look),
  });
  await keeper.look();
  expect(made).toHaveLength(2);
  expect(looks).toMatchObject([{ problem: 'no room for bgp_lb_evidence' }]);
  refused = 'none';
  made.length = 0;
  clock.advance(2000);
  await keeper.idle();
  expect(made).toContain('bgp_lb_evidence');
  expect(looks.at(-1)?.problem).toBeUndefined();
});
