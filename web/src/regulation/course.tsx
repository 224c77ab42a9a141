import { dateTime } from "../format";
import type { WorldMoment } from "../generated/api";
import { bound, line } from "./draw";

type Name = "signal" | "central" | "leader" | "gossip";

const curves: readonly [name: Name, words: string][] = [
  ["signal", "Signal"],
  ["central", "With a master"],
  ["leader", "With an elected leader"],
  ["gossip", "Without a leader"],
];

/** The signal and what was answered, in shares of the capacity, over the last hour. */
export function CourseChart({ course }: { course: readonly WorldMoment[] }) {
  const first = course[0];
  const last = course.at(-1);
  const top = bound(course.flatMap((m) => curves.map(([name]) => m[name])));
  return (
    <section class="card panel" aria-label="Signal and response">
      <h2>Signal and response</h2>
      {!first || !last ? (
        <p class="quiet">Nothing yet: let time pass.</p>
      ) : (
        <>
          <svg
            class="regulation-course"
            viewBox="0 0 1000 240"
            preserveAspectRatio="none"
            role="img"
            aria-label="Signal and response over the last hour"
          >
            <line x1="0" x2="1000" y1="120" y2="120" class="zero" />
            {curves.map(([name]) => (
              <polyline
                key={name}
                class={name}
                points={line(
                  course.map((m) => m[name]),
                  top,
                )}
              />
            ))}
          </svg>
          <p class="quiet">
            {dateTime(Date.parse(first.at))} to {dateTime(Date.parse(last.at))}; from {-top} to{" "}
            {top} of the capacity. Positive: consume less.
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
      )}
    </section>
  );
}
