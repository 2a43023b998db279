// The herb pages: the list, and everything about one herb with its source, its date and whether it was checked.

import { expect, test } from 'vitest';
import { openPage, settled, signIn, WIDE } from './browser.ts';
import { prepareGround, putEvidence } from './evidence.ts';

const ground = prepareGround(async () => {});

test('without herbs the page says how they come; with them it lists and filters them', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/herbs');
  await page.getByText('The record has no herbs').waitFor();
  await putEvidence(ground.house);
  await page.reload();
  await page.getByText('2 herbs').waitFor();
  await page.getByLabel('Filter by name').fill('ว่าน');
  await page.getByText('1 herb', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'testwort' }).click();
  await page.getByRole('heading', { level: 1, name: 'testwort' }).waitFor();
  expect(troubles).toEqual([]);
  await close();
});

test('a herb is shown in both languages, with what speaks against it first, and every fact with its source and date', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/herbs/testwort');
  await page.getByText('facts on this page are unverified').waitFor();
  await page.getByRole('article', { name: 'English' }).getByText('an invented plant that exists in tests only').waitFor();
  await page.getByRole('article', { name: 'Thai' }).getByText('เป็นพืชสมมุติที่มีอยู่ในการทดสอบเท่านั้น').waitFor();

  const against = page.getByRole('table', { name: 'What speaks against taking it' }).getByRole('row');
  expect(await against.count()).toBe(3);
  const first = (await against.nth(1).textContent()) ?? '';
  for (const word of ['contraindicated in', 'imagined state', 'high', 'Must not be given, page 14.', 'A synthetic herbal for tests', 'Apache-2.0', 'Verified', '2026-11-16']) {
    expect(first, word).toContain(word);
  }
  const second = (await against.nth(2).textContent()) ?? '';
  for (const word of ['interacts with', 'moderate', 'Unverified', '2026-11-10']) expect(second, word).toContain(word);

  const facts = page.getByRole('table', { name: 'What else is said of it' });
  expect(await facts.getByRole('row', { name: /mockine/ }).textContent()).toContain('Unverified');
  await facts.getByRole('button', { name: 'Read SYN:1' }).click();
  await page.getByRole('dialog').getByText('people who do not exist').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Testwort for invented cough: a synthetic trial' }).waitFor();

  await page.locator('[data-nodes="7"][data-settled="true"]').waitFor();
  await page.getByRole('button', { name: 'Open in the graph explorer' }).click();
  await page.getByRole('heading', { level: 1, name: 'Graph' }).waitFor();
  await page.locator('[data-nodes="7"][data-settled="true"]').waitFor();
  expect(new URL(page.url()).pathname).toBe('/graph');
  expect(troubles).toEqual([]);
  await close();
});

test('nothing recorded is not called safe, and an unknown herb is an error', async () => {
  const { page, close } = await openPage(ground.browser, ground.front.url, { language: 'th', theme: 'light' });
  await signIn(page, ground.house.token, '/herbs/mockroot');
  await page.getByRole('heading', { level: 1, name: 'รากสมมุติ' }).waitFor();
  await page.getByText('ไม่มีข้อห้ามบันทึกไว้ แต่ไม่ได้แปลว่าปลอดภัย').waitFor();
  await page.goto('/herbs/nothing');
  await settled(page);
  await page.getByRole('alert').waitFor();
  await close();
});
