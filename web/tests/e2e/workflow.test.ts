// A document from its first text to the tasks that follow from it, in the browser; and what is refused on the way.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hasFocus, openPage, overflow, seriousFindings, settled, signIn, startBrowser, type Watched, WIDE } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { asKey, callAs, type House, readDocument, seedStory, startHouse } from './house.ts';

let house: House;
let writer: House;
let reviewer: House;
let front: Front;
let browser: Browser;
const opened: Watched[] = [];

beforeAll(async () => {
  house = await startHouse();
  await seedStory(house);
  writer = await asKey(house, 'writer', 'author');
  reviewer = await asKey(house, 'reviewer', 'approver', 'author');
  front = await startFront(house.url, 'whole');
  browser = await startBrowser();
});

afterEach(async () => {
  front.answers.clear();
  await Promise.all(opened.splice(0).map(({ close }) => close()));
});

afterAll(async () => {
  await browser?.close();
  await front?.close();
  await house?.stop();
});

async function open(by: House, path = '/'): Promise<Watched> {
  const watched = await openPage(browser, front.url, WIDE);
  opened.push(watched);
  await signIn(watched.page, by.token, path);
  return watched;
}

/** Presses Tab until the element that has the focus answers to the name. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const isIt = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element?.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`) : null;
      return (element?.getAttribute('aria-label') ?? label?.textContent ?? element?.textContent ?? '').trim();
    });
    if (isIt(focused)) return;
  }
  throw new Error(`no element named ${name} was reached with Tab`);
}

test('by keyboard alone: a document is validated, corrected and stored by its author, approved by another, and its task claimed', async () => {
  const text = await readDocument('PRD-006');
  const defect = '- **Constraints:** runs on one machine';
  const author = await open(writer, '/tasks');
  const { page } = author;
  await page.locator('h1').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor();
  await settled(page);
  await tabTo(page, 'New document');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New document', level: 1 }).waitFor();
  await tabTo(page, 'Document as markdown');
  await page.keyboard.insertText(text.replace(defect, '- **Constraints:** TBD'));
  await tabTo(page, 'Validate');
  await page.keyboard.press('Enter');
  await page.getByText('23/24 automated criteria met').waitFor();
  await tabTo(page, /^Go to line \d+$/);
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => getSelection()?.toString())).toBe('- **Constraints:** TBD');
  await page.keyboard.insertText(defect);
  await page.getByText('The text has changed since it was validated.').waitFor();
  await tabTo(page, 'Validate');
  await page.keyboard.press('Enter');
  await page.getByText('24/24 automated criteria met').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/documents/PRD-006');
  await page.getByRole('heading', { name: 'PRD-006: MCP Server Integration', level: 1 }).waitFor();
  await page.locator('.page-head .badge', { hasText: 'Draft' }).waitFor();
  expect(author.troubles).toEqual([]);

  const other = await open(reviewer, '/documents/PRD-006');
  const reading = other.page;
  await reading.getByText('This browser computed the same from the text shown.').waitFor();
  await reading.getByText('24/24 automated criteria met').waitFor();
  await tabTo(reading, 'Approve');
  await reading.keyboard.press('Enter');
  const dialog = reading.getByRole('dialog');
  await dialog.waitFor();
  expect(await seriousFindings(reading)).toEqual([]);
  await tabTo(reading, 'Meaning');
  await reading.keyboard.press('Control+A');
  await reading.keyboard.insertText('clinically correct');
  await reading.keyboard.press('Enter');
  await dialog.getByText('Read the document first, then say so').waitFor();
  await tabTo(reading, 'I have read this version.');
  await reading.keyboard.press('Space');
  await tabTo(reading, 'Approve');
  await reading.keyboard.press('Enter');
  await dialog.getByText('3 tasks were queued').waitFor();
  const given = await dialog.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.textContent));
  expect(given).toEqual(['HLS-AAAHLS-001', 'HLS-BBBHLS-002', 'HLS-CCCHLS-003']);
  await tabTo(reading, 'Show the tasks');
  await reading.keyboard.press('Enter');
  await reading.waitForURL('**/tasks?depends_on=PRD-006');
  const column = (name: string) => reading.getByRole('region', { name: new RegExp(`^${name}`) });
  await column('Pending').locator('.board-card').nth(2).waitFor();
  await reading.keyboard.press('Home');
  await tabTo(reading, 'Claim the next task');
  await reading.keyboard.press('Enter');
  await dialog.getByText('Generate HLS-001 from PRD-006').waitFor();
  await tabTo(reading, /^PRD-006/);
  await reading.keyboard.press('Enter');
  await dialog.getByRole('heading', { name: 'High-Level User Stories' }).waitFor();
  // The text of the input is the approved one, with the ids that were given.
  expect(await dialog.locator('.markdown').textContent()).toContain('HLS-002: Call a tool');
  expect(await seriousFindings(reading)).toEqual([]);
  await tabTo(reading, /^Completion notes/);
  await reading.keyboard.insertText('Written.');
  await tabTo(reading, 'Complete');
  await reading.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await column('Completed').locator('.board-card').waitFor();
  expect(await column('Pending').locator('.board-card').count()).toBe(2);
  expect(other.troubles).toEqual([]);

  const { artifact } = await callAs(house, 'read_artifact', { artifact_id: 'PRD-006' });
  expect(artifact).toMatchObject({ status: 'Approved', created_by: 'writer', approval: { approved_by: 'reviewer', meaning: 'clinically correct' } });
  const { tasks } = await callAs(house, 'list_tasks', { status: 'completed' });
  expect(tasks.map(({ artifact_id, completion_notes }) => [artifact_id, completion_notes])).toEqual([['HLS-001', 'Written.']]);
});

