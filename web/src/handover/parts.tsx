// The parts of a hand-over.

import type { ComponentChildren } from "preact";
import { stateWords } from "../alarm/words";
import { slotWords, untilWords, whoWords } from "../control/words";
import { plain, plural } from "../format";
import type { Alarm, TimelineEvent } from "../generated/api";
import { coded, word } from "../language/codes";
import { reasonOf } from "../language/said";
import { whenWords } from "../schedule/words";
import { type Left, most, type Part as Named, type Untold } from "./sum";

interface PartProps {
  title: string;
  count: number;
  most: number;
  /** Where the others are. */
  more: string;
  /** The nodes of those others that are not there: this screen alone has them. */
  elsewhere?: readonly string[];
  children: ComponentChildren;
  foot?: ComponentChildren;
}

function Part({ title, count, most, more, elsewhere = [], children, foot }: PartProps) {
  const there = count - most - elsewhere.length;
  return (
    <section class="card panel handover-part" aria-label={title}>
      <h2>
        {title} <span class="quiet">{count}</span>
      </h2>
      {count === 0 ? <p class="quiet handover-none">None</p> : <ul>{children}</ul>}
      {count > most && (
        <p class="quiet">
          {there > 0 && <a href={more}>and {there} more</a>}{" "}
          {elsewhere.length > 0 && (
            <span>
              and {elsewhere.length} more at {namesOf(elsewhere)}
            </span>
          )}
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

export function AlarmPart({ title, list, most, zone }: AlarmPartProps) {
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

interface HappenedProps {
  events: readonly TimelineEvent[];
  most: number;
  zone: string;
}

export function Happened({ events, most, zone }: HappenedProps) {
  return (
    <Part title="What happened" count={events.length} most={most} more="/timeline">
      {events.slice(0, most).map((e) => (
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
  list: Left["overrides"];
  byHand: Left["byHand"];
  me: string;
  now: number;
}

/** Overrides, and points that people hold at a value. */
export function Overrides({ list, byHand, me, now }: OverridesProps) {
  // Who has this name at another node is somebody else
  const meAt = (node: string) => (node === "" ? me : "");
  const lines = [
    ...list.map(({ node, holder: o }) => ({
      ...{ node, path: o.path ?? "", reason: o.reason },
      words: `${whoWords(o.requester, meAt(node))}, ${untilWords(o.until, now)}`,
    })),
    ...byHand.map(({ node, path, unit, slot }) => ({
      ...{ node, path, reason: slot.reason },
      words: slotWords(slot, unit, meAt(node), now),
    })),
  ];
  return (
    <Part
      {...{ title: "Overrides in force", count: lines.length, most: most.overrides }}
      more="/control"
      elsewhere={otherNodes(lines.slice(most.overrides))}
    >
      {lines.slice(0, most.overrides).map((line) => (
        <li key={`${line.node} ${line.path} ${line.words}`} class="is-warn">
          <span class="handover-text">
            {line.node && <>{plain(line.node)}: </>}
            <strong>{plain(line.path)}</strong> {line.words}
            {line.reason && `: ${plain(line.reason)}`}
          </span>
        </li>
      ))}
    </Part>
  );
}

interface NotesProps {
  list: Left["notes"];
  zone: string;
  children: ComponentChildren;
}

export function Notes({ list, zone, children }: NotesProps) {
  return (
    <Part
      {...{ title: "Notes", count: list.length, most: most.notes, foot: children }}
      more="/explore"
      elsewhere={otherNodes(list.slice(most.notes))}
    >
      {list.slice(0, most.notes).map(({ node, note: n }) => (
        <li key={`${node} ${n.id}`} class="is-info">
          <time dateTime={n.from}>{whenWords(n.from, zone)}</time>
          <span class="handover-text">
            {node && <strong>{plain(node)}: </strong>}
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

/** What other nodes do not tell. */
export function UntoldLines({ list }: { list: readonly Untold[] }) {
  const rest = list.slice(most.untold).map((u) => u.node);
  return (
    <>
      {list.slice(0, most.untold).map((u) => (
        <p key={u.node} class="problem handover-untold">
          {untoldWords(u)}
        </p>
      ))}
      {rest.length > 0 && (
        <p class="problem handover-untold">
          Also not told, or only in part: {namesOf(rest, rest.length)}
        </p>
      )}
    </>
  );
}

const partWords: Record<Named, string> = {
  alarms: word("alarms"),
  happened: "what happened",
  overrides: word("overrides"),
  held: "points held by hand",
  notes: word("notes"),
};

function untoldWords({ node, parts, reasons }: Untold): string {
  const name = plain(node);
  const why = reasons.map(reasonOf).join("; ");
  if (parts.length === 0) return `${name} is not told: ${why}`;
  return `Not told of ${name}: ${parts.map((part) => partWords[part]).join(", ")} (${why})`;
}

const otherNodes = (lines: readonly { node: string }[]) =>
  lines.map((line) => line.node).filter((node) => node !== "");

/** Names of nodes, each once, so many at most. */
function namesOf(nodes: readonly string[], most = 3): string {
  const names = [...new Set(nodes)];
  return `${names.slice(0, most).map(plain).join(", ")}${names.length > most ? " …" : ""}`;
}
