// Lays a graph out away from the page, so that the page stays fluid. A file of its own: the policy allows no worker made
// from a text.

import iterate from 'graphology-layout-forceatlas2/iterate.js';
import type { LayoutJob, LayoutStep } from './layout.ts';

let current = 0;

addEventListener('message', ({ data }: MessageEvent<LayoutJob>) => {
  current = data.round;
  void run(data);
});

async function run({ round, nodes, edges, n_iterations, step_ms, settings }: LayoutJob) {
  let done = 0;
  while (done < n_iterations && round === current) {
    const until = performance.now() + step_ms;
    while (done < n_iterations && performance.now() < until) {
      iterate(settings, nodes, edges);
      done += 1;
    }
    postMessage({ round, nodes, isLast: done >= n_iterations } satisfies LayoutStep);
    // Lets the next job in.
    await new Promise((next) => setTimeout(next, 0));
  }
}
