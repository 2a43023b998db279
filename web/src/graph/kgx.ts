// KGX as tables. The server writes KGX as one JSON object a line; spreadsheets and most tools want TSV. Pure.

/** Columns that come first, as KGX lists them. The rest follow in the order of their names. */
const FIRST = ['id', 'category', 'name', 'subject', 'predicate', 'object', 'provided_by', 'license', 'publications'];

/** A list is joined by `|`; what would break a cell becomes a space. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => cell(one).replaceAll('|', ' ')).join('|');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\t\r\n]+/g, ' ');
}

export function tsvOf(jsonLines: string): string {
  const rows = jsonLines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort();
  const columns = [...FIRST.filter((name) => names.includes(name)), ...names.filter((name) => !FIRST.includes(name))];
  return [columns, ...rows.map((row) => columns.map((name) => cell(row[name])))].map((row) => `${row.join('\t')}\n`).join('');
}
