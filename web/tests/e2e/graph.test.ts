// The graph explorer: find, expand by mouse and keyboard, follow a pattern, export; five thousand nodes stay fluid.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openPage, signIn, WIDE } from './browser.ts';
import { prepareGround, putEvidence, star } from './evidence.ts';

const ground = prepareGround(putEvidence);

const stage = (page: Page) => page.getByRole('application');
const shows = (page: Page, nodes: number, edges: number) => page.locator(`[data-nodes="${nodes}"][data-edges="${edges}"][data-settled="true"]`).waitFor();

async function read(download: { createReadStream: () => Promise<NodeJS.ReadableStream> }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('a node is found by its Thai name, expanded by click and by key, and its lines tell who says so', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await signIn(page, ground.house.token, '/graph');
  await page.getByLabel('Name or id').fill('ว่านทดสอบ');
  await page.keyboard.press('Enter');
  await shows(page, 7, 6);
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByRole('heading', { name: 'testwort' }).waitFor();
  await details.getByText('Specimen fictum').waitFor();
  await details.getByText('A synthetic herbal for tests').waitFor();

  // By key: to a neighbour, and open it.
  await stage(page).focus();
  const chosen = async () => (await page.getByText(/^Selected: /).textContent()) ?? '';
  for (const key of ['ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowLeft'] as const) {
    const before = await chosen();
    await page.keyboard.press(key);
    if ((await chosen()) !== before) break;
  }
  expect(await chosen()).not.toContain('testwort');

  // From the table, which has the same.
  await page.getByRole('radio', { name: 'Table' }).check();
  await page.getByRole('button', { name: 'Expand testol' }).click();
  await page.getByRole('row', { name: /mockroot/ }).first().waitFor();
  await page.getByRole('radio', { name: 'Graph' }).check();
  await shows(page, 8, 8);

  // By mouse: the ring shows where the selected node is; a click on it expands.
  await page.getByRole('button', { name: 'Take away' }).waitFor();
  await page.getByRole('radio', { name: 'Table' }).check();
  await page.getByRole('button', { name: 'Details of fictional thinners' }).click();
  await page.getByRole('radio', { name: 'Graph' }).check();
  await shows(page, 8, 8);
  await page.waitForTimeout(300);
  const box = await page.locator('.graph-ring').boundingBox();
  if (box === null) throw new Error('the selected node is not on the screen');
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await shows(page, 9, 9);

  // A statement with its evidence.
  await page.getByRole('radio', { name: 'Table' }).check();
  await page.getByRole('button', { name: 'Details of contraindicated in' }).click();
  await details.getByText('Must not be given, page 14.').waitFor();
  await details.getByText('2026-11-16').waitFor();
  await details.getByText('Apache-2.0').waitFor();
  await page.getByRole('button', { name: 'Details of interacts with' }).click();
  await details.getByText('Unverified').waitFor();
  expect(await details.getByRole('link', { name: /example.org\/label/ }).getAttribute('rel')).toBe('noreferrer');

  // Types that are not wanted go, and come back.
  await page.getByRole('radio', { name: 'Graph' }).check();
  await page.getByLabel(/^Drug 1/).uncheck();
  await shows(page, 8, 8);
  await page.getByLabel(/^Drug 1/).check();
  await shows(page, 9, 9);

  expect(addresses.filter((address) => /%E0%B8|testwort|testol/i.test(address))).toEqual([]);
  expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/graph');
  expect(troubles).toEqual([]);
  await close();
});

test('a name that nothing has leads to names like it', async () => {
  const { page, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/graph');
  await page.getByLabel('Name or id').fill('invented');
  await page.keyboard.press('Enter');
  await page.getByText('Did you mean one of these?').waitFor();
  await page.getByRole('button', { name: 'invented fever' }).click();
  await shows(page, 3, 2);
  // By keys alone: to a neighbour, whichever it is, and everything that is said of it.
  await stage(page).focus();
  const details = page.getByRole('region', { name: 'Details' });
  for (const key of ['ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowLeft'] as const) {
    await page.keyboard.press(key);
    if ((await details.getByRole('heading', { level: 2 }).first().textContent()) !== 'invented fever') break;
  }
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => Number(document.querySelector<HTMLElement>('.graph-stage')?.dataset['edges']) > 2);
  await details.getByRole('button', { name: 'Expand' }).waitFor({ state: 'detached' });
  await page.getByLabel('Name or id').fill('zzzz');
  await page.keyboard.press('Enter');
  await page.getByText('No node has that name or one like it.').waitFor();
  await close();
});

