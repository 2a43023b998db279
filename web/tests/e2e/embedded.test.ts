// The UI as the server itself serves it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, settled, signIn, startBrowser, WIDE } from './browser.ts';
import { POLICY } from './front.ts';
import { type House, seed, startHouse } from './house.ts';

/** Over the wire, with all that the first page asks for. */
const FIRST_PAGE_BYTES_MAX = 170_000;
const NEXT_VISIT_BYTES_MAX = 10_000;

let house: House;
let browser: Browser;

const read = (path: string) => fetch(house.url + path, { headers: { accept: 'text/html' } });

beforeAll(async () => {
  house = await startHouse();
  await seed(house);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

test('every address of a page is the page, with the strict policy; files are typed and cached by their hash', async () => {
  for (const [path, status] of [
    ['/', 200],
    ['/search', 200],
    ['/graph', 200],
    ['/herbs', 200],
    ['/herbs/testwort', 200],
    ['/documents', 200],
    ['/documents/PRD-006/changes', 200],
    ['/tasks', 200],
    ['/audit', 200],
    ['/audit/events/0199f000-0000-7000-8000-000000000000', 200],
    ['/audit/integrity', 200],
    ['/settings/keys', 200],
    ['/no/such/page', 404],
  ] as const) {
    const answer = await read(path);
    const text = await answer.text();
    expect([path, answer.status, answer.headers.get('content-security-policy')]).toEqual([path, status, POLICY]);
    expect(text).toContain('id="root"');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? '';
    const file = await read(script);
    expect(file.headers.get('content-type')).toMatch(/^(?:text|application)\/javascript/);
    expect(file.headers.get('cache-control')).toContain('immutable');
    await file.body?.cancel();
  }
});

test('files come packed as the browser takes them, and the page is sent again only when it has changed', async () => {
  const ask = (path: string, headers: Record<string, string>) => fetch(house.url + path, { headers });
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await read('/')).text())?.[1] ?? '';
  for (const path of ['/', '/search', script]) {
    const texts = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (packing) => {
        const answer = await ask(path, { 'accept-encoding': packing });
        expect([path, answer.headers.get('content-encoding') ?? 'identity', answer.headers.get('vary')]).toEqual([path, packing, 'accept-encoding']);
        return answer.text();
      }),
    );
    expect(new Set(texts).size, 'the packings hold the same text').toBe(1);
  }
  const first = await ask('/', { 'accept-encoding': 'br' });
  const etag = first.headers.get('etag') ?? '';
  expect([first.headers.get('cache-control'), etag]).toEqual(['no-cache', expect.stringMatching(/^"[0-9a-f]{64}"$/)]);
  const again = await ask('/tasks', { 'accept-encoding': 'br', 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await ask('/no/such/page', { 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(404);
  expect((await ask(`${script}.br`, {})).status).toBe(404);
  for (const path of ['/api/tools', '/health', '/api/openapi.json']) {
    const answer = await ask(path, { 'accept-encoding': 'br, gzip', authorization: `Bearer ${house.token}` });
    expect([path, answer.status, answer.headers.get('content-encoding')]).toEqual([path, 200, null]);
    await answer.body?.cancel();
  }
});

test('the first page is light, and on the next visit hardly anything is sent', async () => {
  const { page, close } = await openPage(browser, house.url, WIDE);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const asked = new Map<string, string>();
  let sent: { path: string; bytes: number }[] = [];
  network.on('Network.requestWillBeSent', ({ requestId, request }) => asked.set(requestId, new URL(request.url).pathname));
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    sent.push({ path: asked.get(requestId) ?? '', bytes: encodedDataLength });
  });
  const visit = async (path: string, bytesMax: number) => {
    sent = [];
    await page.goto(path);
    await page.locator('.rail-actor').waitFor({ state: 'attached' });
    await settled(page);
    await page.waitForLoadState('networkidle');
    const bytes = sent.reduce((sum, one) => sum + one.bytes, 0);
    expect(bytes, JSON.stringify(sent)).toBeLessThanOrEqual(bytesMax);
  };
  await visit(`/#token=${house.token}`, FIRST_PAGE_BYTES_MAX);
  await visit('/', NEXT_VISIT_BYTES_MAX);
  await close();
});

test('from the start URL to a verified proof, without a single trouble', async () => {
  const { page, troubles, close } = await openPage(browser, house.url, WIDE);
  await signIn(page, house.token);
  await page.goto('/audit?operation=get_next_available_id&outcome=ok');
  await page.locator('tbody a').first().click();
  await page.getByRole('button', { name: 'Get the proof and check it here' }).click();
  await page.getByText('Proven', { exact: true }).waitFor();
  for (const path of ['/', '/search', '/graph', '/herbs', '/documents', '/documents/new', '/tasks', '/audit/integrity', '/audit/proof', '/settings/keys', '/settings/browser']) {
    await page.goto(path);
    await settled(page);
  }
  expect(troubles).toEqual([]);
  await close();
});
