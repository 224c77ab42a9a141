// Numbers become a line in a field of 1000 by 240.

const width = 1000;
const height = 240;

/** The bound of an axis that goes as far up as down and has all values; 1 at least, 3 at most. */
export const bound = (values: readonly number[]): number =>
  Math.min(3, Math.max(1, Math.ceil(2 * Math.max(0, ...values.map(Math.abs))) / 2));

/** The points of a line between -top and top. What is beyond stays at the edge. */
export function line(values: readonly number[], top: number): string {
  const step = width / Math.max(1, values.length - 1);
  return values
    .map((v, i) => {
      const share = Math.min(1, Math.max(-1, v / top));
      return `${(i * step).toFixed(1)},${((height / 2) * (1 - share)).toFixed(1)}`;
    })
    .join(" ");
}
