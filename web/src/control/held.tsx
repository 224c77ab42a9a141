import { useState } from "preact/hooks";
import type { Api } from "../api";
import { count, plain } from "../format";
import type { ControlPoint, ControlSlot } from "../generated/api";
import { PointName } from "../point-name";
import { go, type Place, pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import { AskRelease } from "./ask-release";
import type { Holdings } from "./calls";
import { choices, type HeldRow, hasWords, heldRows } from "./held-rows";
import { levelWords } from "./levels";
import { commandedValue, untilWords, whoWords, withUnit } from "./words";

interface Props {
  api: Api;
  place: Place;
  holdings: Holdings;
  me: string;
  role: string;
  now: number;
  onDone(): void;
}

const mostRows = 500;

/** The points that somebody commands or that go back, those that need somebody first. */
export function HeldTable({ api, place, holdings, me, role, now, onDone }: Props) {
  const [ending, setEnding] = useState<{ point: ControlPoint; slot: ControlSlot }>();
  const choice = new URLSearchParams(place.search).get("show") ?? "";
  const [search, setSearch] = useState("");
  const rows = heldRows(holdings.points, choice, me, now).filter((row) => hasWords(row, search));
  return (
    <section class="card panel" aria-labelledby="held-title">
      <div class="panel-head">
        <h2 id="held-title">Commanded points</h2>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <div role="group" aria-label="Which points" class="joined">
          {choices.map(({ key, label }) => (
            <button
              key={key}
              type="button"
              aria-pressed={choice === key}
              onClick={() => go(key ? `/control?show=${key}` : "/control", "replace")}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
      {holdings.points.length > 0 && (
        <input
          type="search"
          class="held-search"
          aria-label="Search held points"
          placeholder="Words of a point, a name or a reason"
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
        />
      )}
      {rows.length === 0 && (
        <p class="quiet">
          {search.trim() ? "No held point has all these words." : emptyWords(choice)}
        </p>
      )}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section class="scroll-x" tabIndex={0} aria-label="List of commanded points">
          <table class="data-table held-table">
            <thead>
              <tr>
                <th scope="col">Point</th>
                <th scope="col">Set to</th>
                <th scope="col">By, until, why</th>
                <th scope="col">Status</th>
                <th scope="col">
                  <span class="unseen">Release</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, mostRows).map((row) => (
                <Row
                  key={row.point.point}
                  {...{ row, me, role, now }}
                  onEnd={(slot) => setEnding({ point: row.point, slot })}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {(rows.length > mostRows || holdings.isCut) && (
        <p class="quiet">
          {count(Math.min(rows.length, mostRows))} are shown; there are more. voltbus who lists
          them.
        </p>
      )}
      {ending && (
        <AskRelease {...{ api, me, onDone, ...ending }} onClose={() => setEnding(undefined)} />
      )}
    </section>
  );
}

function emptyWords(choice: string): string {
  if (choice === "mine") return "You command no point.";
  return choice === "trouble"
    ? "Every point does what it was told."
    : "Nobody commands a point. Open a point of a device to set it.";
}

interface RowProps {
  row: HeldRow;
  me: string;
  role: string;
  now: number;
  onEnd(slot: ControlSlot): void;
}

function Row({ row: { point, doing }, me, role, now, onEnd }: RowProps) {
  const [winner] = point.array;
  const own = point.array.find((s) => s.requester === me);
  const ends = own ?? (includes(role, "engineer") ? winner : undefined);
  const behind = point.array.length - 1;
  return (
    <tr>
      <th scope="row">
        <a href={pointAddress(point.point)}>
          <PointName path={point.point} description={point.description} stacked />
        </a>
      </th>
      <td>{withUnit(commandedValue(point), point.unit)}</td>
      <td>
        {winner ? (
          <>
            {whoWords(winner.requester, me)} at level {levelWords(winner.level ?? 0)},{" "}
            {untilWords(winner.until, now)}
            {behind > 0 && <span class="quiet"> · {count(behind)} behind</span>}
            {winner.reason && <span class="slot-reason quiet">{plain(winner.reason)}</span>}
          </>
        ) : (
          "nobody"
        )}
      </td>
      <td class={`held-doing is-${doing.level}`} title={doing.words}>
        <span class="dot" aria-hidden="true" /> {doing.word}
      </td>
      <td>
        {ends && includes(role, "operator") && (
          <button
            type="button"
            aria-label={`Release level ${ends.level} of ${plain(point.point)}`}
            onClick={() => onEnd(ends)}
          >
            Release
          </button>
        )}
      </td>
    </tr>
  );
}
