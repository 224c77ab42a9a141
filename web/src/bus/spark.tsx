const width = 90;
const height = 20;

/** A line of the last minute, scaled to its own greatest value. */
export function Spark({ past, label }: { past: readonly number[]; label: string }) {
  const most = Math.max(1, ...past);
  const step = width / 59;
  const shift = (60 - past.length) * step;
  const points = past.map(
    (n, i) =>
      `${(shift + i * step).toFixed(1)},${(height - 1 - (n / most) * (height - 2)).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
