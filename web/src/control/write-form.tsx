import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain, unit } from "../format";
import type { ControlPoint, Value } from "../generated/api";
import { coded } from "../language/codes";
import { includes } from "../shell/role";
import { Ask } from "./ask";
import { command } from "./calls";
import { type Draft, leasesOf, newDraft, newId, readDraft } from "./draft";
import { Holders } from "./holders";
import { byHand, levelName, levels, mayUse, roleFor } from "./levels";
import { type Outlook, outlook } from "./outlook";
import { resultOf, type Told } from "./result";
import { useAct } from "./use-act";
import { lengthWords, rangeWords, withUnit } from "./words";

interface Props {
  api: Api;
  point: ControlPoint;
  me: string;
  role: string;
  onDone(): void;
}

/** Sets a point, as far as it and the role allow. */
export function WriteForm(props: Props) {
  const { point, role } = props;
  const refused = !point.writable
    ? "This point is read-only: nothing can be set. If the device allows it, declare the point writable in its configuration."
    : includes(role, "operator")
      ? ""
      : `Your role, ${coded(role)}, may look. To set a point needs the role operator.`;
  return (
    <section class="card panel" aria-labelledby="set-title">
      <h2 id="set-title">Set it</h2>
      {refused ? <p>{refused}</p> : <Form {...props} />}
    </section>
  );
}

function Form({ api, point, me, role, onDone }: Props) {
  const [draft, setDraft] = useState(() => newDraft(point, byHand));
  const [asked, setAsked] = useState("");
  const [told, setTold] = useState<Told>();
  const act = useAct();
  const now = api.now();
  const read = readDraft(draft, point);
  const seen = "command" in read ? outlook(point, read.command, { me, role, now }) : undefined;
  const change = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setTold(undefined);
  };
  const send = async () => {
    if (!("command" in read)) return;
    const done = await act.perform(async () => {
      const result = await command(api, { ...read.command, id: asked });
      setTold(resultOf(result, read.command.value, point, api.now()));
    });
    if (!done) return;
    setAsked("");
    onDone();
  };
  return (
    <>
      <form
        class="control-form"
        aria-label="Set the point"
        onSubmit={(e) => {
          e.preventDefault();
          if ("command" in read) setAsked(newId());
        }}
      >
        <ValueField point={point} draft={draft} onChange={change} />
        <LevelField role={role} draft={draft} onChange={change} />
        <LeaseField point={point} draft={draft} onChange={change} />
        <label class="control-wide">
          Reason
          <input
            type="text"
            maxLength={1000}
            placeholder="For others, and for the audit log"
            value={draft.reason}
            onInput={(e) => change({ reason: e.currentTarget.value })}
          />
        </label>
        <div class="control-wide" role="status" aria-label="What will happen">
          {"problem" in read ? (
            <p class="quiet">{draft.value === "" ? "Write a value." : read.problem}</p>
          ) : (
            seen && <Prospect seen={seen} />
          )}
        </div>
        <p class="actions control-wide">
          <button type="submit" class="primary" disabled={!seen || seen.verdict === "refused"}>
            Set…
          </button>
        </p>
        {told && (
          <div role="alert" class={`control-told control-wide is-${told.level}`}>
            <p>
              <span class="dot" aria-hidden="true" /> {told.words}
            </p>
            <Holders holders={told.holders} me={me} now={now} />
          </div>
        )}
      </form>
      {asked && seen && "command" in read && (
        <Confirm
          {...{ point, seen, act }}
          value={read.command.value}
          onDo={() => void send()}
          onClose={() => {
            setAsked("");
            act.forget();
          }}
        />
      )}
    </>
  );
}

interface ConfirmProps {
  point: ControlPoint;
  value: Value;
  seen: Outlook;
  act: { busy: boolean; problem: string };
  onDo(): void;
  onClose(): void;
}

const Confirm = ({ point, value, seen, act, onDo, onClose }: ConfirmProps) => (
  <Ask
    title={`Set ${plain(point.point)} to ${withUnit(value, point.unit)}?`}
    label="Set it now"
    busy={act.busy}
    problem={act.problem}
    onDo={onDo}
    onClose={onClose}
  >
    <Prospect seen={seen} />
  </Ask>
);

/** What will happen in words. */
function Prospect({ seen: { verdict, lines } }: { seen: Outlook }) {
  const level = verdict === "wins" ? "good" : verdict === "refused" ? "bad" : "warn";
  return (
    <div class={`control-prospect is-${level}`}>
      {lines.map((line, i) => (
        <p key={line}>
          {i === 0 && <span class="dot" aria-hidden="true" />} {line}
        </p>
      ))}
    </div>
  );
}

interface FieldProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
}

function ValueField({ point, draft, onChange }: FieldProps & { point: ControlPoint }) {
  const isNumber = point.kind === "float" || point.kind === "int";
  if (point.kind === "bool") {
    return (
      <label>
        Value
        <select value={draft.value} onChange={(e) => onChange({ value: e.currentTarget.value })}>
          <option value="true">on</option>
          <option value="false">off</option>
        </select>
      </label>
    );
  }
  return (
    <label>
      Value{point.unit && ` in ${unit(plain(point.unit))}`}
      <input
        type="text"
        inputMode={isNumber ? "decimal" : "text"}
        maxLength={1000}
        autocomplete="off"
        placeholder={isNumber ? rangeWords(point.policy?.range, point.unit) : ""}
        value={draft.value}
        onInput={(e) => onChange({ value: e.currentTarget.value })}
      />
    </label>
  );
}

const LevelField = ({ role, draft, onChange }: FieldProps & { role: string }) => (
  <label>
    Level
    <select
      value={draft.level}
      onChange={(e) => onChange({ level: Number(e.currentTarget.value) })}
    >
      {levels.map((level) => (
        <option key={level} value={level} disabled={!mayUse(role, level)}>
          {level}
          {levelName(level) && ` ${levelName(level)}`}
          {!mayUse(role, level) && ` (needs ${roleFor(level)})`}
        </option>
      ))}
    </select>
  </label>
);

function LeaseField({ point, draft, onChange }: FieldProps & { point: ControlPoint }) {
  return (
    <>
      <label>
        For
        <select value={draft.lease} onChange={(e) => onChange({ lease: e.currentTarget.value })}>
          {leasesOf(point).map((lease) => (
            <option key={lease} value={lease}>
              {leaseWords(lease)}
            </option>
          ))}
        </select>
      </label>
      {draft.lease === "other" && (
        <label>
          Minutes
          <input
            type="text"
            inputMode="decimal"
            maxLength={12}
            value={draft.minutes}
            onInput={(e) => onChange({ minutes: e.currentTarget.value })}
          />
        </label>
      )}
    </>
  );
}

function leaseWords(lease: string): string {
  if (lease === "") return "until it is released";
  return lease === "other" ? "another time…" : lengthWords(Number(lease));
}
