// Nothing on a page looks better than the answers say: verified by what it came by, retracted, not covered, not told.

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/i18n/message.ts';
import { openPage, overflow, seriousFindings, setSize, setTheme, settled, signIn, WIDE } from './browser.ts';
import { prepareGround, putDoubts, putEvidence, RETRACTED } from './evidence.ts';

const ground = prepareGround(async (house) => {
  await putEvidence(house);
  await putDoubts(house);
});

const tableOf = (page: Page, name: string) => page.getByRole('table', { name }).getByRole('row');
const rowsOf = async (page: Page, name: string) => (await tableOf(page, name).allTextContents()).slice(1);
const AGAINST = 'What speaks against taking it';
const OTHERWISE = 'What else is said of it';

async function follow(page: Page, from: string, pattern: string) {
  await page.goto('/graph');
  await page.locator('.graph-form').nth(1).locator('input').first().fill(from);
  await page.getByRole('combobox').fill(pattern);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.locator('.paths-count').waitFor();
}

test('a verified warning that is inherited by a list nobody verified is not verified, and says why and whose list it is', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/herbs/strange_mixture');
  await tableOf(page, AGAINST).first().waitFor();
  const rows = await rowsOf(page, AGAINST);
  expect(rows).toHaveLength(2);
  for (const row of rows) {
    for (const words of ['(ingredient not verified)', 'Unverified', 'nobody has checked that it holds here', 'inherited from doubtwort, according to A stranger']) {
      expect(row).toContain(words);
    }
    expect(row).not.toMatch(/\bVerified/);
  }
  expect(await page.getByRole('list', { name: /What these ingredients may do is unknown/ }).getByRole('listitem').allTextContents()).toEqual(['mockroot', 'moon dust']);
  expect(troubles).toEqual([]);
  await close();
});

test('nor is what is recorded of a herb that somebody says is the same', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/herbs/twinwort');
  await tableOf(page, AGAINST).first().waitFor();
  const [against, others] = [await rowsOf(page, AGAINST), await rowsOf(page, OTHERWISE)];
  expect(against).toHaveLength(2);
  for (const row of against) expect(row).toContain('(doubtwort is the same by stranger, not verified)');
  for (const row of [...against, ...others.filter((one) => one.includes('invented fever'))]) {
    expect(row).toContain('Recorded of doubtwort, which is the same according to stranger; nobody has checked that');
    expect(row).toContain('Unverified');
    expect(row).not.toMatch(/\bVerified/);
  }
  await page.getByText('Told together with what is said to be the same').waitFor();

  await page.goto('/herbs/doubtwort');
  await tableOf(page, AGAINST).first().waitFor();
  for (const row of await rowsOf(page, AGAINST)) expect(row).toContain('Verified');

  await page.goto('/graph');
  await page.getByLabel('Name or id').fill('twinwort');
  await page.keyboard.press('Enter');
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByText('Told together with what is said to be the same').waitFor();
  await details.getByRole('button', { name: 'contraindicated in →' }).click();
  await details.getByText('nobody has checked that it holds here').waitFor();
  expect(await details.getByText('Verified', { exact: true }).count()).toBe(0);
  expect(troubles).toEqual([]);
  await close();
});

test.each([
  ['en', 'Retracted', 'Notice: SYN:3', 'Told by synthetic_papers'],
  ['th', 'ถูกเพิกถอน', 'ประกาศ: SYN:3', 'แจ้งโดย synthetic_papers'],
] as const)('a statement that rests on a retracted paper says so wherever it stands: %s', async (language, ...words) => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, { ...WIDE, language });
  await signIn(page, ground.house.token, '/herbs/doubtwort');
  const rows = page.getByRole('row').filter({ hasText: RETRACTED });
  await rows.nth(1).waitFor();
  expect(await rows.count()).toBe(2);
  for (const row of await rows.allTextContents()) for (const word of [...words, RETRACTED]) expect(row).toContain(word);

  await follow(page, 'doubtwort', 'herb -treats-> indication');
  const path = page.locator('.path').first();
  expect(await path.textContent()).toContain(`${words[0]} ${RETRACTED}`);
  const details = page.locator('.graph-details');
  await details.locator('.relations li').filter({ hasText: `${words[0]} ${RETRACTED}` }).first().locator('button').click();
  for (const word of words) await details.getByText(word).first().waitFor();
  // The whole graph is read from the record, which tells nothing of it.
  await page.reload();
  await page.locator('.empty-actions button').click();
  await page.locator('[data-settled=true]').waitFor();
  await page.locator('.graph-bar input[value=table]').check();
  await page.getByRole('row').filter({ hasText: /doubtwort|ว่านสงสัย/ }).filter({ hasText: /fictamab|ฟิกทาแมบ/ }).getByRole('button').last().click();
  for (const word of words) await details.getByText(word).first().waitFor();
  expect(troubles).toEqual([]);
  await close();
});

