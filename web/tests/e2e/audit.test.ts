// The audit pages by mouse and by keyboard alone: search, follow, prove, export; and what a dishonest server gets.

import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPage, settled, signIn, startBrowser, type Watched, WIDE } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { type House, SEEDED, seed, startHouse } from './house.ts';

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
  front.lie = 'none';
  front.answers.clear();
  watched = await openPage(browser, front.url, WIDE, { permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(watched.page, house.token);
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

const rows = () => page().locator('tbody tr');
const FOUND = '/audit?operation=get_next_available_id&outcome=ok';

test('by mouse: an event is found and its proof verified', async () => {
  await page().getByRole('link', { name: 'Audit', exact: true }).click();
  await page().getByLabel('Operation').fill('get_next_available_id');
  await page().getByLabel('Outcome').selectOption('ok');
  await page().getByRole('button', { name: 'Search' }).click();
  await page().waitForURL('**/audit?operation=get_next_available_id&outcome=ok');
  await rows().first().waitFor();
  expect(await rows().locator('.badge').allTextContents()).toEqual(expect.arrayContaining(['Succeeded']));
  await rows().first().getByRole('link').click();
  await page().getByRole('heading', { name: 'Event: get_next_available_id' }).waitFor();
  await page().getByRole('button', { name: 'Get the proof and check it here' }).click();
  await page().getByText('Proven', { exact: true }).waitFor();
  const badges = page().locator('.steps .badge');
  expect(await badges.allTextContents()).toEqual(['Passed', 'Passed', 'Passed', 'Passed', 'Nothing to compare with']);
  await page().getByRole('button', { name: 'Trust this key' }).click();
  await page().getByText('This browser now trusts the key').waitFor();
  expect(await badges.allTextContents()).toEqual(Array(5).fill('Passed'));
  expect(watched?.troubles).toEqual([]);
});

test('by keyboard alone: an event is found and its proof verified', async () => {
  const press = (...keys: string[]) => keys.reduce((before, key) => before.then(() => page().keyboard.press(key)), Promise.resolve());
  const focused = () => page().evaluate(() => document.activeElement?.textContent ?? '');
  await page().reload();
  await page().locator('h1').waitFor();
  await press('Tab');
  expect(await focused()).toBe('Skip to content');
  await press('Enter');
  expect(await page().evaluate(() => document.activeElement?.id)).toBe('main');
  await press('g', 'a');
  await page().getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  expect(await focused()).toBe('Audit');
  await press('/');
  await page().waitForFunction(() => document.activeElement?.hasAttribute('data-search-field'));
  await page().keyboard.type('T-4');
  await press('Enter');
  await page().getByText('Following T-4').waitFor();
  // From the field to the first result with nothing but Tab.
  for (let presses = 0; presses < 40; presses += 1) {
    await press('Tab');
    if (await page().evaluate(() => document.activeElement?.closest('tbody') !== null)) break;
  }
  await press('Enter');
  await page().locator('.proof-panel').waitFor();
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await focused()) === 'Get the proof and check it here') break;
    await press('Tab');
  }
  await press('Enter');
  await page().getByText('Proven', { exact: true }).waitFor();
  expect(watched?.troubles).toEqual([]);
});

test('focus is always visible', async () => {
  for (const path of ['/', '/audit', '/settings/keys']) {
    await page().goto(path);
    await settled(page());
    for (let presses = 0; presses < 25; presses += 1) {
      await page().keyboard.press('Tab');
      const seen = await page().evaluate(() => {
        const element = document.activeElement;
        if (element === null || element === document.body) return 'out';
        // The radio buttons of a switch are drawn by the label beside them.
        const shown = element.matches('.segment input') ? element.nextElementSibling : element;
        const { outlineStyle, outlineWidth } = getComputedStyle(shown ?? element);
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 ? 'seen' : element.outerHTML;
      });
      expect(['seen', 'out'], `${path}: ${seen}`).toContain(seen);
    }
  }
});

test('a call is followed by any of its ids, in the order it happened', async () => {
  await page().goto('/audit?id=run-1');
  await page().getByText('Following run-1').waitFor();
  expect(await rows().count()).toBe(2);
  await rows().first().getByRole('link').click();
  await page().getByRole('link', { name: 'Follow T-4' }).click();
  await page().getByText('Following T-4').waitFor();
  const times = await rows().locator('time').evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
  expect(times.length).toBe(SEEDED.followed);
  expect(times).toEqual(times.toSorted());
});

test('a call is found by its own id', async () => {
  await page().goto('/audit');
  const href = await rows().nth(4).getByRole('link').getAttribute('href');
  const id = href?.split('/').at(-1) ?? '';
  await page().getByLabel('Any id').fill(id);
  await page().keyboard.press('Enter');
  await page().getByText(`Following ${id}`).waitFor();
  expect(await rows().count()).toBe(1);
});

