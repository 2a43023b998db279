// Names of nodes in the language of the reader, for places that know only ids.

import { useQuery } from '../api/query.ts';
import { useClient } from '../api/session.tsx';
import { useLanguage } from '../i18n/language.tsx';
import { nameIn, nodeOf, readByIds } from './record.ts';

/** Until the names are there, and for nodes that have none, it is `otherwise`. */
export function useNames(ids: Iterable<string>): (id: string, otherwise?: string) => string {
  const { language } = useLanguage();
  const client = useClient();
  const wanted = [...new Set(ids)].sort();
  const query = useQuery(wanted.length > 0 ? JSON.stringify(wanted) : null, async (signal) => {
    const nodes = await readByIds(client, 'node', wanted, nodeOf, signal);
    return new Map(nodes.map(({ id, names }) => [id, names]));
  });
  return (id, otherwise = id) => nameIn(language, query.data?.get(id) ?? [], otherwise);
}
