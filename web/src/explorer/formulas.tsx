import { useRef, useState } from "preact/hooks";
import { plain, unit, value } from "../format";
import { inkStyle } from "../plot-axes";
import { type Curve, valueAt } from "../series";
import { type FormulaError, functionNames, type Known, withPaths } from "./formula";
import { type Read, readFormula } from "./use-computed";
import { mostFormulas } from "./view";

interface Props {
  known: Known;
  reads: readonly Read[];
  curves: readonly Curve[];
  /** The ink of the first formula. */
  first: number;
  cursor: number | undefined;
  onChange(formulas: readonly string[]): void;
}

/** The series that are computed of the shown points, and a field for another one. */
export function Formulas({ known, reads, curves, first, cursor, onChange }: Props) {
  const texts = reads.map((r) => r.text);
  return (
    <section class="card explore-legend formulas" aria-labelledby="formulas-title">
      <h2 id="formulas-title">Computed series</h2>
      <ul>
        {reads.map((read, i) => (
          <Item
            key={read.text}
            read={read}
            ink={first + i}
            curve={curves.find((c) => c.point === read.text && !c.ghost)}
            cursor={cursor}
            onRemove={() => onChange(texts.filter((t) => t !== read.text))}
          />
        ))}
      </ul>
      {reads.length < mostFormulas && (
        <NewFormula
          known={known}
          onAdd={(text) => onChange([...texts.filter((t) => t !== text), text])}
        />
      )}
    </section>
  );
}

interface ItemProps {
  read: Read;
  ink: number;
  curve: Curve | undefined;
  cursor: number | undefined;
  onRemove(): void;
}

function Item({ read, ink, curve, cursor, onRemove }: ItemProps) {
  const last = curve?.values.findLast((v) => v !== null);
  const at = curve && cursor !== undefined ? valueAt(curve, cursor) : last;
  return (
    <li>
      <span class="swatch" style={{ "--ink": inkStyle(ink) }} aria-hidden="true" />
      <code>{plain(read.text)}</code>
      {read.formula && (
        <span class="number">
          <strong>{value(at ?? null)}</strong>{" "}
          <span class="unit">{unit(read.formula.unit.name)}</span>
        </span>
      )}
      <button type="button" class="remove" aria-label={`Remove ${read.text}`} onClick={onRemove}>
        ×
      </button>
      {read.problem && <Problem text={read.text} problem={read.problem} />}
    </li>
  );
}

/** What is wrong, with a mark below the place. */
function Problem({ text, problem }: { text: string; problem: FormulaError }) {
  const before = 24;
  const from = Math.max(0, problem.at - before);
  const part = text.slice(from, problem.at + problem.length + before);
  const mark =
    " ".repeat(problem.at - from) + "^".repeat(Math.max(1, Math.min(problem.length, part.length)));
  return (
    <div class="formula-problem" role="alert">
      <pre aria-hidden="true">{`${plain(part)}\n${mark}`}</pre>
      <p class="problem">
        At character {problem.at + 1}: {plain(problem.message)}
      </p>
    </div>
  );
}

function NewFormula({ known, onAdd }: { known: Known; onAdd(text: string): void }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<FormulaError>();
  const read = text.trim() === "" ? undefined : readFormula(text, known);
  const add = (e: Event) => {
    e.preventDefault();
    const { problem: found } = readFormula(text, known);
    setProblem(found);
    if (found) {
      field.current?.focus();
      field.current?.setSelectionRange(found.at, found.at + found.length);
      return;
    }
    onAdd(withPaths(text, known));
    setText("");
  };
  return (
    <form onSubmit={add} class="new-formula">
      <input
        ref={field}
        type="text"
        aria-label="Formula"
        aria-describedby="formula-help"
        aria-invalid={problem !== undefined}
        placeholder="(A - B) * 2"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setProblem(undefined);
        }}
      />
      <button type="submit" disabled={text.trim() === ""}>
        Add
      </button>
      {problem ? (
        <Problem text={text} problem={problem} />
      ) : (
        <p id="formula-help" class="quiet">
          {read?.formula
            ? `The result is in ${unit(read.formula.unit.name) || "no unit"}.`
            : `Letters stand for the shown points; + - * / ( ), numbers such as 2.5 or 30[min], ${functionNames.join(", ")}.`}
        </p>
      )}
    </form>
  );
}
