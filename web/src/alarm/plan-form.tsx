import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { useAct } from "../control/use-act";
import { readDocument, writeDocument } from "../document/calls";
import { plain } from "../format";
import { numeral } from "../language/number";
import { documentAddress } from "../shell/place";
import {
  type By,
  type Contact,
  emptyPlan,
  fieldOf,
  missing,
  nextTurn,
  onCall,
  type Plan,
  readPlan,
  renamed,
  timeOf,
  toldBy,
  wayOf,
  ways,
  without,
  writePlan,
} from "./plan";
import "../control/control.css";

const key = { owner: "shared", name: "escalation" };

interface Kept {
  /** Undefined for a document that the form cannot show. */
  plan: Plan | undefined;
  version: number;
}

async function keptPlan(api: Api): Promise<Kept> {
  try {
    const d = await readDocument(api, key);
    return { plan: !d.text ? emptyPlan() : readPlan(d.text ?? ""), version: d.version };
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return { plan: emptyPlan(), version: 0 };
    throw err;
  }
}

/** The plan to change, which is read when somebody opens it. */
export function PlanForm({ api, onDone }: { api: Api; onDone(): void }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="alarm-more" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Change who is told…</summary>
      {open && (
        <Opened
          api={api}
          onDone={() => {
            setOpen(false);
            onDone();
          }}
        />
      )}
    </details>
  );
}

function Opened({ api, onDone }: { api: Api; onDone(): void }) {
  const [kept, setKept] = useState<Kept>();
  const act = useAct();
  useEffect(() => {
    void act.perform(async () => setKept(await keptPlan(api)));
  }, [api]);
  if (!kept)
    return <p class={act.problem ? "problem" : "asking"}>{act.problem || "Reading the plan…"}</p>;
  if (!kept.plan)
    return (
      <p>
        The plan is not written as JSON that this form can show.{" "}
        <a href={documentAddress(key.owner, key.name)}>Change the document</a>.
      </p>
    );
  return <Editor api={api} first={kept.plan} version={kept.version} onDone={onDone} />;
}

interface EditorProps {
  api: Api;
  first: Plan;
  version: number;
  onDone(): void;
}

function Editor({ api, first, version, onDone }: EditorProps) {
  const [plan, setPlan] = useState(first);
  const act = useAct();
  const lacks = missing(plan);
  const write = async () => {
    const draft = { type: "json" as const, text: writePlan(plan), note: "", expect: version };
    if (await act.perform(() => writeDocument(api, key, draft))) onDone();
  };
  return (
    <form
      class="control-form alarm-form"
      aria-label="Who is told of alarms"
      onSubmit={(e) => {
        e.preventDefault();
        void write();
      }}
    >
      <Contacts plan={plan} onChange={setPlan} />
      <Steps plan={plan} onChange={setPlan} />
      <Calendar plan={plan} onChange={setPlan} now={api.now()} />
      <Rest plan={plan} onChange={setPlan} />
      {lacks && <p class="quiet control-wide">{plain(lacks)}</p>}
      {act.problem && (
        <p role="alert" class="problem control-wide">
          {plain(act.problem)}
        </p>
      )}
      <span class="control-wide alarm-actions">
        <button type="submit" class="primary" disabled={act.busy || lacks !== ""}>
          Use this plan
        </button>
      </span>
    </form>
  );
}

interface PartProps {
  plan: Plan;
  onChange(plan: Plan): void;
}

const put = <T,>(list: readonly T[], at: number, part: Partial<T>): T[] =>
  list.map((one, i) => (i === at ? { ...one, ...part } : one));

const drop = <T,>(list: readonly T[], at: number): T[] => list.filter((_, i) => i !== at);

const others = {
  server: ["Server", "host:port"],
  from: ["From", "plant@example.org"],
  user: ["User", ""],
  secret: ["File of the password, in alarm-secrets", ""],
  ca: ["File of the authority, in alarm-secrets", ""],
} as const;

