import { useState } from "preact/hooks";
import { type Filter, fromField, spanOf, spans, toField } from "./filter";

interface Props {
  filter: Filter;
  onFilter(filter: Filter): void;
}

const fields = [
  { name: "actor", label: "Who", hint: "person:*" },
  { name: "action", label: "Action", hint: "config.*" },
  { name: "subject", label: "Subject", hint: "campus/b1" },
  { name: "text", label: "Any text", hint: "in any part" },
] as const;

const between = "between";

/** The fields of the filter; nothing is asked before they are submitted. */
export function FilterForm({ filter, onFilter }: Props) {
  const [draft, setDraft] = useState(filter);
  const [span, setSpan] = useState<string>(spanOf(filter) ?? between);
  const choose = (next: string) => {
    setSpan(next);
    if (next !== between) setDraft({ ...draft, from: next, to: "" });
  };
  return (
    <form
      class="audit-filter"
      aria-label="Filter"
      onSubmit={(e) => {
        e.preventDefault();
        onFilter({ ...draft, before: 0 });
      }}
    >
      {fields.map(({ name, label, hint }) => (
        <label key={name}>
          {label}
          <input
            type="text"
            placeholder={hint}
            maxLength={1024}
            spellcheck={false}
            autocapitalize="off"
            value={draft[name]}
            onInput={(e) => setDraft({ ...draft, [name]: e.currentTarget.value })}
          />
        </label>
      ))}
      <label>
        Time
        <select value={span} onChange={(e) => choose(e.currentTarget.value)}>
          {spans.map((s) => (
            <option key={s.from} value={s.from}>
              {s.label}
            </option>
          ))}
          <option value={between}>Between two times</option>
        </select>
      </label>
      {span === between &&
        (["from", "to"] as const).map((name) => (
          <label key={name}>
            {name === "from" ? "From" : "To"}
            <input
              type="datetime-local"
              value={toField(draft[name])}
              onChange={(e) => setDraft({ ...draft, [name]: fromField(e.currentTarget.value) })}
            />
          </label>
        ))}
      <button type="submit">Show</button>
    </form>
  );
}
