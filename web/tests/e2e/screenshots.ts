// Takes a picture of every page in both languages and themes, wide and narrow: `npm run screenshots`, then look at shots/.

import { mkdir } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { type Look, openPage, settled, signIn, startBrowser } from './browser.ts';
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
  await mkdir('shots', { recursive: true });
});

afterAll(async () => {
  await browser.close();
  await Promise.all([whole.close(), bare.close()]);
  await house.stop();
});

const LOOKS: Look[] = [
  { language: 'en', theme: 'light' },
  { language: 'th', theme: 'dark' },
  { language: 'th', theme: 'light', width: 360, height: 740 },
  { language: 'en', theme: 'dark', width: 360, height: 740 },
];

type Visit = (page: Page) => Promise<void>;

async function openEvent(page: Page) {
  await page.goto('/audit?operation=get_next_available_id&outcome=ok');
  await page.locator('tbody a').nth(3).click();
  await page.locator('.proof-panel').waitFor();
}

/** `WEB_SHOTS_OF=graph,herb` takes only these. */
const WANTED = process.env['WEB_SHOTS_OF']?.split(',');

const VISITS: Record<string, Visit> = {
  home: async (page) => void (await page.goto('/')),
  search: async (page) => void (await page.goto('/search')),
  hits: ask,
  filters: async (page) => {
    await page.goto('/search');
    await page.locator('.ask-filters > summary').click();
    await page.locator('.picks input').first().fill('herb');
    await page.keyboard.press('Enter');
  },
  paper: async (page) => {
    await ask(page);
    await page.locator('.hit-foot button[aria-haspopup=dialog]').first().click();
    await page.locator('dialog .facts').waitFor();
  },
  'graph-none': async (page) => void (await page.goto('/graph')),
  graph: openGraph,
  'graph-table': async (page) => {
    await openGraph(page);
    await page.locator('.graph-bar input[value=table]').check();
  },
  'graph-path': async (page) => {
    await page.goto('/graph');
    await page.locator('.graph-form').nth(1).locator('input').first().fill('testwort');
    await page.getByRole('combobox').fill('herb -contains-> constituent -treats-> indication');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.locator('.path').first().click();
    await page.locator('[data-settled=true]').waitFor();
    await page.getByRole('combobox').fill('herb -');
  },
  herbs: async (page) => void (await page.goto('/herbs')),
  herb: async (page) => {
    await page.goto('/herbs/testwort');
    await page.locator('[data-settled=true]').waitFor();
  },
  documents: async (page) => void (await page.goto('/documents')),
  'documents-none': async (page) => void (await page.goto('/documents?project=empty')),
  document: async (page) => void (await page.goto('/documents/PRD-006?version=1')),
  findings: async (page) => void (await page.goto('/documents/PRD-006')),
  approve: async (page) => {
    await page.goto('/documents/PRD-006');
    await page.locator('.page-head .button-primary').click();
    await page.locator('dialog [type=submit]').click();
  },
  changes: async (page) => void (await page.goto('/documents/PRD-006/changes?from=1.1&to=1.2')),
  edit: async (page) => {
    await page.goto('/documents/PRD-006/edit');
    await page.locator('.beside .button-primary').click();
    await page.locator('.findings-summary').waitFor();
  },
  'new-document': async (page) => void (await page.goto('/documents/new')),
  'document-missing': async (page) => void (await page.goto('/documents/PRD-999')),
  tasks: async (page) => void (await page.goto('/tasks')),
  task: async (page) => {
    await page.goto('/tasks');
    await page.locator('.board-column:nth-child(2) .card-link').first().click();
    await page.locator('dialog .disclosure-button').first().click();
    await page.locator('dialog .markdown').waitFor();
  },
  audit: async (page) => void (await page.goto('/audit')),
  follow: async (page) => void (await page.goto('/audit?id=T-4')),
  between: async (page) => void (await page.goto('/audit?period=between&operation=nothing')),
  event: openEvent,
  proven: async (page) => {
    await openEvent(page);
    await page.locator('.proof-panel .button-primary').click();
    await page.locator('.steps').waitFor();
  },
  broken: async (page) => {
    whole.lie = 'event';
    await openEvent(page);
    await page.locator('.proof-panel .button-primary').click();
    await page.locator('.steps').waitFor();
    whole.lie = 'none';
  },
  integrity: async (page) => {
    await page.goto('/audit/integrity');
    await page.locator('main .button-primary').click();
    await page.locator('main .notice').waitFor();
  },
  proof: async (page) => void (await page.goto('/audit/proof')),
  export: async (page) => {
    await page.goto('/audit');
    await page.locator('.page-head button').click();
  },
  keys: async (page) => void (await page.goto('/settings/keys')),
  'new-key': async (page) => {
    await page.goto('/settings/keys');
    await page.locator('main .button-primary').click();
  },
  models: async (page) => void (await page.goto('/settings/models')),
  'models-used': async (page) => {
    const metadata = { model: 'all-minilm-l6-v2', vectors: true, lexicon: true, vectors_missing: 1_585 };
    whole.answers.set('/api/tools/hybrid_search', { status: 200, body: { hits: [], metadata } });
    await page.goto('/settings/models');
    await page.locator('.fact').first().waitFor();
    whole.answers.clear();
  },
  servers: async (page) => void (await page.goto('/settings/servers')),
  browser: async (page) => void (await page.goto('/settings/browser')),
  missing: async (page) => void (await page.goto('/no/such/page')),
  shortcuts: async (page) => {
    await page.goto('/');
    await page.locator('h1').waitFor();
    await page.keyboard.press('?');
  },
};

test.each(LOOKS)('$language $theme $width', async (look) => {
  const name = (what: string) => `shots/${what}-${look.language}-${look.theme}-${look.width ?? 'wide'}.png`;
  const { page, close } = await openPage(browser, whole.url, look);
  await page.goto('/');
  await page.locator('form').waitFor();
  await page.screenshot({ path: name('sign-in'), fullPage: true });
  await signIn(page, house.token);
  for (const [what, visit] of Object.entries(VISITS)) {
    if (WANTED && !WANTED.includes(what)) continue;
    await visit(page);
    await settled(page);
    await page.waitForTimeout(100);
    await page.screenshot({ path: name(what), fullPage: !(await page.locator('dialog[open]').count()) });
  }
  if (look.width) {
    await page.goto('/');
    await page.locator('.menu-button').click();
    await page.screenshot({ path: name('menu') });
  }
  await close();
  if (WANTED) return;

  const old = await openPage(browser, bare.url, look);
  await signIn(old.page, house.token);
  for (const path of ['/', '/search', '/graph', '/documents', '/tasks', '/audit', '/settings/keys']) {
    await old.page.goto(path);
    await settled(old.page);
    await old.page.screenshot({ path: name(`bare${path.replaceAll('/', '-')}`), fullPage: true });
  }
  whole.answers.set('/api/tools/audit_search', {
    status: 500,
    body: { error: { code: 'INTERNAL', message: 'something went wrong on our side; the log has more under call 0199f000-0000-7000-8000-000000000001' } },
  });
  const broken = await openPage(browser, whole.url, look);
  await signIn(broken.page, house.token, '/audit');
  await broken.page.locator('.error').waitFor();
  await broken.page.screenshot({ path: name('error'), fullPage: true });
  whole.answers.clear();
  await Promise.all([old.close(), broken.close()]);
}, 1_800_000);
