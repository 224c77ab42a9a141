// On a phone each row of a table is a card: the styles show it so, and need the heading of each column beside its cells.

import { useEffect } from "preact/hooks";

const tables = "table:is(.data-table, .metering-table, .orders, .proof):not(.array-table)";

/** Says what an element is even where it is not laid out as a part of a table, by which browsers go otherwise. */
function say(element: HTMLElement, role: string): void {
  if (!element.hasAttribute("role")) element.setAttribute("role", role);
}

/** Writes the headings of the columns to the cells of a table. */
export function label(table: HTMLTableElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const isPlain = heads.length > 2 && heads.every((h) => h.colSpan === 1 && h.rowSpan === 1);
  table.classList.toggle("as-cards", isPlain);
  if (!isPlain) return;
  const words = heads.map((h) => h.textContent?.trim() ?? "");
  say(table, "table");
  for (const head of heads) say(head, "columnheader");
  for (const body of table.tBodies) {
    say(body, "rowgroup");
    for (const row of body.rows) labelRow(row, words);
  }
}

function labelRow(row: HTMLTableRowElement, words: readonly string[]): void {
  say(row, "row");
  let column = 0;
  for (const cell of row.cells) {
    say(cell, cell.tagName === "TH" ? "rowheader" : "cell");
    const text = cell.colSpan === 1 ? (words[column] ?? "") : "";
    if (cell.dataset.label !== text) cell.dataset.label = text;
    column += cell.colSpan;
  }
}

/** Keeps the tables below an element as cards for as long as the page is narrow. */
export function useCards(): void {
  useEffect(() => {
    const narrow = matchMedia("(max-width: 600px)");
    let frame = 0;
    const all = () => {
      frame = 0;
      for (const table of document.querySelectorAll<HTMLTableElement>(tables)) label(table);
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(all);
    };
    const observer = new MutationObserver(soon);
    const follow = () => {
      observer.disconnect();
      if (!narrow.matches) return;
      observer.observe(document.body, { childList: true, subtree: true });
      soon();
    };
    narrow.addEventListener("change", follow);
    follow();
    return () => {
      narrow.removeEventListener("change", follow);
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
}
