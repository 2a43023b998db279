// Boards, the text of documents, differences, places.

import { describe, expect, test } from 'vitest';
import { type Artifact, columnsOf, latestOf, mayBeApproved, toneOf } from '../../src/pages/documents/board.ts';
import { parseDiff } from '../../src/pages/documents/diff.ts';
import { digestOf } from '../../src/pages/documents/digest.ts';
import { dropDraft, keepDraft, readDraft } from '../../src/pages/documents/drafts.ts';
import { isProjectId, parsePlace } from '../../src/pages/documents/place.ts';
import { chosen, nameOf, type Revision } from '../../src/pages/documents/revisions.ts';
import { cutLines, guessId, offsetOfLine, withVersion } from '../../src/pages/documents/source.ts';

function artifact(id: string, status: string, version = 1): Artifact {
  return {
    id,
    type: 'prd',
    version,
    title: 'A title',
    status,
    file_path: '',
    resource_uri: '',
    content_sha256: '',
    size_bytes: 1,
    created_by: 'a',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

describe('a board', () => {
  test('shows each document once, in its latest version', () => {
    const all = [artifact('PRD-001', 'Approved', 1), artifact('PRD-001', 'Draft', 3), artifact('PRD-001', 'Draft', 2), artifact('PRD-002', 'Draft')];
    expect(latestOf(all).map(({ id, version }) => [id, version])).toEqual([
      ['PRD-001', 3],
      ['PRD-002', 1],
    ]);
  });

  test('has its columns in the order in which documents go, and those of a team at the end', () => {
    const all = ['Completed', 'Zurückgestellt', 'Approved', 'Draft', 'Abgelehnt', 'In Review', 'Draft'].map((status, at) => artifact(`PRD-00${at}`, status));
    expect(columnsOf(all).map(({ status, artifacts }) => [status, artifacts.length])).toEqual([
      ['Draft', 2],
      ['In Review', 1],
      ['Approved', 1],
      ['Completed', 1],
      ['Abgelehnt', 1],
      ['Zurückgestellt', 1],
    ]);
    expect(toneOf('constructor')).toBe('quiet');
  });

  test('offers an approval only where one is waited for', () => {
    expect(mayBeApproved(artifact('PRD-001', 'Draft'))).toBe(true);
    expect(mayBeApproved(artifact('PRD-001', 'A step of our own'))).toBe(true);
    expect(mayBeApproved(artifact('PRD-001', 'In Review'))).toBe(false);
    expect(mayBeApproved(artifact('PRD-001', 'Approved'))).toBe(false);
    expect(mayBeApproved(artifact('PRD-001', 'Withdrawn'))).toBe(false);
    expect(mayBeApproved(artifact('A_business_research', 'Draft'))).toBe(false);
    const approval = { approved_by: 'b', approved_at: '', meaning: '', reviewed_sha256: '' };
    expect(mayBeApproved({ ...artifact('PRD-001', 'Draft'), approval })).toBe(false);
  });
});

describe('the text of a document', () => {
  test.each([
    ['# PRD-006: Title\n\n- **PRD ID:** PRD-007\n', 'PRD-007'],
    ['**Story ID**: US-0012 (draft)', 'US-0012'],
    ['ID: `ADR-001`', 'ADR-001'],
    ['# EPIC-006: Title', 'EPIC-006'],
    ['# Research\n\nsee PRD-006', ''],
    ['# PRD-XXX: [Title]\n- **PRD ID:** PRD-XXX', ''],
    ['', ''],
  ])('%j has the id %j', (text, id) => {
    expect(guessId(text)).toBe(id);
  });

  test.each([
    ['- **Version:** 1\n- **Date:** 2025', '- **Version:** 2\n- **Date:** 2025'],
    ['**Version**: v9 (draft)', '**Version**: v2 (draft)'],
    ['Version: 12', 'Version: 2'],
    ['no number', 'no number'],
  ])('%j with another version is %j', (before, after) => {
    expect(withVersion(before, 2)).toBe(after);
  });

  test('is found by its lines', () => {
    const text = 'one\ntwo\n\nfour';
    const at = (line: number) => {
      const { start, end } = offsetOfLine(text, line);
      return text.slice(start, end);
    };
    expect([1, 2, 3, 4, 0, 99].map(at)).toEqual(['one', 'two', '', 'four', 'one', 'four']);
  });

  test('a finding is cut at the lines it names', () => {
    expect(cutLines("line 95: `TBD` is not filled in; see line 7, or the headline 3")).toEqual([
      { is: 'line', text: 'line 95', line: 95 },
      { is: 'text', text: ': `TBD` is not filled in; see ' },
      { is: 'line', text: 'line 7', line: 7 },
      { is: 'text', text: ', or the headline 3' },
    ]);
    expect(cutLines('Found 8/8 required sections')).toEqual([{ is: 'text', text: 'Found 8/8 required sections' }]);
  });

  test('has the hash that the server keeps', async () => {
    expect(await digestOf('กข\n')).toBe('45de5095e51a51115900ab678de842cb0d31a1a9e64e46ce09c92197a1ac2090');
    expect(await digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('a difference', () => {
  test('is read with the numbers of both sides', () => {
    const [hunk, second] = parseDiff('@@ -1,3 +1,4 @@\n a\n-b\n+B\n+-x\n c\n@@ -10 +11 @@\n-old\n\\ No newline at end of file\n+new\n');
    expect(hunk?.lines).toEqual([
      { is: 'same', text: 'a', old: 1, new: 1 },
      { is: 'removed', text: 'b', old: 2 },
      { is: 'added', text: 'B', new: 2 },
      { is: 'added', text: '-x', new: 3 },
      { is: 'same', text: 'c', old: 3, new: 4 },
    ]);
    expect(second).toEqual({
      head: '@@ -10 +11 @@',
      lines: [
        { is: 'removed', text: 'old', old: 10 },
        { is: 'added', text: 'new', new: 11 },
      ],
    });
    expect(parseDiff('')).toEqual([]);
  });

  test('is between the states of the address, else the last two', () => {
    const revision = (version: number, number: number): Revision => ({
      version,
      revision: number,
      status: 'Draft',
      cause: 'stored',
      content_sha256: '',
      size_bytes: 1,
      changed_by: 'a',
      changed_at: '',
    });
    const all = [revision(1, 1), revision(1, 2), revision(2, 1)];
    const names = (search: string) => Object.values(chosen(all, search)).map((one) => one && nameOf(one));
    expect(names('')).toEqual(['1.2', '2.1']);
    expect(names('?from=1.1&to=1.2')).toEqual(['1.1', '1.2']);
    expect(names('?from=9.9')).toEqual(['1.2', '2.1']);
    expect(chosen([], '')).toEqual({ from: undefined, to: undefined });
  });
});

test('an address names a version and a project, or neither', () => {
  expect(parsePlace('?version=2&project=demo')).toEqual({ version: 2, project_id: 'demo' });
  expect(parsePlace('?version=0&project=a%20b')).toEqual({});
  expect(parsePlace('?version=1000')).toEqual({});
  expect(['a', 'ai-agent.mcp_1', 'x'.repeat(100)].every(isProjectId)).toBe(true);
  expect(['', '-a', 'a/b', 'x'.repeat(101)].some(isProjectId)).toBe(false);
});

test('texts that are being written are kept in memory, and not without end', () => {
  for (let at = 0; at < 25; at += 1) keepDraft(`d${at}`, String(at));
  expect(readDraft('d0')).toBeUndefined();
  expect(readDraft('d24')).toBe('24');
  dropDraft('d24');
  expect(readDraft('d24')).toBeUndefined();
});