function Contacts({ plan, onChange }: PartProps) {
  const set = (i: number, part: Partial<Contact>) =>
    onChange({ ...plan, contacts: put(plan.contacts, i, part) });
  return (
    <Part title="Contacts">
      {plan.contacts.map((c, i) => (
        <fieldset key={i} class="control-form alarm-part">
          <legend>Contact {i + 1}</legend>
          <Text label="Name" value={c.name} onInput={(name) => onChange(renamed(plan, i, name))} />
          <label>
            Told by
            <select
              value={c.by}
              onChange={(e) => {
                const next = toldBy(c, e.currentTarget.value as By);
                onChange({ ...plan, contacts: plan.contacts.with(i, next) });
              }}
            >
              {ways.map((w) => (
                <option key={w.by} value={w.by}>
                  {w.words}
                </option>
              ))}
            </select>
          </label>
          <Text
            label={wayOf(c.by)?.to ?? "To"}
            hint={wayOf(c.by)?.hint}
            value={c.to}
            onInput={(to) => set(i, { to })}
          />
          {wayOf(c.by)?.more.map((field) => (
            <Text
              key={field}
              label={
                field === "server" && c.by === "mqtt"
                  ? "Broker, if not the node's own"
                  : others[field][0]
              }
              hint={others[field][1]}
              value={c[field] ?? ""}
              onInput={(text) => set(i, { [field]: text })}
            />
          ))}
          <button type="button" onClick={() => onChange(without(plan, i))}>
            Remove {plain(c.name) || `contact ${i + 1}`}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        onClick={() =>
          onChange({ ...plan, contacts: [...plan.contacts, { name: "", by: "email", to: "" }] })
        }
      >
        Add a contact
      </button>
    </Part>
  );
}

function Steps({ plan, onChange }: PartProps) {
  const set = (i: number, part: Partial<Plan["steps"][number]>) =>
    onChange({ ...plan, steps: put(plan.steps, i, part) });
  const names = [onCall, ...plan.contacts.map((c) => c.name).filter((name) => name !== "")];
  return (
    <Part title="Steps, while nobody acknowledges">
      {plan.steps.map((s, i) => (
        <fieldset key={i} class="control-form alarm-part">
          <legend>Step {i + 1}</legend>
          <Text
            label="After, minutes"
            value={String(s.after / 60)}
            onInput={(text) => {
              const minutes = numeral(text);
              if (Number.isFinite(minutes) && minutes >= 0) set(i, { after: minutes * 60 });
            }}
          />
          {names.map((name) => (
            <label key={name} class="control-check">
              <input
                type="checkbox"
                checked={s.tell.includes(name)}
                onChange={(e) =>
                  set(i, {
                    tell: e.currentTarget.checked
                      ? [...s.tell, name]
                      : s.tell.filter((other) => other !== name),
                  })
                }
              />
              {name === onCall ? "Who is on call" : plain(name)}
            </label>
          ))}
          <button type="button" onClick={() => onChange({ ...plan, steps: drop(plan.steps, i) })}>
            Remove step {i + 1}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        onClick={() => {
          const after = (plan.steps.at(-1)?.after ?? -900) + 900;
          onChange({ ...plan, steps: [...plan.steps, { after, tell: [] }] });
        }}
      >
        Add a step
      </button>
    </Part>
  );
}

function Calendar({ plan, onChange, now }: PartProps & { now: number }) {
  const turns = plan.calendar ?? [];
  const set = (i: number, part: Partial<(typeof turns)[number]>) =>
    onChange({ ...plan, calendar: put(turns, i, part) });
  return (
    <Part title="Who is on call, by the clock of this browser">
      {turns.map((t, i) => (
        <fieldset key={i} class="control-form alarm-part">
          <legend>Turn {i + 1}</legend>
          <label>
            Who
            <select value={t.who} onChange={(e) => set(i, { who: e.currentTarget.value })}>
              {plan.contacts.map((c) => (
                <option key={c.name}>{c.name}</option>
              ))}
            </select>
          </label>
          <Moment label="From" value={t.from} onInput={(from) => set(i, { from })} />
          <Moment label="To" value={t.to} onInput={(to) => set(i, { to })} />
          <button type="button" onClick={() => onChange({ ...plan, calendar: drop(turns, i) })}>
            Remove turn {i + 1}
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        disabled={plan.contacts.length === 0}
        onClick={() => onChange({ ...plan, calendar: [...turns, nextTurn(plan, now)] })}
      >
        Add a turn
      </button>
    </Part>
  );
}

function Rest({ plan, onChange }: PartProps) {
  const push = (contact: string) => {
    const { push: old, ...rest } = plan;
    onChange(contact === "" ? rest : { ...rest, push: { ...old, contact } });
  };
  return (
    <>
      <label>
        Tell of priority
        <select
          value={plan.least ?? "high"}
          onChange={(e) =>
            onChange({ ...plan, least: e.currentTarget.value as NonNullable<Plan["least"]> })
          }
        >
          <option value="low">low and above</option>
          <option value="medium">medium and above</option>
          <option value="high">high and above</option>
          <option value="critical">critical</option>
        </select>
      </label>
      <Text
        label="Pushes: an address for the push services; empty for off"
        hint="mailto:plant@example.org"
        value={plan.push?.contact ?? ""}
        onInput={push}
      />
    </>
  );
}

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="control-wide alarm-parts" aria-label={title}>
    <h3>{title}</h3>
    {children}
  </section>
);

interface TextProps {
  label: string;
  value: string;
  hint?: string | undefined;
  onInput(text: string): void;
}

const Text = ({ label, value, hint = "", onInput }: TextProps) => (
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

/** A time by the clock of the browser. */
const Moment = ({ label, value, onInput }: Omit<TextProps, "hint">) => (
  <label>
    {label}
    <input
      type="datetime-local"
      value={fieldOf(value)}
      onInput={(e) => onInput(timeOf(e.currentTarget.value) || value)}
    />
  </label>
);
