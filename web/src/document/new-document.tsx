import { useState } from "preact/hooks";
import { plain } from "../format";
import type { Document } from "../generated/api";
import { type Key, type Type, types } from "./calls";
import { typeFor } from "./owner";

interface Props {
  /** The owner that is shown, "" for all. */
  owner: string;
  taken: readonly Document[];
  onChosen(key: Key, type: Type): void;
  onCancel(): void;
}

const kinds = [
  { kind: "agent", label: "An agent", of: "Name of the agent" },
  { kind: "device", label: "A device", of: "Path of the device" },
  { kind: "shared", label: "Shared by all", of: "" },
] as const;

/** Asks whose the new document is, and how it is called; its text comes next. */
export function NewDocument({ owner, taken, onChosen, onCancel }: Props) {
  const cut = owner.indexOf("/");
  const [kind, setKind] = useState<string>(cut < 0 ? owner || "agent" : owner.slice(0, cut));
  const [rest, setRest] = useState(cut < 0 ? "" : owner.slice(cut + 1));
  const [name, setName] = useState("config");
  const [type, setType] = useState<Type>("yaml");
  const [problem, setProblem] = useState("");
  const of = kinds.find((k) => k.kind === kind)?.of ?? "";
  const submit = (event: Event) => {
    event.preventDefault();
    const key = { owner: of ? `${kind}/${rest.trim()}` : kind, name: name.trim() };
    const isThere = taken.some(
      (d) => d.owner === key.owner && d.name.toLowerCase() === key.name.toLowerCase(),
    );
    if (isThere) setProblem(`There is a document ${key.name} already; open it to change it.`);
    else onChosen(key, type);
  };
  const field = { type: "text", autocomplete: "off", autocapitalize: "off" } as const;
  return (
    <form class="document-form" aria-label="New document" onSubmit={submit}>
      <label>
        Owner
        <select value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
          {kinds.map((k) => (
            <option key={k.kind} value={k.kind}>
              {k.label}
            </option>
          ))}
        </select>
      </label>
      {of && (
        <label>
          {of}
          <input
            {...field}
            required
            maxLength={280}
            value={rest}
            onInput={(e) => setRest(e.currentTarget.value)}
          />
        </label>
      )}
      <label>
        Name
        <input
          {...field}
          required
          maxLength={256}
          value={name}
          onInput={(e) => {
            setName(e.currentTarget.value);
            setType(typeFor(e.currentTarget.value, type));
          }}
        />
      </label>
      <TypeChoice type={type} onType={setType} />
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      <p class="actions">
        <button type="submit" class="primary">
          Write it
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  );
}

/** The choice of a form of text. */
export const TypeChoice = ({ type, onType }: { type: Type; onType(type: Type): void }) => (
  <label>
    Type
    <select value={type} onChange={(e) => onType(e.currentTarget.value as Type)}>
      {types.map((t) => (
        <option key={t} value={t}>
          {t}
        </option>
      ))}
    </select>
  </label>
);
