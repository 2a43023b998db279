// What a message is: the same sentence in every language, with named places such as `{count}`.

export const LANGUAGES = ['en', 'th'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Message = Readonly<Record<Language, string>>;

/** A sentence that depends on a number. Thai has one form; English has two. */
export type Counted = Readonly<{ one: Message; other: Message }>;

type PlacesOf<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never;

/** The places of a message, read off its English text by the compiler. */
export type Places<M extends Message> = PlacesOf<M['en']>;

/** No second argument for a message without places. */
export type Values<M extends Message, V> = [Places<M>] extends [never] ? [] : [values: Record<Places<M>, V>];

const PLACE = /\{([A-Za-z_]+)\}/g;

export function placesOf(text: string): string[] {
  return Array.from(text.matchAll(PLACE), ([, name]) => name ?? '').sort();
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(PLACE, (place, name: string) => String(values[name] ?? place));
}

export type Piece = { kind: 'text' | 'code'; text: string } | { kind: 'place'; name: string };

/** Cuts a text at its places and at `backticks`, for sentences with links and code in them. */
export function cut(text: string): Piece[] {
  const pieces = text.split(/(\{[A-Za-z_]+\}|`[^`]+`)/).filter((piece) => piece !== '');
  return pieces.map((piece): Piece => {
    if (piece.startsWith('{')) return { kind: 'place', name: piece.slice(1, -1) };
    if (piece.startsWith('`')) return { kind: 'code', text: piece.slice(1, -1) };
    return { kind: 'text', text: piece };
  });
}
