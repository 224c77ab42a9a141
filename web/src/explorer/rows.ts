import type { Value } from "../api";

/** A value at a time; quality "" for good. */
export interface Cell {
  time: number;
  value: Value;
  quality: string;
}

/** A moment with the values of some columns. */
export interface TableRow {
  time: number;
  cells: (Cell | undefined)[];
}

/** Puts columns of cells side by side, the newest moment first. */
export function rowsOf(columns: readonly (readonly Cell[])[]): TableRow[] {
  const rows = new Map<number, TableRow>();
  columns.forEach((cells, k) => {
    for (const cell of cells) {
      let row = rows.get(cell.time);
      if (!row) {
        row = { time: cell.time, cells: columns.map(() => undefined) };
        rows.set(cell.time, row);
      }
      row.cells[k] = cell;
    }
  });
  return [...rows.values()].sort((a, b) => b.time - a.time);
}
