// The frame, the settings, and pages of an older server.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPage, signIn, startBrowser, type Watched, WIDE } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { type House, startHouse } from './house.ts';

let house: House;
let front: Front;
let bare: Front;
let browser: Browser;
let watched: Watched | undefined;

beforeAll(async () => {
  house = await startHouse();
  front = await startFront(house.url, 'whole');
  bare = await startFront(house.url, 'bare');
  browser = await startBrowser();
});

beforeEach(async () => {
  await watched?.close();
  watched = await openPage(browser, front.url, WIDE, { permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(watched.page, house.token);
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([front?.close(), bare?.close()]);
  await house?.stop();
});

function page() {
  if (watched === undefined) throw new Error('no page');
  return watched.page;
}

test('home tells what the server really does', async () => {
  const tiles = page().locator('.tile');
  await tiles.getByText('Working').waitFor();
  await tiles.getByText(/^Version \d+\.\d+\.\d+, up /).waitFor();
  const ids = page().getByRole('row', { name: /Document ids/ });
  expect(await ids.locator('.badge').textContent()).toBe('Works');
  const answers = page().getByRole('row', { name: /Answers with citations/ });
  const served = await page().evaluate(() => fetch('/api/tools').then((answer) => answer.text()));
  expect(await answers.locator('.badge').textContent()).toBe(served.includes('rag_answer') ? 'Works' : 'Not in this version');
});

test('commands are copied as they stand', async () => {
  await page().getByRole('tab', { name: 'Claude Desktop' }).focus();
  await page().keyboard.press('End');
  const panel = page().getByRole('tabpanel', { name: 'curl' });
  await panel.getByRole('button', { name: 'Copy Shell: one call' }).click();
  await panel.getByText('Copied').waitFor();
  const copied = await page().evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`curl -s ${front.url}/api/tools/list_artifact_types`);
  expect(copied).toBe(await panel.locator('pre').textContent());
});

test('language and theme hold over a reload, and nothing else is kept but the actor', async () => {
  await page().keyboard.press('l');
  await page().getByRole('heading', { name: 'หน้าแรก' }).waitFor();
  await page().keyboard.press('t');
  await page().keyboard.press('t');
  await page().reload();
  await page().getByRole('heading', { name: 'หน้าแรก' }).waitFor();
  expect(await page().evaluate(() => ({ lang: document.documentElement.lang, theme: document.documentElement.dataset['theme'] }))).toEqual({
    lang: 'th',
    theme: 'dark',
  });
  const background = await page().evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background).toBe('rgb(15, 20, 18)');
  expect(await page().evaluate(() => Object.keys(localStorage).sort())).toEqual(['materia.actor', 'materia.language', 'materia.theme']);
});

test('`/` leads to the search page from where there is no field, and into its field', async () => {
  await page().locator('h1').waitFor();
  await page().keyboard.press('/');
  await page().waitForURL('**/search');
  await page().waitForFunction(() => document.activeElement?.hasAttribute('data-search-field'));
});

test('the models page tells what search uses, and that there is no language model', async () => {
  await page().goto('/settings/models');
  await page().getByText('materia models pull').waitFor();
  await page().getByRole('heading', { name: 'No language model is configured' }).waitFor();
  const metadata = { model: 'all-minilm-l6-v2', vectors: true, lexicon: true, vectors_missing: 7 };
  front.answers.set('/api/tools/hybrid_search', { status: 200, body: { hits: [], metadata } });
  await page().reload();
  const model = page().locator('.fact', { hasText: 'Embedding model' });
  await model.getByText('all-minilm-l6-v2').waitFor();
  await model.getByText('In use').waitFor();
  await model.getByText('7 texts still wait for their vectors').waitFor();
  await page().locator('.fact', { hasText: 'Thai-English dictionaries' }).getByText('In use').waitFor();
  await page().getByRole('heading', { name: 'No language model is configured' }).waitFor();
  front.answers.clear();
});