test('an id that cannot be one is not sent', async () => {
  await page().goto('/audit');
  await page().getByLabel('Any id').fill('two words');
  await page().getByRole('button', { name: 'Search' }).click();
  await page().getByText('1 to 64 letters').waitFor();
  expect(new URL(page().url()).search).toBe('');
});

test('more events are loaded on demand, and clearing starts over', async () => {
  await page().goto('/audit?period=hour');
  await rows().first().waitFor();
  expect(await rows().count()).toBe(50);
  await page().getByRole('button', { name: 'Load more' }).click();
  await rows().nth(50).waitFor();
  expect(await rows().count()).toBe(100);
  await page().getByRole('button', { name: 'Clear' }).click();
  await page().waitForURL('**/audit');
  expect(await page().getByLabel('Period').inputValue()).toBe('any');
});

test.each([
  ['event', ['Failed', 'Passed', 'Failed', 'Passed', 'Nothing to compare with']],
  ['root', ['Passed', 'Passed', 'Failed', 'Failed', 'Nothing to compare with']],
] as const)('a server that lies about the %s is found out', async (lie, steps) => {
  front.lie = lie;
  await page().goto(FOUND);
  await rows().first().getByRole('link').click();
  await page().getByRole('button', { name: 'Get the proof and check it here' }).click();
  await page().getByText('Not proven').waitFor();
  expect(await page().locator('.steps .badge').allTextContents()).toEqual(steps);
  expect(await page().evaluate(() => localStorage.getItem('materia.checkpoint'))).toBeNull();
});

test('another key than the trusted one is found out', async () => {
  await page().evaluate(() => localStorage.setItem('materia.log_key', 'materia/other+00000000+AQ=='));
  await page().goto(FOUND);
  await rows().first().getByRole('link').click();
  await page().getByRole('button', { name: 'Get the proof and check it here' }).click();
  await page().getByText('Not proven').waitFor();
  expect(await page().locator('.steps .badge').allTextContents()).toEqual(['Passed', 'Passed', 'Passed', 'Passed', 'Failed']);
});

test('a log smaller than the one seen before is noticed', async () => {
  const seen = { origin: 'any', treeSize: 1_000_000, rootHash: `${'A'.repeat(43)}=`, verifiedAt: '2026-01-01T00:00:00Z' };
  await page().evaluate((text) => localStorage.setItem('materia.checkpoint', text), JSON.stringify(seen));
  await page().goto('/audit/integrity');
  await page().getByRole('button', { name: 'Check now' }).click();
  await page().getByText('has verified a larger log before (1,000,000 events)').waitFor();
  await page().getByRole('button', { name: 'Forget: Largest verified checkpoint' }).click();
  await page().getByText('None. Check the proof of an event first.').waitFor();
});

test('the whole log is checked, and problems are named', async () => {
  await page().goto('/audit/integrity');
  await page().getByRole('button', { name: 'Check now' }).click();
  await page().getByText('The log is intact').waitFor();
  front.lie = 'event';
  await page().getByRole('button', { name: 'Check now' }).click();
  await page().getByText('1 problem found').waitFor();
  await page().getByText('the event was changed').waitFor();
});

test('a check of the whole log and a checkpoint after it are no rollback', async () => {
  await page().goto('/audit/integrity');
  await page().getByRole('button', { name: 'Check now' }).click();
  await page().getByText('The log is intact').waitFor();
  const checked = Number((await page().locator('.fact', { hasText: 'Tree size' }).first().locator('dd').textContent())?.replaceAll(',', ''));
  const seen = async () => {
    await page().getByRole('button', { name: 'Get a checkpoint and check it here' }).click();
    await page().locator('.proof-report').waitFor();
    const kept = await page().evaluate(() => localStorage.getItem('materia.checkpoint'));
    return (JSON.parse(kept ?? '{}') as { treeSize?: number }).treeSize ?? 0;
  };
  // The check is an event itself, and so the checkpoint soon covers more than was checked.
  const until = Date.now() + 120_000;
  while ((await seen()) <= checked) {
    if (Date.now() > until) throw new Error(`no checkpoint over more than ${checked} events`);
  }
  expect(await page().getByText('The log is intact').count()).toBe(1);
  expect(await page().getByText('has verified a larger log before').count()).toBe(0);
});

