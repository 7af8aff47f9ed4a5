import { describe, expect, it } from 'vitest';
import { ControlReply } from './control-route.ts';
import { pageRoutes } from './page-routes.ts';

const request = { params: {}, query: {}, body: undefined };
const files = {
  '/': { contentType: 'text/html; charset=utf-8', body: '<p>page' },
  '/page.js': { contentType: 'text/javascript', body: 'let a' },
  '/page.css': { contentType: 'text/css', body: 'p {}' },
};

describe('the page of a daemon', () => {
  it('is served with all that it loads, and may load nothing from elsewhere', async () => {
    let reads = 0;
    const routes = pageRoutes(async () => {
      reads += 1;
      return JSON.stringify(files);
    });
    expect(reads).toBe(0);
    for (const route of routes) {
      const reply = await route.handle(request);
      expect(reply).toBeInstanceOf(ControlReply);
      expect(reply).toMatchObject(files[route.path as keyof typeof files]);
      const policy = (reply as ControlReply).headers['Content-Security-Policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
    }
    expect(routes.map(({ path }) => path)).toEqual(['/', '/page.js', '/page.css']);
    expect(reads).toBe(1);
  });

  it('says that it is not installed, until it is', async () => {
    let isThere = false;
    const [route] = pageRoutes(async () => {
      if (!isThere) throw new Error('ENOENT: no such file, bgp-lb-router-page.json');
      return JSON.stringify(files);
    });
    await expect(route?.handle(request)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('bgp-lb-router-page.json'),
    });
    isThere = true;
    expect(await route?.handle(request)).toBeInstanceOf(ControlReply);
  });
});
