/** How many light modules the standard demands around a code (ISO/IEC 18004, 5.3.8). */
export const margin = 4;

/** A code as one path of an SVG, a unit a module, or "" if the rows are no square of 0 and 1. */
export function qrPath(rows: readonly string[]): string {
  const size = rows.length;
  if (size === 0 || rows.some((row) => row.length !== size || /[^01]/.test(row))) return "";
  return rows
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(
        ({ 0: run, index }) => `M${index + margin} ${y + margin}h${run.length}v1h-${run.length}z`,
      ),
    )
    .join("");
}
