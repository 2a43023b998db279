// Documents are shown as elements: nothing in them runs, loads or leads where it should not.

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { LanguageProvider } from '../../src/i18n/language.tsx';
import { parseStored, targetOf } from '../../src/markdown/address.ts';
import { decodeReferences, readMarkdown } from '../../src/markdown/read.ts';
import { Markdown } from '../../src/parts/markdown.tsx';

beforeAll(() => {
  vi.stubGlobal('navigator', { languages: ['en'] });
});

function render(text: string): string {
  return renderToStaticMarkup(createElement(LanguageProvider, null, createElement(Markdown, { text })));
}

test('a document becomes headings below that of the page, lists, tables, code, each with its line', () => {
  const text = [
    '# PRD-006: Title',
    '',
    'Some *soft* and **hard** words with `code` and ~~gone~~.',
    '',
    '- [x] done',
    '- [ ] open',
    '  1. inner',
    '',
    '| a | b |',
    '|---|--:|',
    '| 1 | 2 |',
    '',
    '> quoted',
    '',
    '```js',
    'let x;',
    '```',
    '',
    '---',
  ].join('\n');
  const html = render(text);
  for (const part of [
    '<h2 data-line="1">PRD-006: Title</h2>',
    '<p data-line="3">Some <em>soft</em> and <strong>hard</strong> words with <code>code</code> and <del>gone</del>.</p>',
    '<li data-line="5" class="markdown-task">',
    '<ol start="1"><li data-line="7">inner</li></ol>',
    '<tr data-line="11"><td>1</td><td class="is-right">2</td></tr>',
    '<blockquote data-line="13"><p data-line="13">quoted</p></blockquote>',
    '<code>let x;</code>',
    '<hr data-line="19"/>',
  ]) {
    expect(html).toContain(part);
  }
});

describe('what a hostile document holds is only shown', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'text <b onclick="alert(1)">bold</b>',
    '<iframe src="https://example.org"></iframe>',
    '<svg><a xlink:href="javascript:alert(1)">x</a></svg>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '&#60;script&#62;alert(1)&#60;/script&#62;',
  ])('%s', (text) => {
    const html = render(text);
    const tags = new Set(Array.from(html.matchAll(/<([a-z0-9]+)/g), ([, tag]) => tag));
    expect(['div', 'p', 'pre', 'code']).toEqual(expect.arrayContaining([...tags]));
    expect(html).toContain('&lt;');
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'java&#10;script:alert(1)',
    '&#106;avascript:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/1',
    '//example.org/x',
    '/settings/keys',
    '#token=stolen',
    '../up',
    'mcp://resources/artifacts/../secrets/x.md',
  ])('an address that is not followed: %s', (href) => {
    expect(targetOf(href)).toEqual({ is: 'nothing' });
    expect(render(`[press me](<${href}>) and ![pic](<${href}>)`)).not.toContain('href=');
  });

  test('images from elsewhere are named and not loaded', () => {
    const html = render('![a chart](https://example.org/c.png) ![inline](data:image/png;base64,AA==)');
    expect(html).not.toContain('<img');
    expect(html).toContain('a chart');
    expect(html).toContain('href="https://example.org/c.png"');
  });

  test('links outside open elsewhere and tell nothing of this page', () => {
    const html = render('[out](https://example.org/?q=1) <mailto:a@example.org> https://example.org/auto');
    expect(html.match(/rel="noopener noreferrer nofollow"/g)).toHaveLength(3);
    expect(html).toContain('href="https://example.org/?q=1"');
  });

  test('a document of this server is a page of it', () => {
    expect(render('[it](mcp://resources/artifacts/prds/PRD-006_v3.md)')).toContain('href="/documents/PRD-006?version=3"');
    expect(render('[it](artifacts/projects/demo/epics/EPIC-001_v1.md)')).toContain('href="/documents/EPIC-001?version=1&amp;project=demo"');
  });
});

test.each([
  ['mcp://resources/artifacts/research/A_business_research.md', { id: 'A_business_research' }],
  ['artifacts/research/A_business_research_v2.md', { id: 'A_business_research', version: 2 }],
  ['artifacts/projects/demo/prds/PRD-006_v3.md', { id: 'PRD-006', version: 3, project_id: 'demo' }],
  ['https://example.org/artifacts/prds/PRD-006_v3.md', null],
  ['artifacts/prds/../PRD-006_v3.md', null],
  ['artifacts/prds/PRD-006_v3.txt', null],
])('%s is the document %j', (text, expected) => {
  expect(parseStored(text)).toEqual(expected);
});

test.each([
  ['5 &plusmn; 2 &mu;g &ge; 3 &amp; more', '5 ± 2 μg ≥ 3 & more'],
  ['&#181;g &#x3BC;g', 'µg μg'],
  ['&unknown; &constructor; AT&T', '&unknown; &constructor; AT&T'],
  ['&#0; &#xD800; &#x110000;', '\ufffd \ufffd \ufffd'],
])('%s is %s', (text, expected) => {
  expect(decodeReferences(text)).toBe(expected);
});

describe('no text keeps a page waiting', () => {
  const long = 500_000;
  test.each([
    ['emphasis without an end', '**a'],
    ['brackets', '['],
    ['images without an end', '![a]('],
    ['quotes', '>'],
    ['lists', '- '],
    ['a table', '|a'],
    ['tags', '<a '],
    ['underscores', '_a'],
    ['ticks', '`a'],
    ['paragraphs of emphasis', `${'**a'.repeat(2_600)}\n\n`],
  ])('%s', (_, piece) => {
    const text = piece.repeat(Math.ceil(long / piece.length)).slice(0, long);
    const began = performance.now();
    const n_chars = readMarkdown(text).reduce((sum, { token }) => sum + token.raw.length, 0);
    // Generous, as machines are: without its limits the reader takes minutes for some of these.
    expect(performance.now() - began).toBeLessThan(25_000);
    expect(n_chars).toBeGreaterThanOrEqual(text.trimEnd().length);
  });

  test('what is nested too deeply is shown as it was written', () => {
    const html = render(`${'> '.repeat(60)}deep`);
    expect(html.match(/<blockquote/g)?.length).toBeLessThan(40);
    expect(html).toContain('&gt; deep');
  });
});