test('a signed checkpoint is checked here, kept in mind, and can be taken along', async () => {
  await page().goto('/audit/integrity');
  await page().getByText('None. Check the proof of an event first.').waitFor();
  await page().getByRole('button', { name: 'Get a checkpoint and check it here' }).click();
  await page().getByText('The checkpoint is signed by the log’s key.').waitFor();
  expect(await page().locator('.steps .badge').allTextContents()).toEqual(['Passed', 'Passed', 'Nothing to compare with']);
  await page().getByText(/events, verified/).waitFor();
  const [download] = await Promise.all([page().waitForEvent('download'), page().getByRole('button', { name: 'Download the checkpoint' }).click()]);
  expect(await readFile(await download.path(), 'utf8')).toBe(await page().getByRole('region', { name: 'Checkpoint (signed note)' }).textContent());
  const key = (await page().getByRole('region', { name: 'Key of the log' }).textContent()) ?? '';
  await page().getByLabel('Key of the log (vkey)').fill(key.replace('+', '-'));
  await page().getByRole('button', { name: 'Trust this key' }).click();
  await page().getByText('This is not a verifier key').waitFor();
  await page().getByLabel('Key of the log (vkey)').fill(key);
  await page().getByRole('button', { name: 'Trust this key' }).click();
  await page().getByRole('button', { name: 'Get a checkpoint and check it here' }).click();
  await page().locator('.steps .badge').getByText('Nothing to compare with').waitFor({ state: 'detached' });
  expect(await page().locator('.steps .badge').allTextContents()).toEqual(['Passed', 'Passed', 'Passed']);
});

test('a browser that cannot check says so, and what to do', async () => {
  await page().addInitScript(() => Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined }));
  await page().goto(FOUND);
  await rows().first().getByRole('link').click();
  await page().getByText('This browser cannot check').waitFor();
  expect(await page().getByRole('button', { name: 'Get the proof and check it here' }).count()).toBe(0);
  await page().goto('/audit/proof');
  await page().getByText('This browser cannot check').waitFor();
});

test('a proof that was handed over is checked without the server', async () => {
  await page().goto(FOUND);
  await rows().first().getByRole('link').click();
  await page().getByRole('button', { name: 'Get the proof and check it here' }).click();
  await page().getByText('Proof and key as text').click();
  const text = (label: string) => page().locator('details').getByRole('region', { name: label }).textContent();
  const [proof, key] = [await text('Proof (c2sp.org/tlog-proof@v1)'), await text('Key of the log')];
  const [download] = await Promise.all([page().waitForEvent('download'), page().getByRole('button', { name: 'Download the event' }).click()]);
  const event = await readFile(await download.path(), 'utf8');

  await page().goto('/audit/proof');
  await page().getByLabel('Event, exactly as in the log').fill(event);
  const requests: string[] = [];
  page().on('request', (request) => requests.push(request.url()));
  await page().getByLabel('Proof', { exact: true }).fill(proof ?? '');
  await page().getByLabel('Key of the log (vkey)').fill(key ?? '');
  await page().getByRole('button', { name: 'Check', exact: true }).click();
  await page().getByText('Proven', { exact: true }).waitFor();
  await page().getByLabel('Event, exactly as in the log').fill(event.replace('"ok"', '"denied"'));
  await page().getByRole('button', { name: 'Check', exact: true }).click();
  await page().getByText('Not proven').waitFor();
  expect(requests).toEqual([]);
});

test('the log is exported whole, as a file', async () => {
  await page().goto('/audit');
  await page().getByRole('button', { name: 'Export' }).click();
  const dialog = page().getByRole('dialog');
  await dialog.getByLabel('From index').fill('-1');
  await dialog.getByText('A whole number, 0 or more').waitFor();
  await dialog.getByLabel('From index').fill('10');
  const [download] = await Promise.all([page().waitForEvent('download'), dialog.getByRole('button', { name: 'Export' }).click()]);
  expect(download.suggestedFilename()).toBe('materia-audit-from-10.ndjson');
  const text = await readFile(await download.path(), 'utf8');
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as { leaf_index: number });
  expect(lines.map(({ leaf_index }) => leaf_index)).toEqual(lines.map((_, at) => at + 10));
  expect(lines.length).toBeGreaterThan(SEEDED.ids + SEEDED.reads - 10);
  await page().getByText(`${lines.length} events exported`).waitFor();
  expect(watched?.troubles).toEqual([]);
});

test('a failure shows its code, what to do, and the way to its event', async () => {
  const error = { code: 'INVALID_ARG', message: '`from` is wrong', details: { field: 'from', expected: 'RFC 3339' } };
  front.answers.set('/api/tools/audit_search', { status: 400, body: { error } });
  await page().goto('/audit');
  const alert = page().getByRole('alert');
  await alert.getByText('The input was not accepted').waitFor();
  const shown = (await alert.textContent()) ?? '';
  for (const part of ['INVALID_ARG', '`from` is wrong', 'RFC 3339']) expect(shown).toContain(part);
  expect(await alert.getByRole('link', { name: 'Find this call in the audit log' }).getAttribute('href')).toMatch(/^\/audit\?id=web-/);
  front.answers.clear();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await rows().first().waitFor();
});
