import { useState } from "preact/hooks";
import { plain } from "../format";
import type { Grants } from "../generated/api";
import { wordsOf } from "../use-poll";
import { grantOf, type Kind, kinds, type Typed } from "./grant";

interface Props {
  /** A kind that cannot be granted here. */
  without?: Kind;
  onGrant(grants: Grants): Promise<unknown>;
  onGranted(): void;
}

const empty: Typed = {
  kind: "subscribe",
  what: "",
  method: "",
  level: "8",
  min: "",
  max: "",
  where: "",
};

const whats: Record<Kind, string> = {
  publish: "Path",
  record: "Path",
  subscribe: "Path",
  read: "Path",
  command: "Path",
  call: "Agent",
  hold: "Name",
};

/** Grants one more capability. */
export function GrantForm({ without, onGrant, onGranted }: Props) {
  const [typed, setTyped] = useState(empty);
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const made = grantOf(typed);
    if ("problem" in made) return setProblem(made.problem);
    try {
      await onGrant(made.grants);
      setTyped({ ...empty, kind: typed.kind });
      setProblem("");
      onGranted();
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  const field = (key: Exclude<keyof Typed, "kind">, label: string, placeholder = "") => (
    <label key={key}>
      {label}
      <input
        type="text"
        maxLength={512}
        placeholder={placeholder}
        spellcheck={false}
        autocapitalize="off"
        value={typed[key]}
        onInput={(e) => setTyped({ ...typed, [key]: e.currentTarget.value })}
      />
    </label>
  );
  return (
    <form class="agent-form" aria-label="Grant more" onSubmit={(e) => void submit(e)}>
      <label>
        Allow it to
        <select
          value={typed.kind}
          onChange={(e) => setTyped({ ...typed, kind: e.currentTarget.value as Kind })}
        >
          {Object.entries(kinds)
            .filter(([kind]) => kind !== without)
            .map(([kind, words]) => (
              <option key={kind} value={kind}>
                {words}
              </option>
            ))}
        </select>
      </label>
      {field("what", whats[typed.kind], typed.kind in paths ? "campus/b1 or campus/*/ahu1/**" : "")}
      {typed.kind === "call" && field("method", "Method", "all if empty")}
      {typed.kind === "command" && field("level", "Most urgent level")}
      {typed.kind === "command" && field("min", "From value", "any")}
      {typed.kind === "command" && field("max", "To value", "any")}
      {(typed.kind === "call" || typed.kind === "hold") &&
        field("where", "Only where (JSON)", '{"device": "campus/b1/**"}')}
      <p role="alert" class="problem agent-words">
        {plain(problem)}
      </p>
      <p class="actions">
        <button type="submit">Grant</button>
      </p>
    </form>
  );
}

const paths: Partial<Record<Kind, true>> = {
  publish: true,
  record: true,
  subscribe: true,
  read: true,
  command: true,
};
