import { useState } from "preact/hooks";
import type { Api, Device } from "../api";
import { toField } from "../audit/filter";
import { plain } from "../format";
import type { ControlTask } from "../generated/api";
import { reserve } from "./calls";
import { newId } from "./draft";
import type { Wanted } from "./gantt";
import { Holders } from "./holders";
import {
  type Contest,
  contest,
  type Priority,
  priorities,
  readTask,
  type Typed,
} from "./reservation";
import { useAct } from "./use-act";
import { whoWords } from "./words";

interface Props {
  api: Api;
  tasks: readonly ControlTask[];
  devices: readonly Device[];
  me: string;
  now: number;
  /** Is told what was refused, to be drawn; undefined for nothing. */
  onWanted(wanted: Wanted | undefined): void;
  onDone(): void;
}

const empty: Typed = { task: "", paths: "", from: "", to: "", priority: "low", reason: "" };
const mostOffered = 500;

/** Reserves devices or branches, and says who stands in the way. */
export function ReserveForm({ api, tasks, devices, me, now, onWanted, onDone }: Props) {
  const [typed, setTyped] = useState<Typed>(() => ({
    ...empty,
    to: toField(new Date(now + 2 * 3_600_000).toISOString()),
  }));
  const [told, setTold] = useState("");
  const act = useAct();
  const read = readTask(typed, now);
  const seen = "task" in read ? contest(tasks, read.task, now) : undefined;
  const change = (part: Partial<Typed>) => {
    setTyped({ ...typed, ...part });
    setTold("");
    act.forget();
    onWanted(undefined);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!("task" in read)) return setTold(read.problem);
    const { task } = read;
    const done = await act.perform(async () => {
      const { lost } = await reserve(api, { ...task, id: newId() });
      const gave = (lost ?? []).map(
        (h) => `${plain(h.task ?? "")} of ${whoWords(h.requester, me)}`,
      );
      setTold(
        `${task.task} is reserved.${gave.length > 0 ? ` ${gave.join(", ")} gives way.` : ""}`,
      );
      setTyped({ ...typed, task: "", reason: "" });
    });
    if (done) onWanted(undefined);
    else {
      const begin = { from: new Date(now).toISOString() };
      const windows = task.windows.map((w) => ({ ...begin, ...w }));
      onWanted({ windows, holders: seen?.standing ?? [] });
    }
    onDone();
  };
  return (
    <section class="card panel" aria-labelledby="reserve-title">
      <h2 id="reserve-title">Reserve</h2>
      <form class="control-form" aria-label="Reserve" onSubmit={(e) => void submit(e)}>
        <Fields typed={typed} devices={devices} onChange={change} />
        <div class="control-wide" role="status" aria-label="What will happen">
          {act.problem === "" && told === "" && seen && <Prospect seen={seen} me={me} now={now} />}
          {told && <p>{told}</p>}
        </div>
        {act.problem && (
          <div class="control-wide control-told is-bad" role="alert">
            <p>
              <span class="dot" aria-hidden="true" /> Nothing is reserved: {plain(act.problem)}
            </p>
            <Holders holders={act.holders} me={me} now={now} />
          </div>
        )}
        <p class="actions control-wide">
          <button type="submit" class="primary" disabled={act.busy}>
            Reserve
          </button>
        </p>
      </form>
    </section>
  );
}

/** Who stands in the way, as far as one can see; the node decides. */
function Prospect({ seen, me, now }: { seen: Contest; me: string; now: number }) {
  if (seen.isNamed) {
    return <p>There is a reservation of this name already. Choose another name.</p>;
  }
  if (seen.standing.length > 0) {
    return (
      <div class="control-prospect is-bad">
        <p>
          <span class="dot" aria-hidden="true" /> It would be refused, for these stand in the way:
        </p>
        <Holders holders={seen.standing} me={me} now={now} />
      </div>
    );
  }
  const yielding = seen.yielding.map((t) => `${plain(t.task)} of ${whoWords(t.requester, me)}`);
  return (
    <p>
      {yielding.length === 0
        ? "Nothing is in the way. While it goes on, nobody else commands what it covers, except at levels 1 and 2."
        : `These give way and lose all their windows: ${yielding.join(", ")}.`}
    </p>
  );
}

interface FieldsProps {
  typed: Typed;
  devices: readonly Device[];
  onChange(part: Partial<Typed>): void;
}

function Fields({ typed, devices, onChange }: FieldsProps) {
  const add = (path: string) => {
    if (path !== "") onChange({ paths: `${typed.paths.trimEnd()}\n${path}`.trimStart() });
  };
  const time = (name: "from" | "to", label: string) => (
    <label>
      {label}
      <input
        type="datetime-local"
        value={typed[name]}
        onInput={(e) => onChange({ [name]: e.currentTarget.value })}
      />
    </label>
  );
  const text = (name: "task" | "reason", label: string, hint: string) => (
    <label>
      {label}
      <input
        type="text"
        maxLength={name === "task" ? 255 : 1000}
        placeholder={hint}
        value={typed[name]}
        onInput={(e) => onChange({ [name]: e.currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      {text("task", "Name", "fan test")}
      {text("reason", "Reason", "For others, and for the audit log")}
      <label class="control-wide">
        Devices, branches or points, one on each line
        <textarea
          rows={3}
          maxLength={100_000}
          spellcheck={false}
          value={typed.paths}
          onInput={(e) => onChange({ paths: e.currentTarget.value })}
        />
      </label>
      <label>
        Add a device
        <select value="" onChange={(e) => add(e.currentTarget.value)}>
          <option value="">choose…</option>
          {devices.slice(0, mostOffered).map((d) => (
            <option key={d.path} value={d.path}>
              {plain(d.path)}
            </option>
          ))}
        </select>
      </label>
      {time("from", "From, now if empty")}
      {time("to", "Until")}
      <label class="control-wide">
        Priority
        <select
          value={typed.priority}
          onChange={(e) => onChange({ priority: e.currentTarget.value as Priority })}
        >
          {Object.entries(priorities).map(([name, meaning]) => (
            <option key={name} value={name}>
              {name}: {meaning}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
