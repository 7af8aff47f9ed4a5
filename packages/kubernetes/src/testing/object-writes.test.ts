import { describe, expect, it } from 'vitest';
import { apiRequest } from './api-request.ts';
import { ObjectHistory } from './object-history.ts';
import { definitionOf, ObjectWrites } from './object-writes.ts';

const PATH = '/apis/example.net/v1/namespaces/a/things';
const text = { type: 'string' };
const definition = definitionOf({
  spec: {
    group: 'example.net',
    names: { kind: 'Thing', plural: 'things' },
    versions: [
      {
        name: 'v1',
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', maximum: 9, default: 3 },
                  note: text,
                  fixed: text,
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: text, color: text } },
                  },
                },
                'x-kubernetes-validations': [
                  { rule: '!has(oldSelf.fixed) || self.fixed == oldSelf.fixed', message: 'fixed is fixed' },
                ],
              },
              status: { type: 'object', properties: { phase: text } },
            },
          },
        },
      },
    ],
  },
});

function server() {
  const writes = new ObjectWrites(new ObjectHistory());
  writes.define(definition);
  const write = (method: string, path: string, body: unknown, contentType: string, query = {}) => {
    const request = apiRequest(method, path, false);
    if (request === undefined) throw new Error(path);
    return writes.write({ ...request, body, contentType, query });
  };
  const head = { apiVersion: 'example.net/v1', kind: 'Thing' };
  const apply = (
    manager: string,
    fields: object,
    options: { force?: string; sub?: string; metadata?: object } = {},
  ) =>
    write(
      'PATCH',
      `${PATH}/one${options.sub ?? ''}`,
      { ...head, metadata: { name: 'one', ...options.metadata }, ...fields },
      'application/apply-patch+yaml',
      { fieldManager: manager, force: options.force ?? 'false' },
    );
  const merge = (body: object, sub = '') =>
    write('PATCH', `${PATH}/one${sub}`, body, 'application/merge-patch+json', {
      fieldManager: 'kubectl-edit',
    });
  const get = (): Readonly<Record<string, unknown>> => {
    const request = apiRequest('GET', `${PATH}/one`, false);
    return request === undefined ? {} : writes.get(request);
  };
  return { write, apply, merge, get, head };
}

describe('server-side apply', () => {
  it('makes an object, with defaults and without what the schema does not know', () => {
    const { apply, get } = server();
    expect(apply('a', { spec: { note: 'x', unknown: 1 } }).status).toBe(201);
    expect(get()).toMatchObject({
      metadata: { generation: 1, namespace: 'a' },
      spec: { note: 'x', size: 3 },
    });
    expect(get()['spec']).not.toHaveProperty('unknown');
  });

  it('takes away what a manager left out, and nothing of others', () => {
    const { apply, get } = server();
    apply('a', { spec: { note: 'x', parts: [{ name: 'p', color: 'red' }] } });
    apply('b', { spec: { fixed: 'f', parts: [{ name: 'q', color: 'blue' }] } });
    apply('a', { spec: { parts: [] } });
    expect(get()['spec']).toEqual({ size: 3, fixed: 'f', parts: [{ name: 'q', color: 'blue' }] });
  });

  it('is refused where another manager has set another value, unless it forces', () => {
    const { apply, get } = server();
    apply('a', { spec: { note: 'x' } });
    expect(() => apply('b', { spec: { note: 'y' } })).toThrow('conflict with "a": .spec.note');
    expect(() => apply('b', { spec: { note: 'x' } })).not.toThrow();
    apply('b', { spec: { note: 'y' } }, { force: 'true' });
    // It is b's alone now.
    apply('a', { spec: {} });
    expect(get()['spec']).toMatchObject({ note: 'y' });
  });

  it('is refused too where an edit has set it', () => {
    const { apply, merge } = server();
    apply('a', { spec: { note: 'x' } });
    merge({ spec: { note: 'edited' } });
    expect(() => apply('a', { spec: { note: 'x' } })).toThrow('conflict with "kubectl-edit"');
  });

  it('that changes nothing makes no version and no event', () => {
    const { apply, get } = server();
    apply('a', { spec: { note: 'x' } });
    const before = get();
    expect(apply('a', { spec: { note: 'x' } }).events).toEqual([]);
    expect(get()).toEqual(before);
  });

  it('may name the object and the version that it means', () => {
    const { apply, get } = server();
    expect(() => apply('a', { spec: {} }, { metadata: { uid: 'gone' } })).toThrow('Precondition failed: UID');
    apply('a', { spec: { note: 'x' } });
    const { resourceVersion } = get()['metadata'] as { resourceVersion: string };
    apply('b', { spec: { fixed: 'f' } }, { metadata: { resourceVersion } });
    expect(() => apply('b', { spec: {} }, { metadata: { resourceVersion } })).toThrow('has been modified');
  });
});

describe('an object of the server', () => {
  it('has its status written by the path of the status alone, and its spec by the other', () => {
    const { apply, merge, get } = server();
    expect(() => apply('a', { status: { phase: 'x' } }, { sub: '/status' })).toThrow('not found');
    apply('a', { spec: { note: 'x' }, status: { phase: 'lost' } });
    expect(get()).not.toHaveProperty('status');
    merge({ status: { phase: 'Good' }, spec: { note: 'lost' } }, '/status');
    expect(get()).toMatchObject({
      status: { phase: 'Good' },
      spec: { note: 'x' },
      metadata: { generation: 1 },
    });
    merge({ spec: { note: 'y' }, status: null });
    expect(get()).toMatchObject({ status: { phase: 'Good' }, metadata: { generation: 2 } });
  });

  it.each([
    [{ spec: { size: 10 } }, 'spec.size in body should be less than or equal to 9'],
    [{ spec: { size: 'x' } }, 'must be of type integer'],
    [{ spec: { parts: [{ color: 'red' }] } }, 'spec.parts[0].name: Required value'],
    [{ spec: { parts: [{ name: 'p' }, { name: 'p' }] } }, 'Duplicate value'],
    [{ metadata: { labels: { 'a/b/c': '' } } }, 'qualified name'],
  ])('%j is refused with 422', (body, sentence) => {
    const { apply, merge } = server();
    apply('a', { spec: {} });
    expect(() => merge(body)).toThrow(sentence);
  });

  it('keeps to rules of changes', () => {
    const { apply, merge } = server();
    apply('a', { spec: {} });
    merge({ spec: { fixed: 'once' } });
    expect(() => merge({ spec: { fixed: 'twice' } })).toThrow('fixed is fixed');
  });

  it('is refused a write from an older version, and a second one of its name', () => {
    const { write, apply, get, head } = server();
    apply('a', { spec: {} });
    const old = get();
    write('PUT', `${PATH}/one`, { ...old, spec: { note: 'x' } }, 'application/json');
    expect(() => write('PUT', `${PATH}/one`, old, 'application/json')).toThrow('has been modified');
    const again = { ...head, metadata: { name: 'one' }, spec: {} };
    expect(() => write('POST', PATH, again, 'application/json')).toThrow('already exists');
  });

  it('stays while it has a finalizer, and goes with the last one', () => {
    const { write, apply, merge, get } = server();
    apply('a', { spec: {} });
    merge({ metadata: { finalizers: ['x'] } });
    write('DELETE', `${PATH}/one`, {}, '');
    expect(get()['metadata']).toHaveProperty('deletionTimestamp');
    const { events } = merge({ metadata: { finalizers: [] } });
    expect(events.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
    expect(get).toThrow('not found');
  });
});