test('by keyboard alone: an approved document is moved on, the page says so, and the history names who did it', async () => {
  const { page, troubles } = await open(writer, '/documents/EPIC-006');
  await page.locator('.page-head .badge', { hasText: 'Approved' }).waitFor();
  await tabTo(page, 'Move');
  await page.keyboard.press('Enter');
  await page.getByText('Choose a status first').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.type('In Pro');
  await tabTo(page, 'Move');
  await page.keyboard.press('Enter');
  await page.getByText('EPIC-006 is now In Progress').waitFor();
  await page.locator('.page-head .badge', { hasText: 'In Progress' }).waitFor();
  expect(await page.getByLabel('Move to').locator('option').allTextContents()).toEqual(['Choose a status', 'Approved', 'Planned', 'Completed', 'Withdrawn']);
  expect(await seriousFindings(page)).toEqual([]);
  const { revisions } = await callAs(house, 'list_artifact_revisions', { artifact_id: 'EPIC-006' });
  expect(revisions.at(-1)).toMatchObject({ cause: 'moved', status: 'In Progress', changed_by: 'writer' });
  expect(troubles).toEqual([]);
});

test('what an approval changed is shown line by line, and who gave it with which meaning', async () => {
  const { page, troubles } = await open(writer, '/documents/PRD-006');
  await page.locator('dd', { hasText: 'clinically correct' }).waitFor();
  await page.getByRole('link', { name: 'Changes' }).click();
  const rows = page.locator('.diff tr');
  await rows.first().waitFor();
  const of = async (kind: string) => (await page.locator(`.diff-${kind} .diff-text`).allTextContents()).filter((line) => line.startsWith('### '));
  expect(await of('removed')).toEqual(['### HLS-AAA: List the tools', '### HLS-BBB: Call a tool', '### HLS-CCC: Find a call']);
  expect(await of('added')).toEqual(['### HLS-001: List the tools', '### HLS-002: Call a tool', '### HLS-003: Find a call']);
  const history = page.getByRole('table', { name: 'History' }).locator('tbody tr');
  expect(await history.evaluateAll((all) => all.map((row) => row.children[3]?.textContent))).toEqual(['reviewer', 'writer']);
  await page.getByLabel('From').selectOption('1.2');
  await page.getByText('The two states are the same.').waitFor();
  expect(new URL(page.url()).search).toBe('?from=1.2&to=1.2');
  expect(troubles).toEqual([]);
});

