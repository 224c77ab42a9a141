import type { DocumentCheck } from "../generated/api";
import type { Judgement } from "../settings/use-check";

/** What the node says about the text. */
export function Verdict({ judgement }: { judgement: Judgement<DocumentCheck> | undefined }) {
  const n = judgement?.is === "judged" ? judgement.check.problems.length : 0;
  const level = judgement?.is === "unknown" ? "is-warn" : n > 0 ? "is-bad" : "is-good";
  return (
    <p role="status" aria-label="Check" class={`check ${judgement ? level : ""}`}>
      {wordsFor(judgement, n)}
    </p>
  );
}

function wordsFor(judgement: Judgement<DocumentCheck> | undefined, problems: number): string {
  if (!judgement) return "";
  if (judgement.is === "asking") return "Checking…";
  if (judgement.is === "unknown") return `Not checked: ${judgement.why}`;
  return problems === 0 ? "No problems" : problems === 1 ? "1 problem" : `${problems} problems`;
}
