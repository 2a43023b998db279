// Markdown as elements of the page. No HTML of a document is ever run or inserted, no image is loaded, and links lead
// only where `targetOf` allows.

import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { useLanguage } from '../i18n/language.tsx';
import { markdown as words } from '../i18n/messages/markdown.ts';
import { targetOf } from '../markdown/address.ts';
import { type Block, decodeReferences, readMarkdown, withLines } from '../markdown/read.ts';
import { Link } from '../router/router.tsx';
import { pathOfDocument } from '../router/routes.ts';
import { Icon } from './icon.tsx';

/** What is nested deeper is shown as it was written: emphasis within emphasis has no end of its own. */
const DEPTH_MAX = 64;

/** The headings of a document stand below the heading of the page. */
const HEADINGS = ['h2', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => readMarkdown(text), [text]);
  return <div className="markdown">{renderBlocks(blocks, 0)}</div>;
}

/** Scrolls to the block that holds the line, and gives it the focus. */
export function goToLine(inside: HTMLElement, line: number): void {
  const blocks = Array.from(inside.querySelectorAll<HTMLElement>('[data-line]'));
  const block = blocks.findLast((one) => Number(one.dataset['line']) <= line);
  if (block === undefined) return;
  block.tabIndex = -1;
  block.focus({ preventScroll: true });
  block.scrollIntoView({ block: 'center' });
}

function renderBlocks(blocks: readonly Block[], depth: number): ReactNode {
  return blocks.map((block, at) => <Fragment key={at}>{renderBlock(block, depth)}</Fragment>);
}

function renderBlock({ token: any, line }: Block, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return any.raw;
  const token = any as Tokens.Generic;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const Heading = HEADINGS[Math.min(token['depth'] as number, HEADINGS.length) - 1] ?? 'h6';
      return <Heading data-line={line}>{inline(token.tokens, depth)}</Heading>;
    }
    case 'paragraph':
      return <p data-line={line}>{inline(token.tokens, depth)}</p>;
    case 'text':
      // Inside of tight list items.
      return token.tokens ? inline(token.tokens, depth) : decodeReferences(String(token['text']));
    case 'list':
      return <List token={token as Tokens.List} line={line} depth={depth} />;
    case 'blockquote':
      return <blockquote data-line={line}>{renderBlocks(withLines(token.tokens ?? [], line), depth + 1)}</blockquote>;
    case 'code':
      return (
        <pre data-line={line} tabIndex={0}>
          <code>{String(token['text'])}</code>
        </pre>
      );
    case 'table':
      return <MarkdownTable token={token as Tokens.Table} line={line} depth={depth} />;
    case 'hr':
      return <hr data-line={line} />;
    default:
      // HTML, and what a newer parser may know: its source.
      return (
        <pre data-line={line} className="markdown-raw" tabIndex={0}>
          {token.raw.trimEnd()}
        </pre>
      );
  }
}

function List({ token, line, depth }: { token: Tokens.List; line: number; depth: number }) {
  const items = withLines(token.items as unknown as Token[], line).map((block, at) => {
    const item = block.token as Tokens.ListItem;
    return (
      <li key={at} data-line={block.line} className={item.task ? 'markdown-task' : undefined}>
        {renderItem(item, block.line, depth + 1)}
      </li>
    );
  });
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function renderItem(item: Tokens.ListItem, line: number, depth: number): ReactNode {
  const inner = item.tokens.filter((token) => token.type !== 'checkbox');
  return (
    <>
      {item.task && <TaskMark isDone={item.checked === true} />}
      {renderBlocks(withLines(inner, line), depth)}
    </>
  );
}

/** Not a control: the text decides, and the text is elsewhere. */
function TaskMark({ isDone }: { isDone: boolean }) {
  const { t } = useLanguage();
  return (
    <>
      <span className={isDone ? 'task-mark is-done' : 'task-mark'}>{isDone && <Icon name="check" />}</span>
      <span className="for-readers">{t(isDone ? words.done : words.open)} </span>
    </>
  );
}

const ALIGNED = { left: 'is-left', center: 'is-centre', right: 'is-right' } as const;

function MarkdownTable({ token, line, depth }: { token: Tokens.Table; line: number; depth: number }) {
  const { t } = useLanguage();
  const classOf = (cell: Tokens.TableCell) => (cell.align ? ALIGNED[cell.align] : undefined);
  return (
    <div className="markdown-table" data-line={line} tabIndex={0} role="group" aria-label={t(words.table)}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} scope="col" className={classOf(cell)}>
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            // The head and the line below it come first.
            <tr key={at} data-line={line + 2 + at}>
              {row.map((cell, place) => (
                <td key={place} className={classOf(cell)}>
                  {inline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return (tokens ?? []).map((token, at) => <Fragment key={at}>{renderInline(token, depth + 1)}</Fragment>);
}

function renderInline(any: Token, depth: number): ReactNode {
  const token = any as Tokens.Generic;
  if (depth > DEPTH_MAX) return token.raw;
  switch (token.type) {
    case 'text':
      return token.tokens ? inline(token.tokens, depth) : decodeReferences(String(token['text']));
    case 'escape':
      return String(token['text']);
    case 'strong':
      return <strong>{inline(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{inline(token.tokens, depth)}</em>;
    case 'del':
      return <del>{inline(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{String(token['text'])}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Anchor href={String(token['href'])}>{inline(token.tokens, depth)}</Anchor>;
    case 'image':
      return <Picture href={String(token['href'])} text={String(token['text'])} />;
    default:
      return <code className="markdown-raw">{token.raw}</code>;
  }
}

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const { t } = useLanguage();
  const target = targetOf(href);
  switch (target.is) {
    case 'document':
      return <Link to={pathOfDocument(target.document)}>{children}</Link>;
    case 'outside':
      return (
        <a href={target.url} target="_blank" rel="noopener noreferrer nofollow" title={target.url}>
          {children}
          <span className="for-readers"> {t(words.newTab)}</span>
        </a>
      );
    case 'nothing':
      return (
        <>
          {children} <span className="markdown-address">({href})</span>
        </>
      );
  }
}

/** A picture from elsewhere would tell that place who reads what. */
function Picture({ href, text }: { href: string; text: string }) {
  const { t } = useLanguage();
  const target = targetOf(href);
  return (
    <span className="markdown-image">
      <Icon name="image" />
      <span>
        {t(words.imageNotLoaded)}
        {text !== '' && `: ${decodeReferences(text)}`}{' '}
        {target.is === 'outside' ? <Anchor href={href}>{t(words.imageOpen)}</Anchor> : <span className="markdown-address">({href})</span>}
      </span>
    </span>
  );
}
