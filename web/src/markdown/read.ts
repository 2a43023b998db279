// Reads markdown into blocks, each with the line it begins in. Nothing here makes HTML. Pure.

import { Lexer, type Token, type TokensList } from 'marked';

/** A longer run of text is left as it is: the time for emphasis grows with the square of its length. */
const RUN_CHARS_MAX = 4_000;

/** Blocks within blocks; what is nested deeper is left as it is. */
const NESTED_MAX = 32;

export interface Block {
  token: Token;
  /** The line of the source in which the block begins, from 1. */
  line: number;
}

class Reader extends Lexer {
  #n_nested = 0;

  override blockTokens(source: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], lastParagraphClipped = false): Token[] {
    if (this.#n_nested >= NESTED_MAX) {
      tokens.push({ type: 'text', raw: source, text: source });
      return tokens;
    }
    this.#n_nested += 1;
    try {
      return super.blockTokens(source, tokens, lastParagraphClipped);
    } finally {
      this.#n_nested -= 1;
    }
  }

  override inline(source: string, tokens: Token[] = []): Token[] {
    if (source.length <= RUN_CHARS_MAX) return super.inline(source, tokens);
    tokens.push({ type: 'text', raw: source, text: source });
    return tokens;
  }
}

export function readMarkdown(source: string): Block[] {
  return withLines(new Reader({ gfm: true }).lex(source), 1);
}

/** The tokens of a run make up its source without a gap, so counting line ends is enough. */
export function withLines(tokens: readonly Token[], first: number): Block[] {
  let line = first;
  return tokens.map((token) => {
    const block = { token, line };
    line += countLineEnds(token.raw);
    return block;
  });
}

function countLineEnds(text: string): number {
  return text.split('\n').length - 1;
}

/** Named characters that documents of this field use; others stay as they were written. */
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  deg: '°',
  plusmn: '±',
  times: '×',
  micro: 'µ',
  mu: 'μ',
  alpha: 'α',
  beta: 'β',
  gamma: 'γ',
  le: '≤',
  ge: '≥',
  ne: '≠',
  asymp: '≈',
  rarr: '→',
  copy: '©',
  reg: '®',
};

const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi;

export function decodeReferences(text: string): string {
  return text.replace(REFERENCE, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isText = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isText ? String.fromCodePoint(code) : '\ufffd';
  });
}
