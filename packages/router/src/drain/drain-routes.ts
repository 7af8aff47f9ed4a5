import { type ControlRoute, parseBody } from '@bgp-lb/daemon';
import { z } from 'zod';
import type { HostDrain } from './host-drain.ts';
import { LONGEST_DRAIN, type MemberDrains } from './member-drains.ts';

const order = z.strictObject({ wait: z.int().min(0).max(LONGEST_DRAIN) });
const member = z.string().min(1).max(64);
const memberOrder = z.strictObject({
  member,
  wait: z.int().min(0).max(LONGEST_DRAIN),
  force: z.boolean().default(false),
});

/** What the commands `drain` and `undrain` ask, of this load balancer and of members. */
export function drainRoutes(drain: HostDrain, members: MemberDrains): ControlRoute[] {
  return [
    { method: 'GET', path: '/api/v1/member-drains', handle: () => members.all() },
    {
      method: 'POST',
      path: '/api/v1/member-drains',
      handle: ({ body }) => members.drain(parseBody(memberOrder, body)),
    },
    {
      method: 'POST',
      path: '/api/v1/member-undrain',
      handle: ({ body }) => {
        members.undrain(parseBody(z.strictObject({ member }), body).member);
        return members.all();
      },
    },
    { method: 'GET', path: '/api/v1/drain', handle: () => drain.status() },
    {
      method: 'POST',
      path: '/api/v1/drain',
      handle: ({ body }) => {
        drain.begin(parseBody(order, body).wait);
        return drain.status();
      },
    },
    {
      method: 'POST',
      path: '/api/v1/undrain',
      handle: () => {
        drain.end();
        return drain.status();
      },
    },
  ];
}
