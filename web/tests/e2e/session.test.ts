// Signing in: the start URL, a pasted token, an ended session; and that the token stays nowhere.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPage, startBrowser, type Watched, WIDE } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { type House, seed, startHouse } from './house.ts';

let house: House;
let front: Front;
let browser: Browser;
let watched: Watched | undefined;

beforeAll(async () => {
  house = await startHouse();
  await seed(house);
  front = await startFront(house.url, 'whole');
  browser = await startBrowser();
});

beforeEach(async () => {
  await watched?.close();
  watched = await openPage(browser, front.url, WIDE);
});

afterAll(async () => {
  await browser?.close();
  await front?.close();
  await house?.stop();
});

function page() {
  if (watched === undefined) throw new Error('no page');
  return watched.page;
}

const REFUSED = 'console: Failed to load resource: the server responded with a status of 401 (Unauthorized)';

test('the start URL opens a session, and the token is left nowhere', async () => {
  await page().goto(`/#token=${house.token}`);
  await page().getByText('Signed in as owner').waitFor();
  expect(page().url()).toBe(`${front.url}/`);
  const kept = await page().evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.documentElement.outerHTML + document.cookie);
  expect(kept).not.toContain(house.token);
  expect(kept).not.toContain('materia_session');
  const [cookie] = await page().context().cookies();
  expect(cookie).toMatchObject({ name: 'materia_session', httpOnly: true, sameSite: 'Strict' });
  await page().goBack().catch(() => null);
  expect(page().url()).not.toContain('token');
  expect(watched?.troubles).toEqual([]);
});

test('a start URL opens the page it was given for', async () => {
  await page().goto(`/settings/keys#token=${house.token}`);
  await page().getByRole('heading', { name: 'API keys' }).waitFor();
  expect(new URL(page().url()).pathname).toBe('/settings/keys');
});

test('a start URL of another server is refused with advice', async () => {
  await page().goto('/#token=wrong');
  await page().getByText('The token of the start URL is not known here').waitFor();
  expect(page().url()).toBe(`${front.url}/`);
  expect(watched?.troubles).toEqual([REFUSED]);
});

test('a start URL pasted into an open tab works too', async () => {
  await page().goto('/');
  await page().getByRole('heading', { name: 'Sign in' }).waitFor();
  await page().evaluate((token) => {
    location.hash = `token=${token}`;
  }, house.token);
  await page().getByText('Signed in as owner').waitFor();
  expect(page().url()).not.toContain('token');
});

test('a pasted token signs in; an empty or a wrong one is told so', async () => {
  await page().goto('/audit');
  const field = page().getByLabel('Token or API key');
  const submit = page().getByRole('button', { name: 'Sign in' });
  await submit.click();
  await page().getByText('Paste a token or an API key').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await field.fill('wrong');
  await submit.click();
  await page().getByText('This server does not know that token').waitFor();
  expect(await field.inputValue()).toBe('');
  expect(await field.getAttribute('type')).toBe('password');
  await field.fill(house.token);
  await field.press('Enter');
  await page().getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  expect(watched?.troubles.filter((trouble) => trouble !== REFUSED)).toEqual([]);
});

test('a session that ends shows the sign-in page, and leads back', async () => {
  await page().goto(`/audit#token=${house.token}`);
  await page().locator('tbody tr').first().waitFor();
  await page().context().clearCookies();
  await page().getByLabel('Actor').fill('owner');
  await page().getByRole('button', { name: 'Search' }).click();
  await page().getByText('Your session has ended').waitFor();
  await page().getByLabel('Token or API key').fill(house.token);
  await page().getByRole('button', { name: 'Sign in' }).click();
  await page().locator('tbody tr').first().waitFor();
  expect(new URL(page().url()).search).toBe('?actor_id=owner');
});

test('a person without the role is told so, and still has the rest', async () => {
  const made = await fetch(`${house.url}/api/tools/create_key`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ actor_id: 'reader', roles: ['viewer'] }),
  });
  const { key } = (await made.json()) as { key: string };
  await page().goto(`/#token=${key}`);
  await page().getByText('Signed in as reader').waitFor();
  await page().locator('.tile').getByText('not for your roles').first().waitFor();
  await page().locator('.tile').getByText('Working').waitFor();
  await page().goto('/audit');
  await page().getByText('You may not do this').waitFor();
  await page().getByText('`reader` may not call `audit_search`').waitFor();
});

test('a server that is gone is said to be gone', async () => {
  await page().goto(`/audit#token=${house.token}`);
  await page().locator('tbody tr').first().waitFor();
  await page().route('**/api/tools/**', (route) => route.abort());
  await page().getByRole('button', { name: 'Search' }).click();
  await page().getByText('The server does not answer').waitFor();
  await page().unroute('**/api/tools/**');
  await page().getByRole('button', { name: 'Try again' }).click();
  await page().locator('.error').waitFor({ state: 'detached' });
});
