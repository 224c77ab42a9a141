import { useMemo, useRef } from "preact/hooks";
import { reasonOf } from "../language/said";
import type { ConfigProblem } from "./config";

interface Props {
  /** What the text is, for those who do not see it. */
  label: string;
  text: string;
  problems: readonly ConfigProblem[];
  onText(text: string): void;
}

const lineHeight = 20;

/** The text with numbered lines; lines with a problem are marked. Below it the problems in words. */
export function Editor({ label, text, problems, onText }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const lines = useMemo(() => countLines(text), [text]);
  const numbers = useMemo(
    () => Array.from({ length: lines }, (_, i) => String(i + 1)).join("\n"),
    [lines],
  );
  const own = problems.filter((p) => p.file === "" && p.line > 0);
  const jump = (line: number, column: number) => {
    const at = offsetOf(text, line, column);
    area.current?.focus();
    area.current?.setSelectionRange(at, at);
    area.current?.closest(".editor")?.scrollTo({ top: (line - 4) * lineHeight });
  };
  return (
    <>
      <div class="editor" style={{ "--lines": lines } as preact.CSSProperties}>
        <pre class="editor-numbers" aria-hidden="true">
          {numbers}
        </pre>
        <div class="editor-page">
          {own.map((p, i) => (
            <span
              key={i}
              class="editor-mark"
              style={{ top: `${(p.line - 1) * lineHeight}px` }}
              aria-hidden="true"
            />
          ))}
          <textarea
            ref={area}
            aria-label={label}
            aria-describedby="config-problems"
            aria-invalid={problems.length > 0}
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            wrap="off"
            value={text}
            onInput={(e) => onText(e.currentTarget.value)}
            onKeyDown={(e) => indent(e, onText)}
          />
        </div>
      </div>
      <Problems problems={problems} onJump={jump} />
    </>
  );
}

const countLines = (text: string) => {
  let n = 1;
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) n++;
  return n;
};

/** Where a line and column begin in the text. */
function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) {
    const next = text.indexOf("\n", at);
    if (next < 0) break;
    at = next + 1;
  }
  return Math.min(text.length, at + Math.max(0, column - 1));
}

/** A new line begins below the one before it. Tab keeps its meaning: it leaves the text. */
function indent(
  event: KeyboardEvent & { currentTarget: HTMLTextAreaElement },
  onText: (t: string) => void,
) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  const area = event.currentTarget;
  const { selectionStart: from, selectionEnd: to, value } = area;
  const begin = value.lastIndexOf("\n", from - 1) + 1;
  const space = /^ */.exec(value.slice(begin, from))?.[0] ?? "";
  if (space === "") return;
  event.preventDefault();
  area.setRangeText(`\n${space}`, from, to, "end");
  onText(area.value);
}

const mostShown = 30;

interface ProblemsProps {
  problems: readonly ConfigProblem[];
  onJump(line: number, column: number): void;
}

function Problems({ problems, onJump }: ProblemsProps) {
  return (
    <ul id="config-problems" class="config-problems" aria-label="Problems of the text">
      {problems.slice(0, mostShown).map((p, i) => (
        <li key={i}>
          {p.file === "" && p.line > 0 ? (
            <button type="button" class="link" onClick={() => onJump(p.line, p.column)}>
              Line {p.line}
            </button>
          ) : (
            <strong>{p.file || "Text"}</strong>
          )}
          <span>
            {p.path && <code>{p.path}</code>} {reasonOf(p.detail)}
          </span>
        </li>
      ))}
      {problems.length > mostShown && <li>… and {problems.length - mostShown} more</li>}
    </ul>
  );
}
