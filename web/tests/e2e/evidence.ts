// Synthetic evidence: plants, papers and facts that do not exist, so that no test can be taken for medicine.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Input, Output } from '../../src/api/client.ts';
import { startBrowser } from './browser.ts';
import { type Front, startFront } from './front.ts';
import { callAs, type House, startHouse } from './house.ts';

type Records = Input<'put_records'>['records'];

const SOURCE = 'synthetic_book';

const names = (th: string, en: string, la?: string) => [
  { text: th, lang: 'th' },
  { text: en, lang: 'en' },
  ...(la ? [{ text: la, lang: 'la' }] : []),
];

const node = (id: string, category: string, th: string, en: string, rest: object = {}) => ({
  record: 'node',
  id,
  categories: [category],
  names: names(th, en),
  source: SOURCE,
  ...rest,
});

const edge = (subject: string, predicate: string, object: string, rest: object = {}) => ({
  record: 'edge',
  id: `${subject}--${predicate}--${object}`,
  subject,
  predicate,
  object,
  source: SOURCE,
  ...rest,
});

const fact = (text: string, verified: boolean, reference?: string) => ({
  evidence: [{ text, ...(reference ? { reference } : {}) }],
  qualifiers: { verified, reviewed: '2026-11-16' },
});

const paper = (id: string, title: string, text: string, rest: object = {}) => ({
  record: 'document',
  id,
  kind: 'paper',
  title,
  text,
  lang: 'en',
  authors: [{ last: 'Synthetic Study Group' }],
  journal: 'Journal of Invented Botany',
  year: 2024,
  source: 'synthetic_papers',
  ...rest,
});

const monograph = (id: string, lang: 'th' | 'en', title: string, text: string) => ({
  record: 'document',
  id: `monograph:${id}:${lang}`,
  kind: 'monograph',
  title,
  text,
  lang,
  attributes: { verified: true, reviewed: '2026-11-16' },
  source: SOURCE,
});

export const RECORDS: Records = [
  { record: 'source', id: SOURCE, title: 'A synthetic herbal for tests', licence: 'Apache-2.0', uri: 'https://example.org/herbal' },
  { record: 'source', id: 'synthetic_papers', title: 'Synthetic papers for tests', licence: 'CC0-1.0' },
  node('testwort', 'herb', 'ว่านทดสอบ', 'testwort', {
    names: names('ว่านทดสอบ', 'testwort', 'Specimen fictum'),
    attributes: { family: 'Fictaceae', parts: ['rhizome'], verified: true, reviewed: '2026-11-16' },
  }),
  node('mockroot', 'herb', 'รากสมมุติ', 'mockroot', { names: names('รากสมมุติ', 'mockroot', 'Radix simulata') }),
  node('testol', 'constituent', 'เทสทอล', 'testol'),
  node('mockine', 'constituent', 'ม็อกไคน์', 'mockine'),
  node('invented_cough', 'indication', 'ไอสมมุติ', 'invented cough', { same_as: ['ICD10:Z99.99'] }),
  node('invented_fever', 'indication', 'ไข้สมมุติ', 'invented fever'),
  node('imagined_state', 'condition', 'ภาวะสมมุติ', 'imagined state'),
  node('fictamab', 'drug', 'ฟิกทาแมบ', 'fictamab'),
  node('fictional_thinners', 'drug_class', 'กลุ่มยาสมมุติ', 'fictional thinners'),
  edge('testwort', 'contains', 'testol', fact('Named as a constituent on the synthetic page.', true)),
  edge('testwort', 'contains', 'mockine', fact('Named as a constituent on the synthetic page.', false)),
  edge('mockroot', 'contains', 'testol', fact('Named as a constituent on the synthetic page.', true)),
  edge('testol', 'treats', 'invented_cough', { strength: 'low', ...fact('A synthetic trial reports fewer coughs.', true, 'SYN:1') }),
  edge('mockine', 'treats', 'invented_fever', fact('A synthetic trial reports less heat.', false, 'SYN:2')),
  edge('testwort', 'treats', 'invented_cough', { strength: 'moderate', ...fact('Recommended for it on page 12.', true, 'SYN:1') }),
  edge('testwort', 'traditionally_used_for', 'invented_fever', fact('Told by tradition on page 13.', false)),
  edge('testwort', 'contraindicated_in', 'imagined_state', { strength: 'high', ...fact('Must not be given, page 14.', true) }),
  edge('testwort', 'interacts_with', 'fictional_thinners', {
    strength: 'moderate',
    evidence: [{ reference: 'https://example.org/label', text: 'Care is advised with this class.' }],
    qualifiers: { verified: false, reviewed: '2026-11-10' },
  }),
  edge('fictamab', 'member_of', 'fictional_thinners', fact('Listed under the class.', true)),
  monograph('testwort', 'th', 'ว่านทดสอบ', '## คืออะไร\n\nว่านทดสอบเป็นพืชสมมุติที่มีอยู่ในการทดสอบเท่านั้น\n\n## การใช้\n\nใช้กับไอสมมุติตามหน้า 12\n\n## ความปลอดภัย\n\nห้ามใช้ในภาวะสมมุติ'),
  monograph('testwort', 'en', 'Testwort', '## What it is\n\nTestwort is an invented plant that exists in tests only.\n\n## Use\n\nIt is used for invented cough, as page 12 says.\n\n## Safety\n\nIt must not be used in the imagined state.'),
  paper('SYN:1', 'Testwort for invented cough: a synthetic trial', 'Testwort with its constituent testol was compared with nothing at all. Invented cough became rarer among people who do not exist.', { ids: { doi: '10.9999/synthetic.1' } }),
  paper('SYN:2', 'Mockine and invented fever', 'Mockine was said to lower invented fever. The data were made up.', { year: 2019, retraction: { kind: 'retracted', notice: 'SYN:3' } }),
  paper('SYN:5', 'A synthetic paper in other words', `[Summary in other words, not the authors' abstract] ${'Nothing in this sentence was ever measured by anybody. '.repeat(8)}Mirthwort made people who do not exist laugh.`, { attributes: { abstract_by: 'a librarian' } }),
  paper('SYN:4', 'การศึกษาสมมุติของว่านทดสอบกับไอสมมุติ', 'ว่านทดสอบทำให้ไอสมมุติลดลงในอาสาสมัครที่ไม่มีอยู่จริง', { lang: 'th', year: 2022 }),
];

