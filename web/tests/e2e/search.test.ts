// Search in Thai and English, reading, citing; and no word of the question in any address.

import { expect, test } from 'vitest';
import { hasFocus, openPage, settled, signIn, WIDE } from './browser.ts';
import { prepareGround, putEvidence } from './evidence.ts';

const ground = prepareGround(putEvidence);

test('a Thai question finds Thai and English, an English one too; each hit says why', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await signIn(page, ground.house.token, '/search');
  await page.getByText('Ask the evidence').waitFor();

  await page.getByLabel('Question or words').fill('ว่านทดสอบ แก้ไอ');
  await page.keyboard.press('Enter');
  const hits = page.getByRole('list', { name: 'Hits' }).getByRole('article');
  await hits.first().waitFor();
  const titles = await hits.getByRole('heading').allTextContents();
  expect(titles).toContain('การศึกษาสมมุติของว่านทดสอบกับไอสมมุติ');
  expect(titles).toContain('Testwort');
  expect(await hits.first().locator('mark').first().textContent()).toContain('ว่านทดสอบ');
  expect(await hits.first().getByText('CC0-1.0').count()).toBe(1);
  expect(await hits.first().locator('.why-name').allTextContents()).toContain('testwort');
  expect(await hits.first().getByRole('meter').count()).toBeGreaterThan(1);

  // The mark at the beginning of the text is not in the snippet; the hit says it all the same.
  const summary = page.getByRole('article', { name: 'A synthetic paper in other words' });
  await page.getByLabel('Question or words').fill('mirthwort');
  await page.keyboard.press('Enter');
  await summary.getByText('Summary by a librarian').waitFor();
  expect(await summary.locator('.hit-snippet').textContent()).not.toContain('Summary in other words');

  await page.getByLabel('Question or words').fill('invented fever');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('article', { name: 'Mockine and invented fever' }).getByText('Retracted', { exact: true }).waitFor();
  await page.getByRole('article', { name: 'Mockine and invented fever' }).getByText('Told by synthetic_papers').waitFor();
  await page.getByText('Filters').click();
  await page.getByLabel('Without retracted or doubted papers').check();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('article', { name: 'Mockine and invented fever' }).waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Types' }).fill('herb');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove Herb' }).waitFor();
  await page.getByLabel('Question or words').fill('testwort');
  await page.keyboard.press('Enter');
  await page.getByText('1 hit', { exact: true }).waitFor();

  expect(addresses.filter((address) => /ว่าน|%E0%B8|testwort|invented/i.test(address))).toEqual([]);
  expect(await page.evaluate(() => location.href + JSON.stringify(history.state) + JSON.stringify(localStorage))).not.toMatch(/testwort|ว่าน/);
  expect(troubles).toEqual([]);
  await close();
});

test('what was asked is still there on the way back, and a document is read in place', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/search');
  await page.getByLabel('Question or words').fill('mockine');
  await page.keyboard.press('Enter');
  const paper = page.getByRole('article', { name: 'Mockine and invented fever' });
  await paper.getByRole('button', { name: 'Read' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Its publisher withdrew this paper.').waitFor();
  await dialog.getByText('Journal of Invented Botany').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await hasFocus(page, paper.getByRole('button', { name: 'Read' })), 'reading goes on where it began').toBe(true);
  await page.getByRole('link', { name: 'Tasks' }).click();
  await settled(page);
  await page.getByRole('link', { name: 'Search' }).click();
  await paper.waitFor();
  expect(await page.getByLabel('Question or words').inputValue()).toBe('mockine');
  await page.reload();
  await page.getByText('Ask the evidence').waitFor();
  expect(await page.getByLabel('Question or words').inputValue()).toBe('');
  expect(troubles).toEqual([]);
  await close();
});

test('selected documents are saved as BibTeX, RIS and CSL-JSON', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/search');
  await page.getByLabel('Question or words').fill('invented cough');
  await page.keyboard.press('Enter');
  await page.getByLabel('Select Testwort for invented cough: a synthetic trial').check();
  for (const [format, file, words] of [
    ['BibTeX', 'citations.bib', '@article'],
    ['RIS', 'citations.ris', 'TY  - JOUR'],
    ['CSL-JSON', 'citations.json', '"DOI":"10.9999/synthetic.1"'],
  ] as const) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: format }).click()]);
    expect(download.suggestedFilename()).toBe(file);
    const stream = await download.createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toContain(words);
  }
  expect(troubles).toEqual([]);
  await close();
});

test('wrong input is named, nothing found is said, a failure can be tried again', async () => {
  const { page, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/search');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByText('Type what you are looking for').waitFor();
  await page.getByLabel('Question or words').fill('zzzzzzzz');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing was found').waitFor();
  ground.front.answers.set('/api/tools/hybrid_search', { status: 500, body: { error: { code: 'INTERNAL', message: 'no' } } });
  await page.getByLabel('Question or words').fill('testwort');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  ground.front.answers.clear();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('article', { name: 'Testwort', exact: true }).waitFor();
  await close();
});
