// The page's side of the layout: sends the graph to the worker and puts the answers back.

import type Graph from 'graphology';
import type { ForceAtlas2Settings } from 'graphology-layout-forceatlas2';
import { assignLayoutChanges, graphToByteArrays } from 'graphology-layout-forceatlas2/helpers.js';

export interface LayoutJob {
  round: number;
  nodes: Float32Array;
  edges: Float32Array;
  n_iterations: number;
  /** How long the page waits for the next picture. */
  step_ms: number;
  settings: Required<ForceAtlas2Settings>;
}

export interface LayoutStep {
  round: number;
  nodes: Float32Array;
  isLast: boolean;
}

export class Layout {
  readonly #worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
  #round = 0;

  /** Starts over from where the nodes are. A run that is under way ends. */
  start(graph: Graph, onStep: (isLast: boolean) => void): void {
    this.#round += 1;
    const round = this.#round;
    if (graph.order < 2) return onStep(true);
    const matrices = graphToByteArrays(graph, () => 1);
    this.#worker.onmessage = ({ data }: MessageEvent<LayoutStep>) => {
      if (data.round !== round || graph.order * 10 !== data.nodes.length) return;
      assignLayoutChanges(graph, data.nodes, null);
      onStep(data.isLast);
    };
    const isLarge = graph.order > 500;
    const job: LayoutJob = {
      round,
      ...matrices,
      n_iterations: graph.order > 2_000 ? 120 : 300,
      // A picture of thousands takes its time, which the layout would otherwise take from the reader.
      step_ms: graph.order > 2_000 ? 400 : 40,
      settings: {
        linLogMode: false,
        outboundAttractionDistribution: false,
        adjustSizes: false,
        edgeWeightInfluence: 0,
        scalingRatio: 10,
        strongGravityMode: true,
        gravity: 0.08,
        slowDown: 1 + Math.log(graph.order),
        barnesHutOptimize: isLarge,
        barnesHutTheta: 0.8,
      },
    };
    this.#worker.postMessage(job);
  }

  close(): void {
    this.#worker.terminate();
  }
}