test('a pattern is completed, run, listed and shown, and the graph is exported', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/graph');
  await page.getByLabel('From', { exact: true }).fill('testwort');
  const pattern = page.getByRole('combobox', { name: 'Pattern' });
  await pattern.click();
  await page.keyboard.type('he');
  await page.getByRole('option', { name: 'herb' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('-con');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  expect(await pattern.inputValue()).toBe('herb -contains-> ');
  await page.keyboard.type('constituent -treats-> indication');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.getByText('2 paths').waitFor();
  await shows(page, 5, 4);
  const path = page.getByRole('list', { name: 'Paths found' }).getByRole('button').first();
  // What it rests on does not stand, and that is said beside it.
  expect(await path.textContent()).toBe('testwort — contains → mockine — treats → invented fever Retracted SYN:2');
  await path.click();
  expect(await path.getAttribute('aria-pressed')).toBe('true');

  const save = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
    return read(download);
  };
  const png = await save('PNG');
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  expect(png.length).toBeGreaterThan(5_000);
  const svg = (await save('SVG')).toString();
  expect(svg.match(/<circle /g)).toHaveLength(5);
  expect(svg).toContain('>testwort</text>');
  expect(new Set(svg.match(/fill="rgb[^"]*"/g)).size, 'every type has its colour').toBeGreaterThanOrEqual(4);
  const nodes = (await save('KGX nodes (TSV)')).toString().split('\n');
  expect(nodes[0]).toMatch(/^id\tcategory\tname\tprovided_by\tlicense/);
  expect(nodes.filter((line) => line !== '')).toHaveLength(6);
  const edges = (await save('KGX edges (TSV)')).toString();
  expect(edges).toContain('biolink:contains');
  expect(edges).toContain('Apache-2.0');

  await pattern.fill('herb -');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Find paths' }).click();
  await page.getByRole('alert').getByText('The input was not accepted').waitFor();
  expect(troubles.filter((trouble) => !trouble.includes('status of 4'))).toEqual([]);
  await close();
});

test('the whole graph is loaded where it fits', async () => {
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/graph');
  await page.getByRole('button', { name: 'Load the whole graph' }).click();
  await shows(page, 9, 10);
  await page.getByRole('button', { name: 'Begin anew' }).click();
  await page.getByText('No node is shown yet').waitFor();
  expect(troubles).toEqual([]);
  await close();
});

test('five thousand nodes are laid out, and the page answers meanwhile', async () => {
  ground.front.answers.set('/api/tools/read_node', { status: 200, body: star(4_999) });
  ground.front.answers.set('/api/tools/read_records', { status: 200, body: { records: [], version: 1 } });
  const { page, troubles, close } = await openPage(ground.browser, ground.front.url, WIDE);
  await signIn(page, ground.house.token, '/graph');
  await page.getByLabel('Name or id').fill('hub');
  await page.keyboard.press('Enter');
  await page.locator('[data-nodes="5000"]').waitFor();
  // While the worker lays them out, the page takes input; how fast it draws is up to the machine's graphics.
  await page.getByLabel('Name or id').fill('still here');
  await page.locator('[data-nodes="5000"][data-edges="4999"][data-settled="true"]').waitFor();
  await stage(page).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelector('.graph-view [aria-live]')?.textContent?.includes('star '));
  await page.getByRole('radio', { name: 'Table' }).check();
  await page.getByRole('button', { name: 'Show 100 more' }).first().waitFor();
  ground.front.answers.clear();
  expect(troubles).toEqual([]);
  await close();
});
