import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import { stateWords } from "../alarm/words";
import { type Api, Problem } from "../api";
import { useAct } from "../control/use-act";
import { slotWords, untilWords, whoWords } from "../control/words";
import { plain, plural } from "../format";
import type {
  Alarm,
  ControlHolder,
  ControlOverrides,
  ControlPoints,
  NotedAnnotation,
  Timeline,
  TimelineEvent,
} from "../generated/api";
import { reasonOf } from "../language/said";
import { whenWords } from "../schedule/words";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { knowsZone, ownZone } from "../zone";
import { type HeldByHand, heldByHand, matters, most, partAlarms, sentence } from "./sum";
import "./handover.css";
import { coded } from "../language/codes";

const calm = 10_000;

const spans = [
  ["-8h", "Last 8 hours"],
  ["-12h", "Last 12 hours"],
  ["-24h", "Last 24 hours"],
  ["-3d", "Last 3 days"],
] as const;

interface Told {
  timeline: Timeline;
  overrides: ControlHolder[];
  byHand: HeldByHand[];
  notes: NotedAnnotation[];
}

/** What a shift hands over to the next one, on one page to read or to print. */
export function HandoverScreen({ api, session, alarms, epoch }: ScreenProps) {
  const [from, setFrom] = useState("-12h");
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => told(api, from), [api, from]);
  const { data, problem } = usePoll(ask, calm, epoch + changes);
  const site = session.time_zone ?? "";
  const zone = knowsZone(site) ? site : ownZone();
  const now = api.now();
  const parted = partAlarms(alarms.data?.alarms ?? []);
  const wrong = problem || alarms.problem;
  return (
    <div class="screen handover-screen">
      <h1>Shift hand-over</h1>
      <p class="quiet">
        {whenWords(new Date(now).toISOString(), zone)} {plain(zone)}, by {plain(session.user)}
      </p>
      <form class="handover-choice" onSubmit={(e) => e.preventDefault()}>
        <label>
          Time
          <select value={from} onChange={(e) => setFrom(e.currentTarget.value)}>
            {spans.map(([key, words]) => (
              <option key={key} value={key}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="primary" disabled={!data} onClick={() => print()}>
          Print
        </button>
      </form>
      {wrong && (
        <p role="alert" class="problem">
          {plain(wrong)}
        </p>
      )}
      {!(data && alarms.data) && !wrong && <p class="asking">Asking what to hand over…</p>}
      {data && alarms.data && (
        <>
          <p class="handover-sentence" role="status" aria-label="In short">
            <span class="handover-span">{spans.find(([key]) => key === from)?.[1]}:</span>{" "}
            <strong>{sentence(parted, data.timeline.events, data.timeline.next === "")}</strong>
          </p>
          {data.timeline.missing.map((m) => (
            <p key={m.node} class="problem">
              {plain(m.node)} is not told: {reasonOf(m.message)}
            </p>
          ))}
          <AlarmPart title="Open alarms" list={parted.open} most={most.open} zone={zone} />
          <Happened events={matters(data.timeline.events)} zone={zone} />
          <Overrides
            list={data.overrides}
            byHand={data.byHand}
            me={`person:${session.user}`}
            now={now}
          />
          <AlarmPart title="Shelved alarms" list={parted.shelved} most={most.held} zone={zone} />
          <AlarmPart title="Out of service" list={parted.off} most={most.set} zone={zone} />
          <Notes list={data.notes} zone={zone}>
            <NewNote api={api} onDone={() => setChanges((n) => n + 1)} />
          </Notes>
          <p class="handover-signed">Handed over: ________________ Taken over: ________________</p>
        </>
      )}
    </div>
  );
}

/** A node that has no such part answers 404, and so has none of it. Whatever else fails is said. */
const orNone =
  <T,>(none: T) =>
  (err: unknown): T => {
    if (err instanceof Problem && err.status === 404) return none;
    throw err;
  };

async function told(api: Api, from: string): Promise<Told> {
  const [timeline, held, busy, noted] = await Promise.all([
    api.get<Timeline>("timeline", { from, limit: 500, nodes: "true" }),
    api.get<ControlOverrides>("control/overrides").catch(orNone({ overrides: [] })),
    api
      .get<ControlPoints>("control/points", { busy: "true", limit: 1000 })
      .catch(orNone({ points: [], next: "" })),
    api
      .get<{ annotations: NotedAnnotation[] }>("annotations", { from })
      .catch(orNone({ annotations: [] })),
  ]);
  return {
    timeline,
    overrides: held.overrides,
    byHand: heldByHand(busy.points),
    notes: [...noted.annotations].reverse(),
  };
}

interface PartProps {
  title: string;
  count: number;
  most: number;
  /** Where the others are. */
  more: string;
  children: ComponentChildren;
  foot?: ComponentChildren;
}

function Part({ title, count, most, more, children, foot }: PartProps) {
  return (
    <section class="card panel handover-part" aria-label={title}>
      <h2>
        {title} <span class="quiet">{count}</span>
      </h2>
      {count === 0 ? <p class="quiet handover-none">None</p> : <ul>{children}</ul>}
      {count > most && (
        <p class="quiet">
          <a href={more}>and {count - most} more</a>
        </p>
      )}
      {foot}
    </section>
  );
}

interface AlarmPartProps {
  title: string;
  list: readonly Alarm[];
  most: number;
  zone: string;
}

function AlarmPart({ title, list, most, zone }: AlarmPartProps) {
  return (
    <Part title={title} count={list.length} most={most} more="/alarms">
      {list.slice(0, most).map((a) => (
        <li key={`${a.node} ${a.id}`} class={a.priority === "low" ? "is-info" : "is-bad"}>
          <time dateTime={a.since}>{whenWords(a.since, zone)}</time>
          <span class="handover-text">
            <strong>{coded(a.priority)}</strong> {a.node && <>{plain(a.node)}: </>}
            {reasonOf(a.text)}{" "}
            <span class="quiet">
              {stateWords(a.state)}
              {a.shelved_until && ` until ${whenWords(a.shelved_until, zone)}`}
              {a.note && `: ${plain(a.note)}`}
            </span>
          </span>
        </li>
      ))}
    </Part>
  );
}

function Happened({ events, zone }: { events: readonly TimelineEvent[]; zone: string }) {
  return (
    <Part title="What happened" count={events.length} most={most.happened} more="/timeline">
      {events.slice(0, most.happened).map((e) => (
        <li key={`${e.node} ${e.number}`} class={`is-${e.level}`}>
          <time dateTime={e.time}>{whenWords(e.time, zone)}</time>
          <span class="handover-text">
            {e.node && <strong>{plain(e.node)}: </strong>}
            {reasonOf(e.text)}
          </span>
        </li>
      ))}
    </Part>
  );
}

interface OverridesProps {
  list: readonly ControlHolder[];
  byHand: readonly HeldByHand[];
  me: string;
  now: number;
}

/** Overrides, and points that people hold at a value. */
function Overrides({ list, byHand, me, now }: OverridesProps) {
  const lines = [
    ...list.map((o) => ({
      path: o.path ?? "",
      words: `${whoWords(o.requester, me)}, ${untilWords(o.until, now)}`,
      reason: o.reason,
    })),
    ...byHand.map(({ point, slot }) => ({
      path: point.point,
      words: slotWords(slot, point.unit, me, now),
      reason: slot.reason,
    })),
  ];
  return (
    <Part title="Overrides in force" count={lines.length} most={most.overrides} more="/control">
      {lines.slice(0, most.overrides).map((line) => (
        <li key={`${line.path} ${line.words}`} class="is-warn">
          <span class="handover-text">
            <strong>{plain(line.path)}</strong> {line.words}
            {line.reason && `: ${plain(line.reason)}`}
          </span>
        </li>
      ))}
    </Part>
  );
}

interface NotesProps {
  list: readonly NotedAnnotation[];
  zone: string;
  children: ComponentChildren;
}

function Notes({ list, zone, children }: NotesProps) {
  return (
    <Part title="Notes" count={list.length} most={most.notes} more="/explore" foot={children}>
      {list.slice(0, most.notes).map((n) => (
        <li key={n.id} class="is-info">
          <time dateTime={n.from}>{whenWords(n.from, zone)}</time>
          <span class="handover-text">
            {plain(n.text)}{" "}
            <span class="quiet">
              {plain(n.by.replace(/^person:/, ""))}
              {n.points.length > 0 && `, ${plural(n.points.length, "point")}`}
            </span>
          </span>
        </li>
      ))}
    </Part>
  );
}

/** A note for the next shift: an annotation of this moment. */
function NewNote({ api, onDone }: { api: Api; onDone(): void }) {
  const [text, setText] = useState("");
  const act = useAct();
  const save = async () => {
    const from = new Date(api.now()).toISOString();
    if (!(await act.perform(() => api.send("PUT", "annotations", { from, text: text.trim() }))))
      return;
    setText("");
    onDone();
  };
  return (
    <form
      class="handover-note"
      aria-label="New note"
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
    >
      <label>
        Note for the next shift
        <textarea
          rows={2}
          maxLength={2000}
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      <button type="submit" disabled={act.busy || text.trim() === ""}>
        Add the note
      </button>
    </form>
  );
}
