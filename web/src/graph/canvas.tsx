// The drawn graph, for mouse, touch and keyboard. Loaded apart: pages without a graph do not need it.

import { type KeyboardEvent, type Ref, useEffect, useEffectEvent, useId, useImperativeHandle, useRef, useState } from 'react';
import { useWords } from '../evidence/words.ts';
import { useLanguage } from '../i18n/language.tsx';
import { graph as words } from '../i18n/messages/graph.ts';
import { IconButton } from '../parts/button.tsx';
import { Notice } from '../parts/page.tsx';
import type { Palette } from './colours.ts';
import type { Positions } from './drawing.ts';
import type { Network } from './network.ts';
import { type Direction, Stage } from './stage.ts';

export interface CanvasHandle {
  positions: () => Positions;
  /** Nothing where nothing can be drawn. */
  palette: () => Palette | null;
}

interface Props {
  label: string;
  /** Kept while something else is shown in its place: nodes stay where they are. */
  isHidden: boolean;
  network: Network;
  nameOf: (id: string) => string;
  selected: string | null;
  highlight: ReadonlySet<string> | null;
  onSelect: (id: string | null) => void;
  onExpand: (id: string) => void;
  ref?: Ref<CanvasHandle>;
}

const ARROWS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'];

function hasWebGl(): boolean {
  return document.createElement('canvas').getContext('webgl2') !== null;
}

export default function GraphCanvas({ label, isHidden, network, nameOf, selected, highlight, onSelect, onExpand, ref }: Props) {
  const { t } = useLanguage();
  const { predicate: predicateOf } = useWords();
  const help = useId();
  const container = useRef<HTMLDivElement>(null);
  const ring = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage>(null);
  const [isDrawable] = useState(hasWebGl);
  const press = (id: string) => (selected === id ? onExpand(id) : onSelect(id));
  const onNode = useEffectEvent(press);
  const onEdge = useEffectEvent((id: string) => onSelect(id));
  const onNothing = useEffectEvent(() => onSelect(null));
  const show = useEffectEvent(() => stage.current?.show({ network, nameOf, predicateOf, selected, highlight }));

  useEffect(() => {
    if (!isDrawable || container.current === null || ring.current === null) return;
    const made = new Stage(container.current, ring.current, {
      onSelectNode: (id) => onNode(id),
      onSelectEdge: (id) => onEdge(id),
      onSelectNothing: () => onNothing(),
    });
    stage.current = made;
    show();
    const media = matchMedia('(prefers-color-scheme: dark)');
    const recolour = () => made.recolour();
    media.addEventListener('change', recolour);
    const theme = new MutationObserver(recolour);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      theme.disconnect();
      media.removeEventListener('change', recolour);
      stage.current = null;
      made.close();
    };
  }, [isDrawable]);

  useEffect(() => show(), [network, nameOf, selected, highlight]);
  useEffect(() => {
    if (!isHidden) stage.current?.redraw();
  }, [isHidden]);
  useImperativeHandle(ref, () => ({
    positions: () => stage.current?.positions() ?? new Map(),
    palette: () => stage.current?.palette() ?? null,
  }), []);

  const onKey = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = {
      Enter: () => selected !== null && network.nodes.has(selected) && onExpand(selected),
      '+': () => stage.current?.zoom('in'),
      '-': () => stage.current?.zoom('out'),
      '0': () => stage.current?.zoom('all'),
    };
    for (const arrow of ARROWS) {
      acts[arrow] = () => {
        const next = stage.current?.neighbour(selected, arrow as Direction) ?? null;
        if (next !== null) onSelect(next);
      };
    }
    const act = acts[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };

  if (!isDrawable) {
    return (
      !isHidden && (
        <Notice tone="warn" title={t(words.noWebGlTitle)}>
          <p>{t(words.noWebGlBody)}</p>
        </Notice>
      )
    );
  }
  return (
    <div className="graph-canvas" hidden={isHidden}>
      <div
        ref={container}
        className="graph-stage"
        role="application"
        aria-label={label}
        aria-describedby={help}
        tabIndex={0}
        onKeyDown={onKey}
      />
      <div ref={ring} className="graph-ring" hidden aria-hidden="true" />
      <div className="graph-zoom">
        <IconButton icon="plus" label={t(words.zoomIn)} onClick={() => stage.current?.zoom('in')} />
        <IconButton icon="minus" label={t(words.zoomOut)} onClick={() => stage.current?.zoom('out')} />
        <IconButton icon="fit" label={t(words.zoomAll)} onClick={() => stage.current?.zoom('all')} />
      </div>
      <p id={help} className="graph-help">
        {t(words.keys)}
      </p>
    </div>
  );
}