/** No paper has this id yet; facts know retractions by ids of papers only. */
export const RETRACTED = 'PMID:99999992';

/** What is against a herb, verified; it rests on a retracted paper in part. */
const DOUBTED: Records = [
  node('doubtwort', 'herb', 'ว่านสงสัย', 'doubtwort'),
  edge('doubtwort', 'contraindicated_in', 'imagined_state', { strength: 'high', ...fact('Must not be given, page 20.', true) }),
  edge('doubtwort', 'interacts_with', 'fictamab', { strength: 'moderate', ...fact('Mockine is in it.', true, RETRACTED) }),
  edge('doubtwort', 'treats', 'invented_fever', fact('A synthetic trial reports less heat.', true, RETRACTED)),
  node('gravewort', 'herb', 'ว่านหนัก', 'gravewort'),
  node('gravamab', 'drug', 'กราวาแมบ', 'gravamab'),
  edge('gravewort', 'interacts_with', 'gravamab', {
    strength: 'high',
    evidence: [{ text: 'Must never be given together, page 21.' }],
    qualifiers: { verified: true, reviewed: '2026-11-16', severity: 'critical' },
  }),
  paper(RETRACTED, 'Doubtwort and invented fever', 'The data were made up.', { retraction: { kind: 'retracted', notice: 'SYN:3' } }),
];

/** A stranger's mixture of it, with ingredients that nothing is known of; and a herb that they say is the same. */
const STRANGE: Records = [
  { record: 'source', id: 'stranger', title: 'A stranger', licence: 'CC0-1.0' },
  { ...node('strange_mixture', 'formulation', 'ตำรับแปลก', 'strange mixture'), source: 'stranger', attributes: { other_ingredients: ['moon dust'] } },
  { ...edge('strange_mixture', 'contains', 'doubtwort'), source: 'stranger' },
  { ...edge('strange_mixture', 'contains', 'mockroot'), source: 'stranger' },
  { ...node('grave_mixture', 'formulation', 'ตำรับหนัก', 'grave mixture'), source: 'stranger' },
  { ...edge('grave_mixture', 'contains', 'gravewort'), source: 'stranger' },
  { ...node('twinwort', 'herb', 'ว่านแฝด', 'twinwort'), source: 'stranger', same_as: ['doubtwort'] },
];

/** After [`putEvidence`]: what must not look better than it is. */
export async function putDoubts(house: House): Promise<void> {
  await putEvidence(house, DOUBTED);
  const { rejected } = await callAs(house, 'put_records', { records: STRANGE });
  if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`);
}

/** What `read_node` would answer of a node with very many neighbours. */
export function star(n_neighbours: number): Output<'read_node'> {
  const kinds = ['gene', 'disease', 'pathway', 'star'];
  const relations = Array.from({ length: n_neighbours }, (_, at) => ({
    predicate: 'shines_on',
    id: `star_${at}`,
    type: kinds[at % kinds.length] ?? 'star',
    label: `star ${at}`,
    edge_id: `edge_${at}`,
    source: SOURCE,
    verified: false,
  }));
  const hub = { id: 'hub', type: 'star', categories: ['star'], label: 'hub', names: [{ text: 'hub', lang: 'en' }] };
  return { ...hub, source: SOURCE, licence: 'Apache-2.0', relations, n_relations: n_neighbours };
}

/** A call takes ten thousand values. */
const BATCH = 500;

export async function putEvidence(house: House, records: Records = RECORDS): Promise<void> {
  for (let at = 0; at < records.length; at += BATCH) {
    const { rejected } = await callAs(house, 'put_records', {
      records: records.slice(at, at + BATCH),
      // They stand for what comes with the program, and say `verified` like it.
      replace_starter: true,
    });
    if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected.slice(0, 3))}`);
  }
}

/** Asks the search page something that finds Thai and English. */
export async function ask(page: Page): Promise<void> {
  await page.goto('/search');
  await page.locator('[data-search-field]').fill('ว่านทดสอบ invented fever');
  await page.keyboard.press('Enter');
  await page.locator('.hit').first().waitFor();
  await page.locator('.hit-check').first().check();
}

/** Opens the explorer at the herb, and waits until nothing moves. */
export async function openGraph(page: Page): Promise<void> {
  await page.goto('/graph');
  await page.locator('[data-search-field]').fill('testwort');
  await page.keyboard.press('Enter');
  await page.locator('[data-nodes="7"][data-settled="true"]').waitFor();
}

/** What the tests of a file stand on. */
export interface Ground {
  house: House;
  front: Front;
  browser: Browser;
}

/** A house behind a front, and a browser, for all tests of a file; there before the first of them. */
export function prepareGround(fill: (house: House) => Promise<void>): Ground {
  const ground = {} as Ground;
  beforeAll(async () => {
    ground.house = await startHouse();
    await fill(ground.house);
    ground.front = await startFront(ground.house.url, 'whole');
    ground.browser = await startBrowser();
  });
  afterAll(async () => {
    await ground.browser?.close();
    await ground.front?.close();
    await ground.house?.stop();
  });
  return ground;
}
