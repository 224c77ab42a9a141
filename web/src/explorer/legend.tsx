import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { commandsOf, shadowWords } from "../control/shadow";
import { plain, unit, value } from "../format";
import { knownWords } from "../last-known";
import { nameOf, parentOf } from "../path";
import { inkStyle } from "../plot-axes";
import { extent } from "../plot-paths";
import { type Curve, valueAt } from "../series";
import type { Span } from "../span";
import { letterOf } from "./computed";
import type { HistorySource } from "./use-history";
import type { Shown } from "./use-shown";

interface Props {
  points: readonly string[];
  /** Those that the node does not know. */
  unknown: readonly string[];
  shown: Shown;
  window: Span;
  /** The time under the pointer. */
  cursor: number | undefined;
  source: HistorySource;
  onAdd(path: string): void;
  onRemove(path: string): void;
  onClear(): void;
}

/** What each colour is, with its value under the pointer or else the newest, and its extremes on screen. */
export function Legend(props: Props) {
  const { points, unknown, shown, window, cursor, source, onAdd, onRemove, onClear } = props;
  const own = useMemo(() => byPoint(shown.loaded, false), [shown.loaded]);
  const ghosts = useMemo(() => byPoint(shown.loaded, true), [shown.loaded]);
  if (points.length === 0) return null;
  const differences = useMemo(() => byPoint(shown.differences, false), [shown.differences]);
  const at = (curve: Curve | undefined) =>
    curve && cursor !== undefined ? shownValue(curve, valueAt(curve, cursor)) : undefined;
  return (
    <section class="card explore-legend" aria-labelledby="legend-title">
      <div class="legend-head">
        <h2 id="legend-title">Shown points</h2>
        <button type="button" class="quiet" onClick={onClear}>
          Remove all
        </button>
      </div>
      <table class="legend-table">
        <thead>
          <tr>
            <th scope="col">Point</th>
            <th scope="col" class="number">
              {cursor === undefined ? "Newest" : "At pointer"}
            </th>
            <th scope="col">
              <span class="unseen">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map((path, i) => {
            const curve = own.get(path);
            const point = source.catalogue.get(path);
            const [low, high] =
              curve && !curve.isWaiting ? (extent(curve, window[0], window[1]) ?? []) : [];
            const newest = newestOf(source, path);
            const now = cursor === undefined ? newest.shown : at(curve);
            return (
              <Row
                key={path}
                path={path}
                ink={i}
                letter={letterOf(i)}
                description={point?.description ?? ""}
                unit={unit(point?.unit ?? curve?.unit ?? "")}
                now={unknown.includes(path) ? "unknown" : (now ?? "–")}
                old={cursor === undefined ? newest.old : ""}
                then={at(ghosts.get(path)) ?? ""}
                difference={at(differences.get(path)) ?? ""}
                extremes={
                  curve && low !== undefined && high !== undefined
                    ? `${shownValue(curve, low)} to ${shownValue(curve, high)}`
                    : ""
                }
                commands={commandsBeside(path, points, source)}
                onAdd={onAdd}
                onRemove={onRemove}
              />
            );
          })}
        </tbody>
      </table>
      {unknown.length > 0 && (
        <p class="problem">The node has no point of the names that are marked unknown.</p>
      )}
    </section>
  );
}

/** The value that a point has now, or the last that is known of it; and then why, and of when it is. */
function newestOf({ live, catalogue }: HistorySource, path: string) {
  const last = live.get(path);
  const known = live.lastKnown(path);
  const of = catalogue.get(path)?.unit;
  if (!known) return { shown: value(last?.value, of), old: "" };
  return { shown: value(known.value, of), old: knownWords(last?.quality ?? "", known) };
}

/** The point that has the commands of another, if there is one that is not shown yet; else "". */
function commandsBeside(path: string, shown: readonly string[], source: HistorySource): string {
  const commands = commandsOf(path);
  return source.catalogue.has(commands) && !shown.includes(commands) ? commands : "";
}

const byPoint = (curves: readonly Curve[], ghost: boolean) =>
  new Map(curves.filter((c) => (c.ghost ?? false) === ghost).map((c) => [c.point, c]));

const shownValue = (curve: Curve, n: number | null | undefined): string =>
  value(curve.kind === "bool" && typeof n === "number" ? n !== 0 : (n ?? null), curve.unit);

interface RowProps {
  path: string;
  ink: number;
  /** What formulas call it. */
  letter: string;
  description: string;
  unit: string;
  now: string;
  /** Why that is not the value of now, and when it was; "" if it is. */
  old: string;
  /** The value of what it is compared with, "" for none. */
  then: string;
  /** How far it is from that. */
  difference: string;
  /** The least and the greatest value on screen. */
  extremes: string;
  /** The point with its commands, "" for none. */
  commands: string;
  onAdd(path: string): void;
  onRemove(path: string): void;
}

const Row = memo(function Row(p: RowProps) {
  return (
    <tr>
      <th scope="row" title={[p.path, p.description].filter(Boolean).join("\n")}>
        <span class="legend-name">
          <span class="swatch" style={{ "--ink": inkStyle(p.ink) }} aria-hidden="true" />
          <span class="letter" title="Formulas call it so">
            {p.letter}
          </span>
          <span class="name">
            <span class="quiet">{plain(placeOf(p.path))}</span>
            {plain(nameOf(p.path))}
          </span>
        </span>
        {p.extremes && <span class="extremes">{p.extremes}</span>}
        {p.commands && (
          <button
            type="button"
            class="beside"
            aria-label={`Show the commands of ${p.path}`}
            onClick={() => p.onAdd(p.commands)}
          >
            + what it was commanded
          </button>
        )}
      </th>
      <td class="number">
        <strong class={p.old ? "is-old" : ""}>{p.now}</strong> <span class="unit">{p.unit}</span>
        {p.old && <span class="then">{p.old}</span>}
        {p.then && <span class="then">then {p.then}</span>}
        {p.difference && <span class="then">difference {p.difference}</span>}
      </td>
      <td>
        <button
          type="button"
          class="remove"
          aria-label={`Remove ${p.path}`}
          onClick={() => p.onRemove(p.path)}
        >
          ×
        </button>
      </td>
    </tr>
  );
});

/** The last segment before the name, to tell apart points of one name. */
const placeOf = (path: string) =>
  `${shadowWords(path)}${parentOf(path) ? `${nameOf(parentOf(path))}/` : ""}`;
