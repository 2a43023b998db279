// Types and predicates that the record uses, as far as its first pages tell; for completion.

import { useMemo } from 'react';
import { useQuery } from '../api/query.ts';
import { useClient } from '../api/session.tsx';
import { edgeOf, nodeOf, readPage } from '../evidence/record.ts';
import { COMMON_KINDS, COMMON_PREDICATES } from '../evidence/words.ts';
import type { Network } from './network.ts';
import type { Vocabulary } from './pattern.ts';

/** Kinds of documents; no path leads through them. */
const NO_NODES = ['paper', 'monograph', 'chunk'];

export function useVocabulary(network: Network, isWanted: boolean): Vocabulary {
  const client = useClient();
  const query = useQuery(isWanted ? 'vocabulary' : null, async (signal) => {
    const nodes = await readPage(client, 'node', undefined, nodeOf, signal);
    const edges = await readPage(client, 'edge', undefined, edgeOf, signal);
    return {
      kinds: nodes.records.flatMap(({ categories }) => categories),
      predicates: edges.records.map(({ predicate }) => predicate),
    };
  });
  const sample = query.data;
  return useMemo(() => {
    const here = { kinds: [...network.nodes.values()].map(({ kind }) => kind), predicates: [...network.edges.values()].map(({ predicate }) => predicate) };
    const used = { kinds: [...here.kinds, ...(sample?.kinds ?? [])], predicates: [...here.predicates, ...(sample?.predicates ?? [])] };
    // Until the record has said what it uses, the usual words serve.
    const common = COMMON_KINDS.filter((kind) => !NO_NODES.includes(kind));
    return {
      kinds: [...new Set(used.kinds.length > 0 ? used.kinds : common)].sort(),
      predicates: [...new Set(used.predicates.length > 0 ? used.predicates : COMMON_PREDICATES)].sort(),
    };
  }, [network, sample]);
}
