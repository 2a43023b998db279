// A picture of the network for export: lines, discs and words at fixed places; as SVG text or on a 2D canvas.

import { degrees, type Network } from './network.ts';

export type Positions = ReadonlyMap<string, { x: number; y: number }>;

export interface Colours {
  paper: string;
  ink: string;
  line: string;
  kind: (kind: string) => string;
}

export interface Drawing {
  width: number;
  height: number;
  colours: Pick<Colours, 'paper' | 'ink' | 'line'>;
  lines: { x1: number; y1: number; x2: number; y2: number; title: string }[];
  discs: { x: number; y: number; radius: number; colour: string; title: string }[];
  words: { x: number; y: number; text: string }[];
}

const WIDTH = 1_600;
const HEIGHT = 1_200;
const MARGIN = 120;
/** More words than this lie on top of each other. */
const WORDS_MAX = 200;

export function radiusOf(degree: number, n_nodes: number): number {
  // The more there are, the smaller each: a crowd must not become one disc.
  const scale = n_nodes > 1_000 ? 0.35 : n_nodes > 200 ? 0.5 : n_nodes > 60 ? 0.75 : 1;
  return Math.min(16, 6 + Math.sqrt(degree) * 1.4) * scale;
}

export function draw(network: Network, positions: Positions, nameOf: (id: string) => string, colours: Colours): Drawing {
  const places = [...network.nodes.keys()].flatMap((id) => positions.get(id) ?? []);
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const [left, right, low, high] = [least(xs), most(xs), least(ys), most(ys)];
  const scale = Math.min((WIDTH - 2 * MARGIN) / Math.max(right - left, 1e-9), (HEIGHT - 2 * MARGIN) / Math.max(high - low, 1e-9));
  const isPoint = !Number.isFinite(scale) || right - left + (high - low) < 1e-6;
  // The screen of the graph has its y upwards.
  const at = (id: string) => {
    const place = positions.get(id);
    if (place === undefined) return undefined;
    if (isPoint) return { x: WIDTH / 2, y: HEIGHT / 2 };
    return { x: WIDTH / 2 + (place.x - (left + right) / 2) * scale, y: HEIGHT / 2 - (place.y - (low + high) / 2) * scale };
  };
  const degree = degrees(network);
  const named = [...network.nodes.keys()].sort((a, b) => (degree.get(b) ?? 0) - (degree.get(a) ?? 0)).slice(0, WORDS_MAX);
  const lines = [...network.edges.values()].flatMap(({ subject, object, predicate }) => {
    const [from, to] = [at(subject), at(object)];
    if (from === undefined || to === undefined) return [];
    return [{ x1: from.x, y1: from.y, x2: to.x, y2: to.y, title: `${nameOf(subject)} ${predicate} ${nameOf(object)}` }];
  });
  const radius = (id: string) => radiusOf(degree.get(id) ?? 0, network.nodes.size);
  const discs = [...network.nodes.values()].flatMap(({ id, kind }) => {
    const place = at(id);
    return place ? [{ ...place, radius: radius(id), colour: colours.kind(kind), title: `${nameOf(id)} (${kind})` }] : [];
  });
  const words = named.flatMap((id) => {
    const place = at(id);
    return place ? [{ x: place.x + radius(id) + 4, y: place.y + 4, text: nameOf(id) }] : [];
  });
  const { paper, ink, line } = colours;
  return { width: WIDTH, height: HEIGHT, colours: { paper, ink, line }, lines, discs, words };
}

/** `Math.min` and `Math.max` take only so many arguments. */
const least = (numbers: number[]) => numbers.reduce((a, b) => Math.min(a, b), Infinity);
const most = (numbers: number[]) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

const round = (value: number) => Math.round(value * 10) / 10;

export const FONT = '"Noto Sans", "Noto Sans Thai", "Sukhumvit Set", Thonburi, "Leelawadee UI", Tahoma, sans-serif';

export function toSvg({ width, height, colours, lines, discs, words }: Drawing): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="${colours.paper}"/>`,
    `<g stroke="${colours.line}" stroke-width="1.2">`,
    ...lines.map(({ x1, y1, x2, y2, title }) => `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"><title>${escape(title)}</title></line>`),
    '</g>',
    '<g>',
    ...discs.map(({ x, y, radius, colour, title }) => `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${colour}"><title>${escape(title)}</title></circle>`),
    '</g>',
    `<g fill="${colours.ink}" font-size="13" font-family="${escape(FONT)}">`,
    ...words.map(({ x, y, text }) => `<text x="${round(x)}" y="${round(y)}">${escape(text)}</text>`),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

export function toCanvas({ width, height, colours, lines, discs, words }: Drawing, context: CanvasRenderingContext2D): void {
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
  context.strokeStyle = colours.line;
  context.lineWidth = 1.2;
  for (const { x1, y1, x2, y2 } of lines) {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }
  for (const { x, y, radius, colour } of discs) {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
  context.fillStyle = colours.ink;
  context.font = `13px ${FONT}`;
  for (const { x, y, text } of words) context.fillText(text, x, y);
}
