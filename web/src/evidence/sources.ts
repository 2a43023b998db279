// The sources of the record: what they are called and under which terms their words may be used.

import { useQuery } from '../api/query.ts';
import { useClient } from '../api/session.tsx';
import { readPage, sourceOf, type SourceRecord } from './record.ts';

const PAGES_MAX = 5;

export type Sources = ReadonlyMap<string, SourceRecord>;

/** Empty until they are there; without them a page shows ids. */
export function useSources(): Sources {
  const client = useClient();
  const query = useQuery('sources', async (signal) => {
    const sources = new Map<string, SourceRecord>();
    let cursor: string | undefined;
    for (let n_pages = 0; n_pages < PAGES_MAX; n_pages += 1) {
      const page = await readPage(client, 'source', cursor, sourceOf, signal);
      for (const source of page.records) sources.set(source.id, source);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    return sources;
  });
  return query.data ?? NONE;
}

const NONE: Sources = new Map();
