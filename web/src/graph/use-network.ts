// The network of a page and what can be done with it: open a node, expand, follow paths, load everything.

import { useCallback, useEffect, useRef, useState } from 'react';
import { CallError, type Output } from '../api/client.ts';
import { asCallError } from '../api/query.ts';
import { useClient } from '../api/session.tsx';
import { noteOf } from '../evidence/note.ts';
import { type EdgeRecord, edgeOf, nameIn, type NodeRecord, nodeOf, readByIds, readPage, type RecordPage } from '../evidence/record.ts';
import { useLanguage } from '../i18n/language.tsx';
import { EDGES_MAX, EMPTY, type Network, NODES_MAX, type NodeDetails, withNames, withNode, withoutNode, withPaths, withRecords } from './network.ts';

export interface Found {
  paths: Output<'query_kg'>['paths'];
  isMore: boolean;
  /** What the paths do not tell. */
  note: string | undefined;
}

export interface PathQuestion {
  /** An id or a name. */
  from: string;
  /** The type of the start; nothing where the pattern begins with any. */
  kind: string | undefined;
  pattern: string;
}

/** Hops of the longest pattern that the server takes. */
const DEPTH_MAX = 6;

export interface Exploration {
  network: Network;
  selected: string | null;
  select: (id: string | null) => void;
  /** What the server told of a node when it was opened. */
  detailsOf: (id: string) => NodeDetails | undefined;
  /** Its name in the language of the page; `otherwise` where it is not on the screen. */
  nameOf: (id: string, otherwise?: string) => string;
  busy: 'no' | 'node' | 'paths' | 'whole';
  /** How much of the whole graph was read. */
  progress: { nodes: number; edges: number };
  error: CallError | undefined;
  /** Adds a node by id or name, with everything that is said of it, and selects it. Its id, or `null` when it failed. */
  open: (word: string) => Promise<string | null>;
  expand: (id: string) => Promise<void>;
  follow: (question: PathQuestion) => Promise<Found | null>;
  loadWhole: () => Promise<void>;
  takeAway: (id: string) => void;
  clear: () => void;
}

/** `onUnknown` is asked when a name means nothing or several things, and may take care of it. */
export function useNetwork(onUnknown?: (word: string, error: CallError) => boolean): Exploration {
  const client = useClient();
  const { language } = useLanguage();
  const [network, setNetwork] = useState<Network>(EMPTY);
  const [selected, select] = useState<string | null>(null);
  const [busy, setBusy] = useState<Exploration['busy']>('no');
  const [error, setError] = useState<CallError>();
  const [progress, setProgress] = useState({ nodes: 0, edges: 0 });
  const details = useRef(new Map<string, NodeDetails>());

  // An answer to a page that was left changes nothing.
  const alive = useRef(new AbortController());
  useEffect(() => {
    alive.current = new AbortController();
    return () => alive.current.abort();
  }, []);

  const run = async <T>(what: Exploration['busy'], work: (signal: AbortSignal) => Promise<T>): Promise<T | null> => {
    const { signal } = alive.current;
    setBusy(what);
    setError(undefined);
    try {
      return await work(signal);
    } catch (thrown) {
      if (!signal.aborted) setError(asCallError(thrown));
      return null;
    } finally {
      if (!signal.aborted) setBusy('no');
    }
  };

  const open = (word: string) =>
    run('node', async (signal) => {
      try {
        const answer = await client.call('read_node', { curie: word }, { signal });
        details.current.set(answer.id, answer);
        setNetwork((before) => withNode(before, answer));
        select(answer.id);
        return answer.id;
      } catch (thrown) {
        if (thrown instanceof CallError && ['NOT_FOUND', 'INVALID_ARG'].includes(thrown.code) && onUnknown?.(word, thrown)) return null;
        throw thrown;
      }
    });

  const follow = ({ from, kind, pattern }: PathQuestion) =>
    run('paths', async (signal) => {
      const type = kind ?? (await client.call('read_node', { curie: from }, { signal })).type;
      const answer = await client.call('query_kg', { start: { type, id: from }, pattern, max_depth: DEPTH_MAX, detail: 'full' }, { signal });
      setNetwork((before) => withPaths(before, answer.paths));
      const start = answer.paths[0]?.[0]?.id;
      if (start !== undefined) select(start);
      return { paths: answer.paths, isMore: answer.truncated != null, note: noteOf(answer) };
    });

  const loadWhole = async () => {
    await run('whole', async (signal) => {
      // Put on the screen at once: a picture of every page would be laid out anew each time.
      const nodes: NodeRecord[] = [];
      const edges: EdgeRecord[] = [];
      const tell = () => setProgress({ nodes: nodes.length, edges: edges.length });
      let cursor: string | undefined;
      do {
        const page: RecordPage<NodeRecord> = await readPage(client, 'node', cursor, nodeOf, signal);
        nodes.push(...page.records);
        cursor = page.next;
        tell();
      } while (cursor !== undefined && nodes.length <= NODES_MAX);
      cursor = undefined;
      do {
        const page: RecordPage<EdgeRecord> = await readPage(client, 'edge', cursor, edgeOf, signal);
        edges.push(...page.records);
        cursor = page.next;
        tell();
      } while (cursor !== undefined && edges.length <= EDGES_MAX);
      setNetwork((before) => withRecords(before, nodes, edges));
    });
  };

  // Nodes that came along with others bring one name; the reader may want another language.
  const isNaming = useRef(false);
  useEffect(() => {
    const nameless = [...network.nodes.values()].filter(({ names }) => names === undefined).map(({ id }) => id);
    if (nameless.length === 0 || isNaming.current) return;
    isNaming.current = true;
    const { signal } = alive.current;
    readByIds(client, 'node', nameless, nodeOf, signal)
      .then((records) => {
        isNaming.current = false;
        const found = new Map(records.map((record) => [record.id, record]));
        // What the record does not have is not asked for again.
        const all = nameless.map((id) => found.get(id) ?? nodeOf({ id }));
        if (!signal.aborted) setNetwork((before) => withNames(before, all));
      })
      .catch(() => {
        // The names that are there still serve.
        isNaming.current = false;
      });
  }, [network, client]);

  const nameOf = useCallback(
    (id: string, otherwise = id) => {
      const node = network.nodes.get(id);
      return nameIn(language, node?.names ?? [], node?.label ?? otherwise);
    },
    [network, language],
  );

  return {
    network,
    selected,
    select,
    detailsOf: (id) => details.current.get(id),
    nameOf,
    busy,
    progress,
    error,
    open,
    expand: async (id) => void (await open(id)),
    follow,
    loadWhole,
    takeAway: (id) => {
      setNetwork((before) => withoutNode(before, id));
      if (selected === id) select(null);
    },
    clear: () => {
      setNetwork(EMPTY);
      select(null);
      setError(undefined);
    },
  };
}