test('shortcuts are listed, and can be switched off', async () => {
  await page().keyboard.press('?');
  await page().getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page().keyboard.press('Escape');
  await page().getByRole('dialog').waitFor({ state: 'detached' });
  await page().keyboard.press('g');
  await page().keyboard.press('s');
  await page().getByRole('link', { name: 'This browser' }).click();
  await page().getByLabel('Keyboard shortcuts').uncheck();
  await page().locator('h1').focus();
  await page().keyboard.press('?');
  expect(await page().getByRole('dialog').count()).toBe(0);
});

test('back and forward work, and a moved-to page takes the focus', async () => {
  await page().getByRole('link', { name: 'Audit', exact: true }).click();
  await page().getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  await page().waitForFunction(() => document.activeElement?.tagName === 'H1');
  expect(await page().title()).toBe('Audit · Materia');
  await page().goBack();
  await page().getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page().goForward();
  await page().getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
});

test('an unknown address is told so, with its status', async () => {
  const answer = await page().goto('/no/such/page');
  expect(answer?.status()).toBe(404);
  await page().getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page().getByRole('link', { name: 'Go to Home' }).click();
  await page().getByRole('heading', { name: 'Home', level: 1 }).waitFor();
});

test('the menu of a narrow screen opens, closes, and closes after a choice', async () => {
  await page().setViewportSize({ width: 360, height: 740 });
  const menu = page().getByRole('button', { name: 'Menu' });
  const audit = page().getByRole('link', { name: 'Audit', exact: true });
  expect(await audit.isVisible()).toBe(false);
  await menu.click();
  expect(await menu.getAttribute('aria-expanded')).toBe('true');
  await page().keyboard.press('Escape');
  expect(await audit.isVisible()).toBe(false);
  await menu.click();
  await audit.click();
  await page().getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  expect(await audit.isVisible()).toBe(false);
});

test('a key is made, shown once, and revoked', async () => {
  await page().goto('/settings/keys');
  await page().getByRole('button', { name: 'New key' }).click();
  const dialog = page().getByRole('dialog');
  await dialog.getByLabel('Actor').fill('web-test');
  await dialog.getByLabel('auditor').check();
  await dialog.getByLabel('Expires').selectOption('30');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await page().getByRole('heading', { name: 'Copy the key now' }).waitFor();
  const key = await dialog.locator('pre').textContent();
  expect(key).toMatch(/\S{20,}/);
  await page().keyboard.press('Escape');
  expect(await dialog.count()).toBe(1);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page().content()).not.toContain(key);
  const row = page().getByRole('row', { name: /web-test/ });
  expect(await row.locator('.badge').textContent()).toBe('Active');
  await row.getByRole('button', { name: 'Revoke the key of web-test' }).click();
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page().getByText('The key of web-test is revoked').waitFor();
  await row.getByText('Revoked').waitFor();
  expect(watched?.troubles).toEqual([]);
});

test('an older server gets pages that say what it lacks, and no failed calls', async () => {
  const old = await openPage(browser, bare.url, WIDE);
  await signIn(old.page, house.token);
  for (const [path, operation] of [
    ['/audit', 'audit_search'],
    ['/audit/integrity', 'audit_verify'],
    ['/audit/events/0199f000-0000-7000-8000-000000000000', 'audit_search'],
    ['/settings/keys', 'list_keys'],
    ['/documents', 'list_artifacts'],
    ['/documents/PRD-006', 'read_artifact'],
    ['/documents/PRD-006/changes', 'diff_artifact'],
    ['/documents/new', 'store_artifact'],
    ['/tasks', 'list_tasks'],
  ]) {
    await old.page.goto(path ?? '');
    await old.page.getByText('Not served by this version').first().waitFor();
    expect(await old.page.locator('h1').count(), path).toBe(1);
    await old.page.getByText(operation ?? '').waitFor();
  }
  await old.page.goto('/');
  await old.page.locator('.tile').getByText('not served yet').first().waitFor();
  expect(old.troubles).toEqual([]);
  await old.close();
});
