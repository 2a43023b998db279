// The network on the screen: sigma draws it, the worker lays it out. No React in here.

import { MultiDirectedGraph } from 'graphology';
import Sigma from 'sigma';
import type { NodeDisplayData } from 'sigma/types';
import { colourOf, type Palette, readPalette } from './colours.ts';
import { FONT, type Positions, radiusOf } from './drawing.ts';
import { Layout } from './layout.ts';
import { degrees, type Network } from './network.ts';

export interface StageEvents {
  onSelectNode: (id: string) => void;
  onSelectEdge: (id: string) => void;
  onSelectNothing: () => void;
}

export interface Shown {
  network: Network;
  nameOf: (id: string) => string;
  predicateOf: (predicate: string) => string;
  selected: string | null;
  /** Nodes and edges that stand out; the rest fades. Nothing fades when it is null. */
  highlight: ReadonlySet<string> | null;
}

/** Above these, a picture of every moment costs more than it shows. */
const EDGE_EVENTS_MAX = 2_000;
const EDGE_LABELS_MAX = 60;

/** Steps of the golden angle spread newcomers around what they belong to. */
const ANGLE = Math.PI * (3 - Math.sqrt(5));

export type Direction = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export class Stage {
  readonly #graph = new MultiDirectedGraph();
  readonly #sigma: Sigma;
  readonly #layout = new Layout();
  readonly #container: HTMLElement;
  readonly #ring: HTMLElement;
  #palette: Palette;
  #shown: Shown | null = null;
  #isSettled = true;

  constructor(container: HTMLElement, ring: HTMLElement, events: StageEvents) {
    this.#container = container;
    this.#ring = ring;
    this.#palette = readPalette(container);
    this.#sigma = new Sigma(this.#graph, container, {
      allowInvalidContainer: true,
      defaultEdgeType: 'arrow',
      labelFont: FONT,
      edgeLabelFont: FONT,
      labelSize: 13,
      edgeLabelSize: 11,
      labelDensity: 0.6,
      zIndex: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 5,
      nodeReducer: (id, data) => this.#reduceNode(id, data),
      edgeReducer: (id, data) => this.#reduceEdge(id, data),
      defaultDrawNodeLabel: (context, data) => this.#drawLabel(context, data),
      defaultDrawNodeHover: (context, data) => this.#drawHover(context, data),
    });
    this.#sigma.on('clickNode', ({ node }) => events.onSelectNode(node));
    this.#sigma.on('clickEdge', ({ edge }) => events.onSelectEdge(edge));
    this.#sigma.on('clickStage', () => events.onSelectNothing());
    // The second click already says what is wanted.
    this.#sigma.on('doubleClickNode', (event) => event.preventSigmaDefault());
    this.#sigma.on('afterRender', () => this.#placeRing());
    this.#recolour();
  }

  show(shown: Shown): void {
    const before = this.#shown;
    this.#shown = shown;
    if (before?.network !== shown.network) this.#follow(shown.network);
    else this.#sigma.refresh({ skipIndexation: true });
  }

  /** It is on the screen again, maybe in another size. */
  redraw(): void {
    this.#pad();
    this.#sigma.refresh();
  }

  /** Colours are read anew: the theme has changed. */
  recolour(): void {
    this.#palette = readPalette(this.#container);
    this.#recolour();
    this.#sigma.refresh();
  }

  palette(): Palette {
    return this.#palette;
  }

  positions(): Positions {
    return new Map(this.#graph.mapNodes((id, { x, y }) => [id, { x: x as number, y: y as number }]));
  }

  zoom(direction: 'in' | 'out' | 'all'): void {
    const camera = this.#sigma.getCamera();
    const options = { duration: isCalm() ? 0 : 200 };
    if (direction === 'in') void camera.animatedZoom(options);
    else if (direction === 'out') void camera.animatedUnzoom(options);
    else void camera.animatedReset(options);
  }

  /** The nearest node in a direction from the selected one, as it looks on the screen. */
  neighbour(from: string | null, direction: Direction): string | null {
    const start = from !== null && this.#graph.hasNode(from) ? this.#onScreen(from) : null;
    if (start === null) return this.#graph.nodes()[0] ?? null;
    const [ux, uy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[direction] as [number, number];
    let best: string | null = null;
    let least = Infinity;
    this.#graph.forEachNode((id) => {
      if (id === from) return;
      const place = this.#onScreen(id);
      const [dx, dy] = [place.x - start.x, place.y - start.y];
      const ahead = dx * ux + dy * uy;
      const aside = Math.abs(dx * uy - dy * ux);
      if (ahead <= 0 || aside > ahead * 1.8) return;
      const cost = ahead + aside * 1.5;
      if (cost < least) [best, least] = [id, cost];
    });
    return best;
  }

  close(): void {
    this.#layout.close();
    this.#sigma.kill();
  }

  #follow(network: Network): void {
    const graph = this.#graph;
    for (const id of graph.edges()) if (!network.edges.has(id)) graph.dropEdge(id);
    for (const id of graph.nodes()) if (!network.nodes.has(id)) graph.dropNode(id);
    const degree = degrees(network);
    const anchors = this.#anchors(network);
    let n_new = 0;
    for (const node of network.nodes.values()) {
      const size = radiusOf(degree.get(node.id) ?? 0, network.nodes.size);
      if (graph.hasNode(node.id)) {
        graph.mergeNodeAttributes(node.id, { size });
        continue;
      }
      n_new += 1;
      const anchor = anchors.get(node.id);
      const distance = (anchor ? 10 : 2) * Math.sqrt(n_new);
      const x = (anchor?.x ?? 0) + Math.cos(n_new * ANGLE) * distance;
      const y = (anchor?.y ?? 0) + Math.sin(n_new * ANGLE) * distance;
      graph.addNode(node.id, { x, y, size });
    }
    const size = network.edges.size > 2_000 ? 0.6 : 1.4;
    for (const edge of network.edges.values()) {
      if (!graph.hasEdge(edge.id)) graph.addDirectedEdgeWithKey(edge.id, edge.subject, edge.object, { size });
    }
    this.#pad();
    const isSmall = network.edges.size <= EDGE_LABELS_MAX;
    this.#sigma.setSetting('renderEdgeLabels', isSmall);
    this.#sigma.setSetting('enableEdgeEvents', network.edges.size <= EDGE_EVENTS_MAX);
    this.#sigma.setSetting('labelRenderedSizeThreshold', network.nodes.size > 200 ? 5 : 0);
    this.#sigma.setSetting('hideEdgesOnMove', network.edges.size > EDGE_EVENTS_MAX);
    this.#sigma.setSetting('hideLabelsOnMove', network.edges.size > EDGE_EVENTS_MAX);
    // Heads of thousands of arrows are not seen, only drawn.
    this.#sigma.setSetting('defaultEdgeType', network.edges.size > EDGE_EVENTS_MAX ? 'line' : 'arrow');
    this.#lay();
  }

  /** Where a known neighbour of a newcomer is. */
  #anchors(network: Network): Map<string, { x: number; y: number }> {
    const anchors = new Map<string, { x: number; y: number }>();
    for (const { subject, object } of network.edges.values()) {
      for (const [end, other] of [[subject, object], [object, subject]] as const) {
        if (this.#graph.hasNode(end) || !this.#graph.hasNode(other)) continue;
        const { x, y } = this.#graph.getNodeAttributes(other);
        anchors.set(end, { x: x as number, y: y as number });
      }
    }
    return anchors;
  }

  #lay(): void {
    this.#isSettled = false;
    this.#tell();
    this.#layout.start(this.#graph, (isLast) => {
      // Who wants no motion sees the end of it only.
      if (!isLast && isCalm()) return;
      this.#isSettled = isLast;
      this.#sigma.refresh();
      this.#tell();
    });
  }

  /** For whoever waits until nothing moves any more. */
  #tell(): void {
    this.#container.dataset['settled'] = String(this.#isSettled);
    this.#container.dataset['nodes'] = String(this.#graph.order);
    this.#container.dataset['edges'] = String(this.#graph.size);
  }

  #recolour(): void {
    this.#sigma.setSetting('labelColor', { color: this.#palette.ink });
    this.#sigma.setSetting('edgeLabelColor', { color: this.#palette.ink });
  }

  /** Names stand right of their nodes and must not run over the edge. */
  #pad(): void {
    const isSmall = this.#graph.order <= 60;
    this.#sigma.setSetting('stagePadding', isSmall ? Math.min(110, this.#container.clientWidth * 0.18) : 30);
  }

  #isFaded(id: string): boolean {
    const highlight = this.#shown?.highlight;
    return highlight != null && !highlight.has(id);
  }

  #reduceNode(id: string, data: Record<string, unknown>): Partial<NodeDisplayData> {
    const node = this.#shown?.network.nodes.get(id);
    const isSelected = this.#shown?.selected === id;
    const isFaded = this.#isFaded(id) && !isSelected;
    const colour = this.#palette.kinds[colourOf(node?.kind ?? '') - 1] ?? this.#palette.ink;
    return {
      ...data,
      color: isFaded ? this.#palette.faint : colour,
      label: isFaded ? null : (this.#shown?.nameOf(id) ?? id),
      forceLabel: isSelected,
      zIndex: isFaded ? 0 : isSelected ? 2 : 1,
    };
  }

  #reduceEdge(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const edge = this.#shown?.network.edges.get(id);
    const isFaded = this.#isFaded(id);
    const isSelected = this.#shown?.selected === id;
    return {
      ...data,
      color: isSelected ? this.#palette.focus : isFaded ? this.#palette.faint : this.#palette.line,
      label: isFaded ? null : (edge ? this.#shown?.predicateOf(edge.predicate) : ''),
      size: isSelected ? 3 : data['size'],
    };
  }

  /** Clear of the ring of the selected node, and readable above lines. */
  #drawLabel(context: CanvasRenderingContext2D, { x, y, size, label }: { x: number; y: number; size: number; label: string | null }): void {
    if (!label) return;
    context.font = `13px ${FONT}`;
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = this.#palette.paper;
    context.fillStyle = this.#palette.ink;
    const left = this.#labelLeft(context, x, size, label);
    context.strokeText(label, left, y + 4);
    context.fillText(label, left, y + 4);
  }

  #drawHover(context: CanvasRenderingContext2D, { x, y, size, label }: { x: number; y: number; size: number; label: string | null }): void {
    if (!label) return;
    context.font = `600 13px ${FONT}`;
    const width = context.measureText(label).width;
    context.fillStyle = this.#palette.surface;
    context.strokeStyle = this.#palette.line;
    context.beginPath();
    const left = this.#labelLeft(context, x, size, label);
    context.roundRect(left - 5, y - 12, width + 10, 24, 4);
    context.fill();
    context.stroke();
    context.fillStyle = this.#palette.ink;
    context.fillText(label, left, y + 4);
  }

  /** Right of the node, or left of it where the screen ends. */
  #labelLeft(context: CanvasRenderingContext2D, x: number, size: number, label: string): number {
    const width = context.measureText(label).width;
    const right = x + size + 8;
    return right + width > this.#container.clientWidth && x - size - 8 - width > 0 ? x - size - 8 - width : right;
  }

  #onScreen(id: string): { x: number; y: number } {
    const { x, y } = this.#graph.getNodeAttributes(id);
    return this.#sigma.graphToViewport({ x: x as number, y: y as number });
  }

  /** A ring around the selected node, drawn by the page, so that it is seen in every theme and at every size. */
  #placeRing(): void {
    const id = this.#shown?.selected ?? null;
    const isThere = id !== null && this.#graph.hasNode(id);
    this.#ring.hidden = !isThere;
    if (!isThere) return;
    const { x, y } = this.#onScreen(id);
    const radius = (this.#sigma.getNodeDisplayData(id)?.size ?? 6) / Math.sqrt(this.#sigma.getCamera().getState().ratio) + 5;
    this.#ring.style.width = `${radius * 2}px`;
    this.#ring.style.height = `${radius * 2}px`;
    this.#ring.style.translate = `${x - radius}px ${y - radius}px`;
  }
}

function isCalm(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
