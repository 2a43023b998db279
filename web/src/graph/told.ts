// What the graph tells of a statement beside its record: is it verified here, and does everything behind it stand?

import { CallError, type Client } from '../api/client.ts';
import type { Relation } from '../evidence/standing.ts';
import type { NetworkEdge } from './network.ts';

/** A node with very many statements shows only some of them, so both ends are asked; `null` where neither shows it. */
export async function readTold(client: Client, edge: NetworkEdge, signal: AbortSignal): Promise<Relation | null> {
  for (const end of new Set([edge.subject, edge.object])) {
    try {
      const { relations } = await client.call('read_node', { curie: end }, { signal });
      const found = relations.find(({ edge_id }) => edge_id === edge.id);
      if (found) return found;
    } catch (thrown) {
      // Withdrawn since the network was drawn.
      if (!(thrown instanceof CallError && thrown.code === 'NOT_FOUND')) throw thrown;
    }
  }
  return null;
}
