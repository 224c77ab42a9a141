import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { count, plain } from "../format";
import type { AlarmRule, TriedPoints } from "../generated/api";
import { coded } from "../language/codes";
import { type Draft, draftOf, fieldsOf, readDraft } from "./draft";
import "../control/control.css";
import "./alarms.css";

interface Props {
  api: Api;
  /** The point that it is for; for many if left out. */
  path?: string;
  unit?: string;
  onDone(): void;
}

const checks: readonly (readonly [AlarmRule["check"], string])[] = [
  ["high", "Value above a limit"],
  ["low", "Value below a limit"],
  ["rate", "Changes too fast"],
  ["stuck", "Stays the same"],
  ["stale", "No new value"],
  ["state", "Has a value"],
  ["discrepancy", "Differs from its feedback"],
  ["expression", "Condition on several points"],
];

/** Makes a rule: says first which points it is for and what it would find, then writes it. */
export function RuleForm({ api, path = "", unit = "", onDone }: Props) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(path));
  const [tried, setTried] = useState<TriedPoints>();
  const [done, setDone] = useState("");
  const act = useAct();
  const change = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setTried(undefined);
    setDone("");
  };
  const read = readDraft(draft, path);
  const ask = async () => {
    if (!("rule" in read)) return;
    await act.perform(async () =>
      setTried(await api.send<TriedPoints>("POST", "alarms/rules/try", read.rule)),
    );
  };
  const write = async () => {
    if (!("rule" in read)) return;
    if (!(await act.perform(() => api.send("PUT", "alarms/rules", { ...read.rule, expect: 0 }))))
      return;
    setDone(`The rule ${read.rule.name} looks at readings now.`);
    setDraft(draftOf(path));
    setTried(undefined);
    onDone();
  };
  return (
    <form
      class="control-form alarm-form"
      aria-label="New alarm rule"
      onSubmit={(e) => {
        e.preventDefault();
        void write();
      }}
    >
      <Fields {...{ draft, path, unit }} onChange={change} />
      <div class="control-wide" role="status" aria-label="What it would find">
        {"problem" in read && <p class="quiet">{read.problem}</p>}
        {tried && <Found tried={tried} />}
        {done && <p>{plain(done)}</p>}
      </div>
      {act.problem && (
        <p role="alert" class="problem control-wide">
          {plain(act.problem)}
        </p>
      )}
      <span class="control-wide alarm-actions">
        <button type="button" disabled={act.busy || "problem" in read} onClick={() => void ask()}>
          Try it
        </button>
        <button type="submit" class="primary" disabled={act.busy || "problem" in read}>
          Make the rule
        </button>
      </span>
    </form>
  );
}

const ForMany = ({ draft, onChange: change }: Pick<FieldsProps, "draft" | "onChange">) => (
  <>
    <Text
      label="Points, as a pattern"
      value={draft.points}
      onInput={(points) => change({ points })}
      hint="b1/*/supply_temp"
    />
    <Text label="Name" value={draft.name} onInput={(name) => change({ name })} hint="supply-high" />
  </>
);

interface FieldsProps {
  draft: Draft;
  path: string;
  unit: string;
  onChange(part: Partial<Draft>): void;
}

function Fields({ draft, path, unit, onChange: change }: FieldsProps) {
  return (
    <>
      {path === "" && <ForMany draft={draft} onChange={change} />}
      <label>
        Alarm when
        <select
          value={draft.check}
          onChange={(e) => change({ check: e.currentTarget.value as AlarmRule["check"] })}
        >
          {checks.map(([check, words]) => (
            <option key={check} value={check}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {fieldsOf(draft.check).map(({ name, words, hint, lines }) => (
        <Text
          key={name}
          label={name === "limit" && unit ? `${words}, ${unit}` : words}
          value={draft[name]}
          hint={hint}
          lines={lines}
          onInput={(text) => change({ [name]: text })}
        />
      ))}
      {draft.check === "expression" && (
        <p class="quiet control-wide">
          A name is that of a line of its points; value is the point of the rule. Units are not
          converted: compare only values that have the same. With a point that has no usable reading
          the rule is not judged, and the alarm stays as it was.
        </p>
      )}
      <label>
        Priority
        <select
          value={draft.priority}
          onChange={(e) => change({ priority: e.currentTarget.value as Draft["priority"] })}
        >
          {["low", "medium", "high", "critical"].map((p) => (
            <option key={p} value={p}>
              {coded(p)}
            </option>
          ))}
        </select>
      </label>
      <Wide>
        <Text
          label="What is wrong"
          value={draft.message}
          onInput={(message) => change({ message })}
          hint="Made of the rule if you write nothing"
        />
      </Wide>
      <Wide>
        <Text
          label="What the operator does"
          value={draft.response}
          onInput={(response) => change({ response })}
          hint="Such as: check the pump, then call maintenance"
        />
      </Wide>
    </>
  );
}

const Wide = ({ children }: { children: ComponentChildren }) => (
  <div class="control-wide">{children}</div>
);

interface TextProps {
  label: string;
  value: string;
  hint: string;
  lines?: boolean | undefined;
  onInput(text: string): void;
}

function Text({ label, value, hint, lines, onInput }: TextProps) {
  if (lines) return <Lines {...{ label, value, hint, onInput }} />;
  return (
    <label>
      {label}
      <input
        type="text"
        placeholder={hint}
        value={value}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
    </label>
  );
}

function Lines({ label, value, hint, onInput }: Omit<TextProps, "lines">) {
  return (
    <label class="control-wide">
      {label}
      <textarea
        rows={2}
        placeholder={hint}
        value={value}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
    </label>
  );
}

/** What a rule would find now. */
function Found({ tried }: { tried: TriedPoints }) {
  if (tried.all === 0) return <p>No point fits. Look at the pattern.</p>;
  const [unjudged] = tried.points.filter((p) => p.unjudged);
  if (unjudged)
    return (
      <p>
        {count(tried.all)} {tried.all === 1 ? "point fits" : "points fit"}. It cannot be judged now:{" "}
        {plain(unjudged.unjudged)}.
      </p>
    );
  const names = tried.points.filter((p) => p.active).map((p) => plain(p.description || p.point));
  return (
    <p>
      {count(tried.all)} {tried.all === 1 ? "point fits" : "points fit"}.{" "}
      {names.length === 0
        ? "None would be in alarm now."
        : `In alarm now: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${count(names.length - 5)} more` : ""}.`}
    </p>
  );
}
