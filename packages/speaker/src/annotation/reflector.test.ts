import { describe, expect, it } from 'vitest';
import { drainWishOf } from './drain-wish.ts';
import { annotationRbac } from './rbac.ts';
import {
  initialReflector,
  RESYNC,
  type ReflectorEvent,
  type ReflectorState,
  reflect,
  retryDelay,
  watchEvent,
} from './reflector.ts';

const node = { annotation: 'true', resourceVersion: '7' };
const listed: ReflectorEvent = { type: 'listed', node, resourceVersion: '9' };
const broken: ReflectorEvent = { type: 'failed', status: undefined, reason: 'ECONNREFUSED', lastedMs: 3 };

function after(events: readonly ReflectorEvent[], from: ReflectorState = initialReflector, now = 1_000) {
  return events.reduce((state, event) => reflect(state, event, now), from);
}

describe('the reflector', () => {
  it('lists, then watches from the version of the list, and from each later one', () => {
    expect(initialReflector.next).toBe('list');
    expect(after([listed])).toMatchObject({ next: 'watch', resourceVersion: '9', node, isThere: true });
    expect(after([listed, { type: 'bookmark', resourceVersion: '20' }])).toMatchObject({
      next: 'watch',
      resourceVersion: '20',
      node,
    });
    const changed = { annotation: undefined, resourceVersion: '21' };
    const state = after([listed, { type: 'changed', node: changed }]);
    expect(state).toMatchObject({ resourceVersion: '21', node: changed });
  });

  it('keeps the last answer through every failure and when the Node is deleted or not listed', () => {
    const failures = [undefined, 401, 403, 410, 429, 500].map(
      (status): ReflectorEvent => ({ type: 'failed', status, reason: 'x', lastedMs: 3 }),
    );
    for (const event of [...failures, { type: 'deleted', resourceVersion: '30' } as const]) {
      expect(after([listed, event]).node).toEqual(node);
    }
    expect(after([listed, { ...listed, node: undefined }])).toMatchObject({ node, isThere: false });
  });

  it('lists again after any refusal, and goes on from where it was after a broken connection', () => {
    for (const status of [401, 403, 410, 500]) {
      const refused: ReflectorEvent = { type: 'failed', status, reason: 'x', lastedMs: 3 };
      expect(after([listed, refused])).toMatchObject({ next: 'list', failures: 1, error: 'x' });
    }
    expect(after([listed, broken])).toMatchObject({ next: 'watch', resourceVersion: '9', failures: 1 });
    expect(after([broken])).toMatchObject({ next: 'list', succeededAt: undefined });
  });

  it('lists again after ten minutes, and not before', () => {
    const ended: ReflectorEvent = { type: 'ended', lastedMs: 25_000 };
    const begin = after([listed]);
    expect(reflect(begin, ended, 1_000 + RESYNC - 1).next).toBe('watch');
    expect(reflect(begin, ended, 1_000 + RESYNC).next).toBe('list');
  });

  it('slows down with each failure, up to 15 s and with jitter, also where lists succeed and watches do not', () => {
    expect(retryDelay(after([listed]), 0.9)).toBe(0);
    expect(retryDelay(after([broken]), 0)).toBe(250);
    expect(retryDelay(after([broken]), 1)).toBe(500);
    expect(retryDelay(after([broken, broken]), 1)).toBe(1_000);
    expect(retryDelay(after(new Array<ReflectorEvent>(2_000).fill(broken)), 1)).toBe(15_000);
    const useless: ReflectorEvent[] = [listed, { type: 'ended', lastedMs: 2 }];
    expect(retryDelay(after([...useless, ...useless, ...useless]), 1)).toBe(2_000);
    // A watch that worked for long before it broke begins anew.
    const late: ReflectorEvent = { ...broken, lastedMs: 60_000 };
    expect(retryDelay(after([listed, broken, broken, late]), 1)).toBe(500);
    expect(retryDelay(after([broken, broken, late]), 1)).toBe(2_000);
    expect(after([broken, listed, { type: 'bookmark', resourceVersion: '1' }]).failures).toBe(0);
  });

  it('knows what a watch says, and leaves out what it does not know', () => {
    expect(watchEvent('ADDED', node, undefined)).toEqual({ type: 'changed', node });
    expect(watchEvent('DELETED', node, undefined)).toEqual({ type: 'deleted', resourceVersion: '7' });
    expect(watchEvent('BOOKMARK', node, undefined)).toEqual({ type: 'bookmark', resourceVersion: '7' });
    expect(watchEvent('ERROR', node, 410)).toMatchObject({ type: 'failed', status: 410 });
    expect(watchEvent('ERROR', node, 'strange')).toMatchObject({ type: 'failed', status: 500 });
    expect(watchEvent('NEWS', node, undefined)).toBeUndefined();
  });
});

describe('the annotation', () => {
  it('drains with true or without text, forces with force, and means nothing else', () => {
    const texts = [undefined, 'false', 'true', '', 'force', 'yes'];
    expect(texts.map(drainWishOf)).toEqual(['none', 'none', 'drain', 'drain', 'force', undefined]);
  });

  it('needs the rights to list and watch its own Node, and no other', () => {
    const text = JSON.stringify(annotationRbac('master-1'));
    expect(text).toContain('"resources":["nodes"],"resourceNames":["master-1"],"verbs":["list","watch"]');
    expect(text.match(/"verbs"/g)).toHaveLength(1);
  });
});