/** A document that can stand alone. */
async function epic(number: string, change: (text: string) => string = (text) => text): Promise<string> {
  return change((await readDocument('EPIC-006')).replaceAll('EPIC-006', `EPIC-${number}`));
}

async function approveIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByLabel('I have read this version.').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
}

test('an author does not approve their own document, and is told so before and after', async () => {
  await callAs(reviewer, 'store_artifact', { artifact_content: await epic('101') });
  const { page } = await open(reviewer, '/documents/EPIC-101');
  await approveIn(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('You stored this version yourself.').waitFor();
  await dialog.getByRole('alert').getByText('an author may not approve their own document').waitFor();
  const { artifact } = await callAs(house, 'read_artifact', { artifact_id: 'EPIC-101' });
  expect([artifact.status, artifact.approval ?? null]).toEqual(['Draft', null]);
});

test('an approval is of what was read: a version that came in between is not approved unseen', async () => {
  await callAs(writer, 'store_artifact', { artifact_content: await epic('102') });
  const { page } = await open(reviewer, '/documents/EPIC-102');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  const next = await epic('102', (text) => text.replace('**Version:** 1', '**Version:** 2').replace('12 hours', '13 hours'));
  await callAs(writer, 'store_artifact', { artifact_content: next });
  await approveIn(page);
  await page.getByRole('dialog').getByRole('alert').getByText('is not what was reviewed').waitFor();
  await page.keyboard.press('Escape');
  await page.goto('/documents/EPIC-102?version=1');
  await page.getByText('This is version 1. The latest is 2.').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});

test('a server that shows another text than it has hashed gets no approval', async () => {
  const { content, artifact } = await callAs(house, 'read_artifact', { artifact_id: 'EPIC-102' });
  front.answers.set('/api/tools/read_artifact', { status: 200, body: { artifact, content: content.replace('13 hours', '3 hours') } });
  const { page } = await open(reviewer, '/documents/EPIC-102');
  await page.getByText('Do not approve it').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});

test('the next version begins where the last one ended, stays while other pages are looked at, and meets the refusals of the server', async () => {
  await callAs(writer, 'store_artifact', { artifact_content: await epic('103') });
  const { page } = await open(writer, '/documents/EPIC-103');
  await page.getByRole('link', { name: 'Write the next version' }).click();
  const area = page.getByLabel('Document as markdown');
  expect(await area.inputValue()).toContain('**Version:** 2');
  await area.fill((await area.inputValue()).replace('12 hours', '14 hours'));
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
  await page.goBack();
  await area.waitFor();
  expect(await area.inputValue()).toContain('14 hours');
  await area.fill((await area.inputValue()).replace('**Status:** Draft', '**Status:** Approved'));
  await page.getByRole('button', { name: 'Store' }).click();
  await page.getByRole('alert').getByText('Status', { exact: true }).waitFor();
  await area.fill((await area.inputValue()).replace('**Status:** Approved', '**Status:** Draft'));
  await page.getByRole('radio', { name: 'Preview' }).check();
  await page.locator('.markdown').getByText('14 hours').waitFor();
  await page.getByRole('button', { name: 'Store' }).click();
  await page.waitForURL('**/documents/EPIC-103');
  await page.locator('.page-lead', { hasText: 'v2' }).waitFor();
});

test('a template is the beginning of a new document; nothing is sent without a text or an id', async () => {
  const { page } = await open(writer, '/documents/new');
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('There is no text yet').waitFor();
  await page.getByText('The text gives no id such as PRD-006').waitFor();
  await page.getByLabel('Start from a template').selectOption('care_plan');
  await page.getByRole('button', { name: 'Insert' }).click();
  const area = page.getByLabel('Document as markdown');
  await page.waitForFunction(() => (document.querySelector('textarea')?.value.length ?? 0) > 100);
  expect(await area.inputValue()).toContain('CARE-XXX');
  expect(await page.getByLabel('Start from a template').count()).toBe(0);
});

test('a hostile document runs nothing, loads nothing and leads nowhere', async () => {
  const hostile = [
    '',
    '<script>document.title = "owned"</script>',
    '<img src="https://example.org/pixel.png" onerror="document.title = \'owned\'">',
    '![pixel](https://example.org/pixel.png) [run](javascript:document.title="owned") [token](#token=0000)',
    '<style>body { display: none }</style>',
    '',
  ].join('\n\n');
  await callAs(writer, 'store_artifact', { artifact_content: (await epic('104')) + hostile });
  const watched = await openPage(browser, front.url, WIDE);
  opened.push(watched);
  const { page, troubles } = watched;
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(front.url)) elsewhere.push(request.url());
  });
  await signIn(page, reviewer.token, '/documents/EPIC-104');
  const text = page.locator('article .markdown');
  await text.waitFor();
  expect(await text.locator('img, script, style, iframe').count()).toBe(0);
  const links = await text.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toEqual(['https://example.org/pixel.png']);
  await text.getByText('Image, not loaded: pixel').waitFor();
  await settled(page);
  expect(await page.title()).not.toBe('owned');
  expect([elsewhere, troubles]).toEqual([[], []]);
});

