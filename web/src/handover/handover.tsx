import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { plain } from "../format";
import type {
  Alarms,
  ControlOverrides,
  ControlPoints,
  ControlSlots,
  NotedAnnotation,
  Timeline,
} from "../generated/api";
import { whenWords } from "../schedule/words";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { knowsZone, ownZone } from "../zone";
import { askBelow, type Below } from "./below";
import { NewNote } from "./new-note";
import { AlarmPart, Happened, Notes, Overrides, UntoldLines } from "./parts";
import {
  allUntold,
  type HeldByHand,
  heldAt,
  heldByHand,
  type Left,
  matters,
  most,
  mostHappened,
  partAlarms,
  sentence,
  together,
} from "./sum";
import "./handover.css";

const calm = 10_000;
/** Other nodes are asked less often, unless one did not answer. */
const calmBelow = (below: Below | undefined) => (below?.isLate ? calm : 60_000);

const spans = [
  ["-8h", "Last 8 hours"],
  ["-12h", "Last 12 hours"],
  ["-24h", "Last 24 hours"],
  ["-3d", "Last 3 days"],
] as const;

interface Told extends Left {
  timeline: Timeline;
}

/** What a shift hands over to the next one, on one page to read or to print. */
export function HandoverScreen(props: ScreenProps) {
  const { api, session, alarms, epoch } = props;
  const [from, setFrom] = useState("-12h");
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => told(api, from), [api, from]);
  const { data, problem } = usePoll(ask, calm, epoch + changes);
  const askOthers = useCallback(() => askBelow(api, from), [api, from]);
  const below = usePoll(askOthers, calmBelow, epoch);
  const site = session.time_zone ?? "";
  const zone = knowsZone(site) ? site : ownZone();
  const now = api.now();
  const wrong = problem || alarms.problem || below.problem;
  const isAsking = !(data && alarms.data);
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
        <button
          type="button"
          class="primary"
          disabled={isAsking || !below.data}
          onClick={() => print()}
        >
          Print
        </button>
      </form>
      {wrong && (
        <p role="alert" class="problem">
          {plain(wrong)}
        </p>
      )}
      {isAsking && !wrong && <p class="asking">Asking what to hand over…</p>}
      {!(isAsking || below.data || below.problem) && <p class="asking">Asking the other nodes…</p>}
      {data && alarms.data && (
        <Sheet
          {...{ told: data, below: below.data, alarms: alarms.data, zone, now }}
          me={`person:${session.user}`}
          span={spans.find(([key]) => key === from)?.[1] ?? ""}
        >
          <NewNote api={api} onDone={() => setChanges((n) => n + 1)} />
        </Sheet>
      )}
    </div>
  );
}

interface SheetProps {
  told: Told;
  /** Undefined while the other nodes are asked. */
  below: Below | undefined;
  alarms: Alarms;
  zone: string;
  now: number;
  me: string;
  /** The time that it is about, in words. */
  span: string;
  /** Where a note is written. */
  children: ComponentChildren;
}

/** All that is known, as it is printed. */
function Sheet({ told, below, alarms, zone, now, me, span, children }: SheetProps) {
  const { events, missing, next } = told.timeline;
  const parted = partAlarms(alarms.alarms);
  const untold = allUntold(missing, alarms.nodes ?? [], below?.untold ?? []);
  const left = together(told, below);
  return (
    <>
      <p class="handover-sentence" role="status" aria-label="In short">
        <span class="handover-span">{span}:</span>{" "}
        <strong>{sentence(parted, events, next === "", untold)}</strong>
      </p>
      <UntoldLines list={untold} />
      <AlarmPart title="Open alarms" list={parted.open} most={most.open} zone={zone} />
      <Happened events={matters(events)} most={mostHappened(untold)} zone={zone} />
      <Overrides list={left.overrides} byHand={left.byHand} me={me} now={now} />
      <AlarmPart title="Shelved alarms" list={parted.shelved} most={most.held} zone={zone} />
      <AlarmPart title="Out of service" list={parted.off} most={most.set} zone={zone} />
      <Notes list={left.notes} zone={zone}>
        {children}
      </Notes>
      <p class="handover-signed">Handed over: ________________ Taken over: ________________</p>
    </>
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
  const [timeline, held, byHand, noted] = await Promise.all([
    api.get<Timeline>("timeline", { from, limit: 500, nodes: "true" }),
    api.get<ControlOverrides>("control/overrides").catch(orNone({ overrides: [] })),
    ownByHand(api).catch(orNone([])),
    api
      .get<{ annotations: NotedAnnotation[] }>("annotations", { from })
      .catch(orNone({ annotations: [] })),
  ]);
  return {
    timeline,
    overrides: held.overrides.map((holder) => ({ node: "", holder })),
    byHand,
    notes: noted.annotations.map((note) => ({ node: "", note })),
  };
}

/** Points that people hold at this node, with their units unless there are too many commands to ask for the points. */
async function ownByHand(api: Api): Promise<HeldByHand[]> {
  const { points, next } = await api.get<ControlPoints>("control/points", {
    ...{ busy: "true", limit: 1000 },
  });
  if (next === "") return heldByHand(points);
  const { commands } = await api.get<ControlSlots>("control/held");
  return heldAt("", commands);
}
