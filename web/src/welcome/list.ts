// The rows of a list of registers in CSV, to show them.

/** A row by the columns of the list. */
export type ListRow = Partial<Record<string, string>>;

/** The rows of a list in CSV (RFC 4180) below its heading; an empty line is none. */
export function rowsOf(text: string): ListRow[] {
  const [heading = [], ...rows] = cellsOf(text);
  return rows.map((cells) => Object.fromEntries(heading.map((name, i) => [name, cells[i] ?? ""])));
}

/** The cells of each line. Quotes hold what separates cells and lines, and a quote that is doubled. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\r|\n|$)/y;
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (!found) break;
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === ",") continue;
    if (row.some((c) => c !== "")) rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push([...row, ""]);
  return rows;
}
