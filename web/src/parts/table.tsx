// Tables. On a narrow screen each row becomes a card, with the column's name before each value.

import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';

export interface Column<Row> {
  id: string;
  label: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand right. */
  isNumber?: boolean;
  /** The cell that names the row. */
  isHeading?: boolean;
}

interface TableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  isDimmed?: (row: Row) => boolean;
}

export function Table<Row>({ caption, columns, rows, keyOf, isDimmed }: TableProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const isWiderThanItsFrame = useIsWider(frame);
  // Cards change `display`, which takes the table roles away in some browsers; they are therefore said aloud.
  return (
    <div className="table-frame" ref={frame} {...(isWiderThanItsFrame && { tabIndex: 0, role: 'group', 'aria-label': caption })}>
      <table className="table" role="table">
        <caption className="for-readers">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.id} scope="col" role="columnheader" className={column.isNumber ? 'is-number' : undefined}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row" className={isDimmed?.(row) ? 'is-dimmed' : undefined}>
              {columns.map((column) => {
                const className = column.isNumber ? 'is-number' : undefined;
                const inside = <div className="table-value">{column.cell(row)}</div>;
                return column.isHeading ? (
                  <th key={column.id} scope="row" role="rowheader" data-label={column.label} className={className}>
                    {inside}
                  </th>
                ) : (
                  <td key={column.id} role="cell" data-label={column.label} className={className}>
                    {inside}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Whether what an element holds is wider than the element. Then it scrolls, and the keyboard has to reach it. */
function useIsWider(element: RefObject<HTMLElement | null>): boolean {
  const [isWider, setIsWider] = useState(false);
  useEffect(() => {
    const outer = element.current;
    if (outer === null) return undefined;
    const look = () => setIsWider(outer.scrollWidth > outer.clientWidth);
    const observer = new ResizeObserver(look);
    // The table as well as its frame: rows come and go while the frame stays as wide as it is.
    for (const one of [outer, ...outer.children]) observer.observe(one);
    return () => observer.disconnect();
  }, [element]);
  return isWider;
}
