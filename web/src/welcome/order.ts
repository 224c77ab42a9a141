// The order of the bytes in a list of registers, chosen for a register whose value was seen.

/** Divides a line of a CSV at its commas, quotes respected; the parts keep their quotes. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (const c of line) {
    if (c === '"') quoted = !quoted;
    if (c !== "," || quoted) cell += c;
    else {
      cells.push(cell);
      cell = "";
    }
  }
  return [...cells, cell];
}

const textOf = (cell: string) => {
  const trimmed = cell.trim();
  return /^".*"$/.test(trimmed) ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed;
};

const columnName = (cell: string) => textOf(cell).toLowerCase().replaceAll(" ", "_");
const names = new Set(["name", "point_name", "volttron_point_name"]);
const orders = new Set(["byte_order"]);
const mixed = new Set(["mixed_endian", "mixed"]);

/**
 * The text of a list in the form of CSV in which a register has another order of its bytes; undefined if the list
 * is none, or the register does not stand in it, so that it must be changed by hand.
 */
export function withOrder(list: string, register: string, order: string): string | undefined {
  const lines = list.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const head = lines.findIndex((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  const columns = cellsOf(lines[head] ?? "").map(columnName);
  const at = columns.findIndex((c) => names.has(c));
  if (at < 0 || quotesAreOpen(lines)) return undefined;
  const row = lines.findIndex(
    (line, i) => i > head && textOf(cellsOf(line)[at] ?? "") === register,
  );
  if (row < 0) return undefined;
  const found = columns.findIndex((c) => orders.has(c));
  const place = found < 0 ? columns.length : found;
  const old = columns.findIndex((c) => mixed.has(c));
  return lines
    .map((line, i) => {
      if (i < head || line.trim() === "") return line;
      if (i !== head && i !== row) return line;
      const cells = cellsOf(line);
      while (cells.length <= place) cells.push("");
      if (i === head && found < 0) cells[place] = "byte_order";
      if (i === row) {
        cells[place] = order;
        if (old >= 0) cells[old] = "";
      }
      return cells.join(",");
    })
    .join("\n");
}

/** Whether a text in quotes goes on in the next line. */
const quotesAreOpen = (lines: readonly string[]) =>
  lines.some((line) => (line.match(/"/g) ?? []).length % 2 === 1);