test('tasks are filtered by what they need, started, taken away and put back', async () => {
  const { page } = await open(house, '/tasks');
  const column = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) });
  await page.getByLabel('Depends on document').fill('PRD-006');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL('**/tasks?depends_on=PRD-006');
  await settled(page);
  expect(await column('Pending').locator('.board-card').count()).toBe(2);
  await page.getByLabel('Only tasks without a mandatory input').check();
  await page.getByRole('button', { name: 'Filter' }).click();
  await column('Pending').getByText('Nothing waits here').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL('**/tasks');
  const claimed = await callAs(writer, 'get_next_task', { claim: true });
  await page.getByRole('button', { name: 'Reload' }).click();
  await column('In progress').getByText(claimed.task?.description ?? '').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('writer works on this.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Complete' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Put back' }).click();
  await column('In progress').getByText('Nobody is working on a task.').waitFor();
  await column('Pending').getByRole('button').first().click();
  await dialog.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('In progress', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Put back' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Project').fill('a b');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('Up to 100 letters').waitFor();
});

test('whoever closes a task is where they opened it, by the keyboard and by the cross', async () => {
  const { page } = await open(house, '/tasks');
  const card = page.locator('.card-link').first();
  const dialog = page.getByRole('dialog');
  await card.focus();
  for (const close of [() => page.keyboard.press('Escape'), () => dialog.getByRole('button', { name: 'Close' }).click()]) {
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    expect(await hasFocus(page, card)).toBe(false);
    await close();
    await dialog.waitFor({ state: 'detached' });
    expect(await hasFocus(page, card)).toBe(true);
  }
});

test('on a telephone the board is one column and the dialog fits', async () => {
  const watched = await openPage(browser, front.url, { ...WIDE, width: 360, height: 740 });
  opened.push(watched);
  const { page } = watched;
  await signIn(page, reviewer.token, '/tasks');
  await page.locator('.board-card').first().waitFor();
  const lefts = await page.locator('.board-column').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
  expect(new Set(lefts).size).toBe(1);
  await page.locator('.card-link').first().click();
  const box = await page.getByRole('dialog').boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 360).toBe(true);
  expect(await overflow(page)).toBe(0);
});
