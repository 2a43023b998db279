// Every page in every look: accessible, within the policy, without errors, and no wider than a phone.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/i18n/message.ts';
import { type Look, openPage, overflow, seriousFindings, settled, signIn, startBrowser } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { type House, seed, startHouse } from './house.ts';

let house: House;
let whole: Front;
let bare: Front;
let browser: Browser;

beforeAll(async () => {
  house = await startHouse();
  await seed(house);
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

const VISITS: Visit[] = [
  ['home', (page) => page.goto('/')],
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

const LOOKS: Look[] = LANGUAGES.flatMap((language) => [
  { language, theme: 'light' as const },
  { language, theme: 'dark' as const },
]);

describe.each(LOOKS)('in $language, $theme', (look) => {
  test('every page is accessible and within the policy, wide and at 360 pixels', async () => {
    // A theme changes colours and nothing else.
    const rules = look.theme === 'light' ? 'all' : 'colours';
    const { page, troubles, close } = await openPage(browser, whole.url, look);
    await signIn(page, house.token);
    for (const [name, visit] of VISITS) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await visit(page);
      await settled(page);
      expect(await page.locator('html').getAttribute('lang'), name).toBe(look.language);
      expect(await seriousFindings(page, rules), name).toEqual([]);
      for (const width of [360, 768, 1024]) {
        await page.setViewportSize({ width, height: 740 });
        expect(await overflow(page), `${name} at ${width}`).toBe(0);
      }
      // Cards depend on neither colours nor words: one look is enough for them.
      if (look.theme === 'light' && look.language === 'en') {
        await page.setViewportSize({ width: 360, height: 740 });
        expect(await seriousFindings(page), `${name} at 360`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto('/');
    await page.locator('.menu-button').click();
    expect(await seriousFindings(page), 'menu').toEqual([]);
    expect(troubles).toEqual([]);
    await close();
  }, 300_000);

  test('so are the sign-in page, the missing page, a failure and an older server', async () => {
    const { page, close } = await openPage(browser, bare.url, look);
    await page.goto('/');
    await page.locator('form').waitFor();
    expect(await seriousFindings(page), 'sign-in').toEqual([]);
    await signIn(page, house.token);
    for (const path of ['/', '/audit', '/audit/integrity', '/settings/keys', '/no/such/page']) {
      await page.goto(path);
      await settled(page);
      expect(await seriousFindings(page), path).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await overflow(page), path).toBe(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    whole.answers.set('/api/tools/audit_search', { status: 500, body: { error: { code: 'INTERNAL', message: 'no' } } });
    await page.goto(`${whole.url}/audit`);
    await page.locator('.error').waitFor();
    whole.answers.clear();
    expect(await seriousFindings(page), 'failure').toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overflow(page), 'failure').toBe(0);
    await close();
  }, 120_000);
});
