import { useCallback, useId, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { SinkField, SinkForm, SinkForms, SinkText } from "../generated/api";
import { usePoll } from "../use-poll";
import { problemsOf } from "../welcome/setup";
import { type Draft, draftOf, isFurther, labelOf, requestOf } from "./settings";

interface Props {
  api: Api;
  /** The destination to change; "" for a new one. */
  name: string;
  onDone(name: string): void;
  onClose(): void;
}

const rarely = 10 * 60_000;

/** Adds a destination, or changes one, by a form of its kind. */
export function DestinationForm({ api, name, onDone, onClose }: Props) {
  const ask = useCallback(async () => {
    const { kinds } = await api.get<SinkForms>("sinks/kinds");
    const text = name ? await api.get<SinkText>(`${address(name)}/settings`) : undefined;
    return { kinds, settings: (text?.settings ?? {}) as Record<string, unknown> };
  }, [api, name]);
  const { data, problem } = usePoll(ask, rarely, 0);
  if (!data) return <p class="asking">{plain(problem) || "Asking for the kinds…"}</p>;
  return <Fields {...{ api, name, onDone, onClose }} {...data} />;
}

const address = (name: string) => `sinks/${encodeURIComponent(name)}`;

interface FieldsProps extends Props {
  kinds: readonly SinkForm[];
  settings: Record<string, unknown>;
}

function Fields({ api, name: old, kinds, settings, onDone, onClose }: FieldsProps) {
  const [kind, setKind] = useState(String(settings.kind ?? kinds[0]?.kind ?? ""));
  const form = kinds.find((k) => k.kind === kind);
  const [name, setName] = useState(old);
  const [draft, setDraft] = useState<Draft>(form ? draftOf(settings, form) : {});
  const [anew, setAnew] = useState(false);
  const act = useActs(api, name, anew, onDone);
  if (!form) return <p class="problem">The node does not know the kind {plain(kind)}.</p>;
  const field = (f: SinkField) => (
    <Field
      key={f.key}
      field={f}
      form={form}
      isKept={f.type === "file" && settings[f.key] !== undefined}
      value={draft[f.key] ?? ""}
      onInput={(value) => setDraft({ ...draft, [f.key]: value })}
    />
  );
  const further = form.fields.filter((f) => isFurther(f.key));
  return (
    <form
      class="card panel destination-form"
      aria-label={old ? `Change ${plain(old)}` : "New destination"}
      onSubmit={(event) => {
        event.preventDefault();
        void act.put(() => requestOf(kind, draft, form), false);
      }}
    >
      {!old && (
        <>
          <label>
            Kind
            <select value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
              {kinds.map((k) => (
                <option key={k.kind} value={k.kind}>
                  {k.title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Name
            <input
              type="text"
              required
              maxLength={64}
              pattern="[a-zA-Z0-9][a-zA-Z0-9_\-]*"
              title="Letters, digits, - and _"
              autocomplete="off"
              value={name}
              onInput={(e) => setName(e.currentTarget.value)}
            />
          </label>
        </>
      )}
      {form.fields.filter((f) => !isFurther(f.key)).map(field)}
      <details class="wide">
        <summary>More settings</summary>
        <div class="destination-form">{further.map(field)}</div>
      </details>
      {act.remembered && (
        <label class="wide destination-choice">
          <input
            type="checkbox"
            checked={anew}
            onChange={(e) => setAnew(e.currentTarget.checked)}
          />{" "}
          <span>
            A destination of this name was here before. It goes on where it was, and gets what was
            recorded since. Forget that, and begin with what is recorded from now on.
          </span>
        </label>
      )}
      <div class="wide" role="alert">
        {act.problems.map((p) => (
          <p key={p} class="problem">
            {plain(p)}
          </p>
        ))}
      </div>
      <p class="wide done" role="status">
        {act.said}
      </p>
      <p class="actions">
        <button type="submit" class="primary" disabled={act.busy}>
          {act.busy ? "Trying…" : old ? "Try and save" : "Try and add"}
        </button>
        <button
          type="button"
          disabled={act.busy}
          onClick={() => void act.attempt(() => requestOf(kind, draft, form))}
        >
          Only try
        </button>
        {act.untried && (
          <button
            type="button"
            disabled={act.busy}
            onClick={() => void act.put(() => requestOf(kind, draft, form), true)}
          >
            Save although it cannot be reached
          </button>
        )}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </form>
  );
}

type Request = Record<string, unknown>;

/** Trying and saving, one at a time, and what came of the last attempt. */
function useActs(api: Api, name: string, anew: boolean, onDone: (name: string) => void) {
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const [untried, setUntried] = useState(false);
  const [remembered, setRemembered] = useState("");
  const during = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblems([]);
    setSaid("");
    setUntried(false);
    try {
      await work();
    } catch (err) {
      setProblems(problemsOf(err));
      setUntried(true);
    }
    setBusy(false);
  };
  /** Whether the person knows that a position is kept for the name. */
  const isTold = async () => {
    const { there, remembered: kept } = await api.get<SinkText>(`${address(name)}/settings`);
    if (there || !kept || remembered === name) return true;
    setRemembered(name);
    setSaid("Choose whether it goes on where it was, then press the button again.");
    return false;
  };
  return {
    problems,
    said,
    busy,
    untried,
    remembered: remembered === name && name !== "",
    attempt: (request: () => Request) =>
      during(async () => {
        await api.send("POST", `${address(name)}/try`, request());
        setSaid("It can be reached, and accepts this node.");
      }),
    put: (request: () => Request, isUntried: boolean) =>
      during(async () => {
        const body = { ...request(), anew, untried: isUntried };
        if (!(await isTold())) return;
        await api.send("PUT", address(name), body);
        onDone(name);
      }),
  };
}

interface FieldProps {
  field: SinkField;
  form: SinkForm;
  /** Whether it is a secret that the node keeps. */
  isKept: boolean;
  value: string;
  onInput(value: string): void;
}

/** One field of the form, with what the reference of the configuration says about it. */
function Field({ field: f, form, isKept, value, onInput }: FieldProps) {
  const id = useId();
  return (
    <div class="destination-field">
      <label for={id}>{labelOf(f.key, form)}</label>
      <Input {...{ field: f, form, isKept, value, onInput, id }} />
      <span class="quiet">{isKept ? "Kept here; leave it empty to keep it." : sentenceOf(f)}</span>
    </div>
  );
}

function Input({ field: f, form, value, onInput, id }: FieldProps & { id: string }) {
  const change = (e: { currentTarget: { value: string } }) => onInput(e.currentTarget.value);
  const hint = hints[f.key] ?? "";
  if (f.key === "password_file") {
    return (
      <input id={id} type="password" autocomplete="new-password" value={value} onInput={change} />
    );
  }
  if (f.type === "list" || f.type === "map" || f.type === "file") {
    return (
      <textarea
        id={id}
        rows={f.type === "file" ? 4 : 2}
        spellcheck={false}
        placeholder={hint}
        value={value}
        onInput={change}
      />
    );
  }
  if (f.key === "from") return <input id={id} type="date" value={value} onInput={change} />;
  return (
    <input
      id={id}
      type="text"
      autocomplete="off"
      required={f.key === "url"}
      placeholder={f.key === "url" ? form.address : hint}
      value={value}
      onInput={change}
    />
  );
}

const hints: Record<string, string> = {
  points: "plant/**",
  except: "**/diagnosis/*",
  names: "{path}",
  tags: "building: {1}",
  units: "degF: degC",
  ca: "-----BEGIN CERTIFICATE-----",
  certificate: "-----BEGIN CERTIFICATE-----",
  key: "-----BEGIN PRIVATE KEY-----",
};

/** The first sentence of what the reference says, without the key in front. */
function sentenceOf(f: SinkField): string {
  if (f.type === "file" && f.key === "password_file") return "It is never shown again.";
  if (f.type === "file") return "In PEM.";
  const text = f.doc.replace(/^\w+ (is|are) /, "").replace(/\. .*$/, ".");
  const lines =
    f.type === "list"
      ? " A line for each."
      : f.type === "map"
        ? " A line “name: text” for each."
        : "";
  return text.charAt(0).toUpperCase() + text.slice(1) + lines;
}