test.each([
  ['en', 'Critical', 'Critical, not verified'],
  ['th', 'อันตรายร้ายแรง', 'อันตรายร้ายแรง แต่ยังไม่ได้ตรวจสอบ'],
] as const)('what nobody may overlook stands out in a path and beside it, and what nobody verified says so: %s', async (language, critical, capped) => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, { ...WIDE, language });
  await signIn(page, ground.house.token, '/graph');
  await follow(page, 'gravewort', 'herb -interacts_with-> drug');
  expect(await page.locator('.path .badge').allTextContents()).toEqual([critical]);
  const details = page.locator('.graph-details');
  await details.locator('.relations li').filter({ hasText: critical }).locator('button').click();
  await details.locator('dd').getByText(critical, { exact: true }).waitFor();

  await follow(page, 'grave_mixture', 'formulation -contains-> herb -interacts_with-> drug');
  expect(await page.locator('.path .badge').allTextContents()).toEqual([capped]);
  expect(troubles).toEqual([]);
  await close();
});

test('the note of a path is shown, with paths and without', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/graph');
  await follow(page, 'fictamab', 'drug -member_of-> herb');
  await page.getByText('No path matches.').waitFor();
  await page.getByText('Not among these paths:').waitFor();
  await follow(page, 'fictamab', 'drug -interacts_with-> herb');
  await page.getByText('1 path', { exact: true }).waitFor();
  await page.getByText('Not among these paths:').waitFor();
  await page.locator('.notice code', { hasText: 'member_of' }).first().waitFor();
  expect(troubles).toEqual([]);
  await close();
});

test.each([
  ['en', 'The embedding model that was chosen cannot be used (the encoder is damaged)'],
  ['th', 'โมเดลความหมายที่เลือกไว้ใช้งานไม่ได้ (the encoder is damaged)'],
] as const)('a model that cannot be used is not called one that is missing: %s', async (language, words) => {
  const { page, close } = await openPage(ground.browser, ground.front.url, { ...WIDE, language });
  const message = 'The embedding model that was chosen cannot be used (the encoder is damaged): words and names alone were searched. More.';
  ground.front.answers.set('/api/tools/hybrid_search', { status: 200, body: { hits: [], metadata: { vectors: false, model: null, message } } });
  await signIn(page, ground.house.token, '/search');
  await page.locator('[data-search-field]').fill('testwort');
  await page.keyboard.press('Enter');
  await page.getByText(words).waitFor();
  expect(await page.getByText('models pull').count()).toBe(0);
  expect(await overflow(page)).toBe(0);
  ground.front.answers.clear();
  await close();
});

describe.each(LANGUAGES)('in %s', (language) => {
  test('pages with doubts are accessible, and no wider than a phone', async () => {
    const { page, troubles, close } = await openPage(ground.browser, ground.front.url, { ...WIDE, language });
    await signIn(page, ground.house.token);
    const visits: [string, () => Promise<unknown>][] = [
      ['mixture', () => page.goto('/herbs/strange_mixture')],
      ['twin', () => page.goto('/herbs/twinwort')],
      ['retracted', () => page.goto('/herbs/doubtwort')],
      [
        'line',
        async () => {
          await follow(page, 'fictamab', 'drug -interacts_with-> herb');
          await page.locator('.relations li').filter({ hasText: RETRACTED }).locator('button').click();
          await page.locator('.graph-details .retracted').waitFor();
        },
      ],
    ];
    for (const [name, visit] of visits) {
      await setTheme(page, 'light');
      await setSize(page, 1280, 900);
      await visit();
      await settled(page);
      expect(await seriousFindings(page), name).toEqual([]);
      for (const width of [1024, 768, 360]) {
        await setSize(page, width, 740);
        expect(await overflow(page), `${name} at ${width}`).toBe(0);
      }
      expect(await seriousFindings(page), `${name} at 360`).toEqual([]);
      // A theme changes colours and nothing else.
      await setSize(page, 1280, 900);
      await setTheme(page, 'dark');
      expect(await seriousFindings(page, 'colours'), `${name} in the dark`).toEqual([]);
    }
    expect(troubles).toEqual([]);
    await close();
  });
});
