// Every page in every language: accessible, within the policy, without errors, in both themes, and no wider than a phone.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/i18n/message.ts';
import { openPage, overflow, seriousFindings, setSize, setTheme, settled, signIn, startBrowser } from './browser.ts';
import { ask, openGraph, putEvidence } from './evidence.ts';
import { type Front, startFront } from './front.ts';
import { type House, seed, seedWork, startHouse } from './house.ts';

let house: House;
let whole: Front;
let bare: Front;
let browser: Browser;

beforeAll(async () => {
  house = await startHouse();
  await seed(house);
  await seedWork(house);
  await putEvidence(house);
  whole = await startFront(house.url, 'whole');
  bare = await startFront(house.url, 'bare');
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await Promise.all([whole?.close(), bare?.close()]);
  await house?.stop();
});

type Visit = [name: string, visit: (page: Page) => Promise<unknown>];

async function openEvent(page: Page) {
  await page.goto('/audit?operation=get_next_available_id&outcome=ok');
  await page.locator('tbody a').first().click();
  await page.locator('.proof-panel').waitFor();
}

async function openTask(page: Page) {
  await page.goto('/tasks');
  await page.locator('.board-column:nth-child(2) .card-link').first().click();
  await page.locator('dialog .disclosure-button').first().click();
  await page.locator('dialog .markdown').waitFor();
}

const VISITS: Visit[] = [
  ['home', (page) => page.goto('/')],
  ['search', (page) => page.goto('/search')],
  ['search with hits', ask],
  [
    'search, read',
    async (page) => {
      await ask(page);
      await page.locator('.hit-foot button[aria-haspopup=dialog]').first().click();
      await page.locator('dialog .facts').waitFor();
    },
  ],
  ['graph, empty', (page) => page.goto('/graph')],
  ['graph', openGraph],
  [
    'graph as a table',
    async (page) => {
      await openGraph(page);
      await page.locator('.graph-bar input[value=table]').check();
      await page.locator('.graph-tables').waitFor();
    },
  ],
  ['herbs', (page) => page.goto('/herbs')],
  ['herb', (page) => page.goto('/herbs/testwort')],
  ['documents', (page) => page.goto('/documents')],
  ['documents of a project without any', (page) => page.goto('/documents?project=empty')],
  ['document', (page) => page.goto('/documents/PRD-006?version=1')],
  ['document with findings', (page) => page.goto('/documents/PRD-006')],
  [
    'approval, sent without a word',
    async (page) => {
      await page.goto('/documents/PRD-006');
      await page.locator('.page-head .button-primary').click();
      await page.locator('dialog [type=submit]').click();
    },
  ],
  ['changes', (page) => page.goto('/documents/PRD-006/changes')],
  [
    'next version, validated',
    async (page) => {
      await page.goto('/documents/PRD-006/edit');
      await page.locator('.beside .button-primary').click();
      await page.locator('.findings-summary').waitFor();
    },
  ],
  ['new document', (page) => page.goto('/documents/new')],
  ['tasks', (page) => page.goto('/tasks')],
  ['task with an input opened', openTask],
  ['audit', (page) => page.goto('/audit?outcome=invalid')],
  ['audit of one id', (page) => page.goto('/audit?id=T-4')],
  ['audit between times', (page) => page.goto('/audit?period=between&from=2026-01-01T00:00:00Z&operation=nothing')],
  ['event', openEvent],
  [
    'event with its proof',
    async (page) => {
      await openEvent(page);
      await page.locator('.proof-panel .button-primary').click();
      await page.locator('.steps').waitFor();
      await page.locator('summary').click();
    },
  ],
  ['event that is not there', (page) => page.goto('/audit/events/0199f000-0000-7000-8000-000000000000')],
  [
    'integrity',
    async (page) => {
      await page.goto('/audit/integrity');
      await page.locator('main .button-primary').click();
      await page.locator('main .notice').waitFor();
    },
  ],
  ['proof', (page) => page.goto('/audit/proof')],
  [
    'export',
    async (page) => {
      await page.goto('/audit');
      await page.locator('.page-head button').click();
    },
  ],
  ['keys', (page) => page.goto('/settings/keys')],
  [
    'new key, sent empty',
    async (page) => {
      await page.goto('/settings/keys');
      await page.locator('main .button-primary').click();
      await page.locator('dialog [type=submit]').click();
    },
  ],
  ['models', (page) => page.goto('/settings/models')],
  ['servers', (page) => page.goto('/settings/servers')],
  ['browser', (page) => page.goto('/settings/browser')],
  [
    'shortcuts',
    async (page) => {
      await page.goto('/');
      await page.locator('h1').waitFor();
      await page.keyboard.press('?');
    },
  ],
];

