import { dateTime } from "../format";
import type { WorldMoment } from "../generated/api";
import { bound, line } from "./draw";

type Name = "signal" | "central" | "leader" | "gossip" | "market";

const ways: readonly Curve<Name>[] = [
  ["signal", "Signal"],
  ["central", "With a master"],
  ["leader", "With an elected leader"],
  ["gossip", "Without a leader"],
  ["market", "By trade"],
];

/** The signal and what was answered, in shares of the capacity, over the last hour. */
export function CourseChart({ course }: { course: readonly WorldMoment[] }) {
  return (
    <section class="card panel" aria-label="Signal and response">
      <h2>Signal and response</h2>
      <Plot moments={course} curves={ways} label="Signal and response over the last hour" />
    </section>
  );
}

type Curve<K> = readonly [name: K, words: string];

interface Props<K extends string> {
  moments: readonly ({ at: string } & Record<K, number>)[];
  curves: readonly Curve<K>[];
  label: string;
}

/** Curves between plus and minus a bound, with the newest values. */
export function Plot<K extends string>({ moments, curves, label }: Props<K>) {
  const first = moments[0];
  const last = moments.at(-1);
  if (!first || !last) return <p class="quiet">Nothing yet: let time pass.</p>;
  const top = bound(moments.flatMap((m) => curves.map(([name]) => m[name])));
  return (
    <>
      <svg
        class="regulation-course"
        viewBox="0 0 1000 240"
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <line x1="0" x2="1000" y1="120" y2="120" class="zero" />
        {curves.map(([name]) => (
          <polyline
            key={name}
            class={name}
            points={line(
              moments.map((m) => m[name]),
              top,
            )}
          />
        ))}
      </svg>
      <p class="quiet">
        {dateTime(Date.parse(first.at))} to {dateTime(Date.parse(last.at))}; from {-top} to {top} of
        the capacity. Positive: consume less.
      </p>
      <ul class="legend">
        {curves.map(([name, words]) => (
          <li key={name} class={`regulation-${name}`}>
            <span class="swatch" aria-hidden="true" />
            <span>{words}</span> <span class="number">{last[name].toFixed(2)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
