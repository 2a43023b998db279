// The UI as the server itself serves it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, settled, signIn, startBrowser, WIDE } from './browser.ts';
import { POLICY } from './front.ts';
import { type House, seed, startHouse } from './house.ts';

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