describe.each(LANGUAGES)('in %s', (language) => {
  test('every page is accessible and within the policy, light and dark, wide and at 360 pixels', async () => {
    const { page, troubles, close } = await openPage(browser, whole.url, { language, theme: 'light' });
    await signIn(page, house.token);
    for (const [name, visit] of VISITS) {
      await setTheme(page, 'light');
      await setSize(page, 1280, 900);
      await visit(page);
      await settled(page);
      expect(await page.locator('html').getAttribute('lang'), name).toBe(language);
      expect(await seriousFindings(page), name).toEqual([]);
      for (const width of [1024, 768, 360]) {
        await setSize(page, width, 740);
        expect(await overflow(page), `${name} at ${width}`).toBe(0);
      }
      // Neither colours nor cards depend on words: one language is enough for them.
      if (language !== 'en') continue;
      expect(await seriousFindings(page), `${name} at 360`).toEqual([]);
      // A theme changes colours and nothing else.
      await setSize(page, 1280, 900);
      await setTheme(page, 'dark');
      expect(await seriousFindings(page, 'colours'), `${name} in the dark`).toEqual([]);
    }
    await setSize(page, 360, 740);
    await page.goto('/');
    await page.locator('.menu-button').click();
    expect(await seriousFindings(page), 'menu').toEqual([]);
    expect(troubles).toEqual([]);
    await close();
  }, 1_800_000);

  test('so are the sign-in page, the missing page, failures and an older server', async () => {
    const { page, close } = await openPage(browser, bare.url, { language, theme: 'light' });
    const check = async (name: string) => {
      await setSize(page, 1280, 900);
      expect(await seriousFindings(page), name).toEqual([]);
      if (language === 'en') {
        await setTheme(page, 'dark');
        expect(await seriousFindings(page, 'colours'), `${name} in the dark`).toEqual([]);
        await setTheme(page, 'light');
      }
      await setSize(page, 360, 740);
      expect(await overflow(page), name).toBe(0);
    };
    await page.goto('/');
    await page.locator('form').waitFor();
    await check('sign-in');
    await signIn(page, house.token);
    for (const path of ['/', '/search', '/graph', '/herbs', '/herbs/testwort', '/documents', '/documents/PRD-006', '/tasks', '/audit', '/audit/integrity', '/settings/keys', '/no/such/page']) {
      await page.goto(path);
      await settled(page);
      await check(path);
    }
    whole.answers.set('/api/tools/audit_search', { status: 500, body: { error: { code: 'INTERNAL', message: 'no' } } });
    await page.goto(`${whole.url}/audit`);
    await page.locator('.error').waitFor();
    whole.answers.clear();
    await check('failure');
    await page.goto(`${whole.url}/documents/PRD-999`);
    await page.locator('.error').waitFor();
    await check('a document that is not there');
    await close();
  }, 1_800_000);
});

test('a table that is too wide is scrolled by keyboard, and as cards it does not scroll', async () => {
  const { page, close } = await openPage(browser, whole.url, { language: 'en', theme: 'light' });
  await signIn(page, house.token);
  await page.goto('/documents/PRD-006/changes');
  await settled(page);
  const frame = page.locator('.table-frame');
  expect(await frame.getAttribute('tabindex')).toBe(null);
  await page.locator('.table-value').first().evaluate((value) => {
    value.textContent = 'x'.repeat(400);
  });
  await setSize(page, 1280, 900);
  expect(await frame.getAttribute('aria-label')).toBe('History');
  await frame.focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => (document.activeElement?.scrollLeft ?? 0) > 0);
  expect(await seriousFindings(page)).toEqual([]);
  await setSize(page, 360, 740);
  expect(await frame.getAttribute('tabindex')).toBe(null);
  expect(await overflow(page)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await close();
});
