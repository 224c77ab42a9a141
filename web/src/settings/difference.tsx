import { useMemo } from "preact/hooks";
import { type DiffLine, diffLines, hunksOf } from "./diff";

const signs = { same: " ", added: "+", removed: "−" } as const;
const words = { same: "", added: "added: ", removed: "removed: " } as const;

/** What differs between two texts. */
export function Difference({
  before,
  after,
  label,
}: {
  before: string;
  after: string;
  label: string;
}) {
  const hunks = useMemo(() => hunksOf(diffLines(before, after)), [before, after]);
  if (hunks.length === 0) return <p class="quiet">Both texts are the same.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="difference" aria-label={label} tabIndex={0}>
      {hunks.map((hunk, i) => (
        <div key={i} class="hunk">
          {hunk.map((line) => (
            <Line key={`${line.old} ${line.new}`} line={line} />
          ))}
        </div>
      ))}
    </section>
  );
}

const Line = ({ line }: { line: DiffLine }) => (
  <div class={`diff-line is-${line.kind}`}>
    <span class="diff-number" aria-hidden="true">
      {line.old || ""}
    </span>
    <span class="diff-number" aria-hidden="true">
      {line.new || ""}
    </span>
    <span class="diff-sign" aria-hidden="true">
      {signs[line.kind]}
    </span>
    <code>
      <span class="unseen">{words[line.kind]}</span>
      {line.text}
    </code>
  </div>
);
