// The part of the evidence graph that is on the screen. Pure: every change makes a new network.

import type { Output } from '../api/client.ts';
import type { EdgeRecord, Name, NodeRecord } from '../evidence/record.ts';

/** More would be neither readable nor fluid. */
export const NODES_MAX = 5_000;
export const EDGES_MAX = 20_000;

export interface NetworkNode {
  id: string;
  kind: string;
  /** As the graph calls it; `names` know more languages once they were read. */
  label: string;
  names: readonly Name[] | undefined;
  /** Everything that the server shows of it is here. */
  isExpanded: boolean;
  /** How many statements the record has of it, once that is known. */
  n_relations: number | undefined;
}

export interface NetworkEdge {
  id: string;
  subject: string;
  predicate: string;
  object: string;
  source: string;
  strength: string | undefined;
}

export interface Network {
  nodes: ReadonlyMap<string, NetworkNode>;
  edges: ReadonlyMap<string, NetworkEdge>;
  /** Something did not fit. */
  isFull: boolean;
}

export const EMPTY: Network = { nodes: new Map(), edges: new Map(), isFull: false };

export type NodeDetails = Output<'read_node'>;
export type Path = Output<'query_kg'>['paths'][number];

class Draft {
  readonly nodes: Map<string, NetworkNode>;
  readonly edges: Map<string, NetworkEdge>;
  isFull: boolean;

  constructor(before: Network) {
    this.nodes = new Map(before.nodes);
    this.edges = new Map(before.edges);
    this.isFull = before.isFull;
  }

  node(node: Pick<NetworkNode, 'id' | 'kind' | 'label'> & Partial<NetworkNode>): void {
    const before = this.nodes.get(node.id);
    if (before === undefined && this.nodes.size >= NODES_MAX) {
      this.isFull = true;
      return;
    }
    const fresh = { names: undefined, isExpanded: false, n_relations: undefined };
    this.nodes.set(node.id, { ...fresh, ...before, ...node });
  }

  /** Both ends of an edge are there, or it is not. */
  edge(edge: NetworkEdge): void {
    if (!this.nodes.has(edge.subject) || !this.nodes.has(edge.object)) return;
    if (!this.edges.has(edge.id) && this.edges.size >= EDGES_MAX) {
      this.isFull = true;
      return;
    }
    this.edges.set(edge.id, edge);
  }

  done(): Network {
    return { nodes: this.nodes, edges: this.edges, isFull: this.isFull };
  }
}

/** A node with everything that is said of it. */
export function withNode(before: Network, details: NodeDetails): Network {
  const draft = new Draft(before);
  const { id, type, label, names, relations, n_relations } = details;
  draft.node({ id, kind: type, label, names, n_relations, isExpanded: true });
  for (const relation of relations) {
    draft.node({ id: relation.id, kind: relation.type, label: relation.label });
    const [subject, object] = relation.reverse ? [relation.id, id] : [id, relation.id];
    const { edge_id, predicate, source, strength } = relation;
    draft.edge({ id: edge_id, subject, predicate, object, source, strength: strength ?? undefined });
  }
  return draft.done();
}

export function withPaths(before: Network, paths: readonly Path[]): Network {
  const draft = new Draft(before);
  for (const path of paths) {
    for (const [at, step] of path.entries()) {
      draft.node({ id: step.id, kind: step.type, label: step.label });
      const previous = path[at - 1];
      if (previous === undefined || step.via == null) continue;
      const [subject, object] = step.via.reverse ? [step.id, previous.id] : [previous.id, step.id];
      const { edge_id, predicate, source, strength } = step.via;
      draft.edge({ id: edge_id, subject, predicate, object, source, strength: strength ?? undefined });
    }
  }
  return draft.done();
}

export function withRecords(before: Network, nodes: readonly NodeRecord[], edges: readonly EdgeRecord[]): Network {
  const draft = new Draft(before);
  for (const { id, categories, names } of nodes) {
    draft.node({ id, kind: categories[0] ?? '', label: names[0]?.text ?? id, names });
  }
  for (const { id, subject, predicate, object, source, strength } of edges) {
    draft.edge({ id, subject, predicate, object, source, strength });
  }
  return draft.done();
}

export function withNames(before: Network, records: readonly NodeRecord[]): Network {
  const draft = new Draft(before);
  for (const { id, names } of records) {
    const node = draft.nodes.get(id);
    if (node) draft.nodes.set(id, { ...node, names });
  }
  return draft.done();
}

/** A node that leaves takes its edges along; who was connected with it is no longer complete. */
export function withoutNode(before: Network, id: string): Network {
  const nodes = new Map(before.nodes);
  nodes.delete(id);
  const edges = new Map(before.edges);
  for (const edge of before.edges.values()) {
    if (edge.subject !== id && edge.object !== id) continue;
    edges.delete(edge.id);
    const other = nodes.get(edge.subject === id ? edge.object : edge.subject);
    if (other) nodes.set(other.id, { ...other, isExpanded: false });
  }
  return { nodes, edges, isFull: false };
}

export function degrees({ edges }: Network): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { subject, object } of edges.values()) {
    for (const end of subject === object ? [subject] : [subject, object]) found.set(end, (found.get(end) ?? 0) + 1);
  }
  return found;
}

/** Types on the screen with how many nodes each has, the most frequent first. */
export function kindsOf({ nodes }: Network): [kind: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { kind } of nodes.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

/** What is left when types are hidden. */
export function visible(network: Network, hidden: ReadonlySet<string>): Network {
  if (hidden.size === 0) return network;
  const nodes = new Map([...network.nodes].filter(([, node]) => !hidden.has(node.kind)));
  const edges = new Map([...network.edges].filter(([, edge]) => nodes.has(edge.subject) && nodes.has(edge.object)));
  return { ...network, nodes, edges };
}

/** The nodes and edges of a path. */
export function partsOf(path: Path): ReadonlySet<string> {
  return new Set(path.flatMap(({ id, via }) => (via ? [id, via.edge_id] : [id])));
}
