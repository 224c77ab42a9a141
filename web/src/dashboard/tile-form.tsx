import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Api, PointPage } from "../api";
import { plain, unit } from "../format";
import type { DashboardTile, Point } from "../generated/api";
import { Icon } from "../shell/icons";
import { wordsOf } from "../use-poll";
import { lackOf, readSites, sitesText } from "./draft";
import { DrawingFields } from "./drawing-form";
import { columns } from "./grid";
import { kindWords } from "./words";

interface Props {
  api: Api;
  index: number;
  tile: DashboardTile;
  onChange(tile: DashboardTile): void;
  /** Puts the tile elsewhere. */
  onPlace(tile: DashboardTile): void;
  onClose(): void;
}

/** Everything about a tile. What is changed is seen at once. */
export function TileForm({ api, index, tile, onChange, onPlace, onClose }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), [index]);
  const lack = lackOf(tile);
  const set = (more: Partial<DashboardTile>) => onChange({ ...tile, ...more });
  const hasPoints = ["value", "trend", "gauge", "bar", "state", "table"].includes(tile.kind);
  return (
    <form
      class="card panel tile-form"
      aria-label={`Tile ${index + 1}`}
      onSubmit={(e) => {
        e.preventDefault();
        onClose();
      }}
    >
      <h2>
        Tile {index + 1}: {kindWords[tile.kind].name}
      </h2>
      <p class="quiet">{kindWords[tile.kind].hint}.</p>
      <label>
        Title
        <input
          ref={first}
          type="text"
          maxLength={128}
          placeholder="of its point"
          value={tile.title ?? ""}
          onInput={(e) => set({ title: e.currentTarget.value })}
        />
      </label>
      {hasPoints && <PointPicker api={api} tile={tile} onPoints={(points) => set({ points })} />}
      <Options tile={tile} set={set} />
      {(tile.kind === "picture" || tile.kind === "map") && (
        <DrawingFields api={api} tile={tile} set={set} />
      )}
      <Place tile={tile} onPlace={onPlace} />
      {lack && <p class="doubt">{lack}.</p>}
      <p class="actions">
        <button type="submit" class="primary">
          Done
        </button>
      </p>
    </form>
  );
}

const trendRanges = ["15m", "1h", "1d", "7d", "30d"] as const;

function Options({ tile, set }: { tile: DashboardTile; set(more: Partial<DashboardTile>): void }) {
  const limits: readonly ("min" | "max" | "low" | "high")[] =
    tile.kind === "gauge" || tile.kind === "bar"
      ? ["min", "max", "low", "high"]
      : tile.kind === "value" || tile.kind === "table"
        ? ["low", "high"]
        : [];
  const names = { min: "Scale from", max: "Scale to", low: "Mark below", high: "Mark above" };
  return (
    <>
      {tile.kind === "trend" && (
        <label>
          Range
          <select
            value={tile.range ?? "1d"}
            onChange={(e) => set({ range: e.currentTarget.value as (typeof trendRanges)[number] })}
          >
            {trendRanges.map((r) => (
              <option key={r}>{r}</option>
            ))}
          </select>
        </label>
      )}
      {limits.length > 0 && (
        <div class="pairs">
          {limits.map((key) => (
            <NumberField
              key={key}
              name={names[key]}
              value={tile[key]}
              onValue={(n) => set({ [key]: n })}
            />
          ))}
        </div>
      )}
      {tile.kind === "text" && (
        <label>
          Text
          <textarea
            rows={5}
            maxLength={10_000}
            value={tile.text ?? ""}
            onInput={(e) => set({ text: e.currentTarget.value })}
          />
        </label>
      )}
      {tile.kind === "alarms" && (
        <label>
          Only below the branch
          <input
            type="text"
            placeholder="all points"
            value={tile.branch ?? ""}
            onInput={(e) => set({ branch: e.currentTarget.value })}
          />
        </label>
      )}
      {tile.kind === "map" && <SiteField tile={tile} set={set} />}
    </>
  );
}

function SiteField({
  tile,
  set,
}: {
  tile: DashboardTile;
  set(more: Partial<DashboardTile>): void;
}) {
  const [text, setText] = useState(sitesText(tile.sites));
  const { sites = [], problem } = readSites(text);
  return (
    <label>
      Sites, one in a line: name, latitude, longitude, branch
      <textarea
        rows={4}
        placeholder="Berlin, 52.52, 13.40, campus/berlin"
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          const read = readSites(e.currentTarget.value);
          if (!read.problem) set({ sites: read.sites ?? [] });
        }}
      />
      {problem && <span class="problem">{problem}</span>}
      {!problem && sites.length > 0 && <span class="quiet">{sites.length} on the map</span>}
    </label>
  );
}

interface NumberProps {
  name: string;
  value: number | undefined;
  onValue(n: number | undefined): void;
}

function NumberField({ name, value, onValue }: NumberProps) {
  return (
    <label>
      {name}
      <input
        type="number"
        step="any"
        value={value ?? ""}
        onInput={(e) => {
          const n = e.currentTarget.valueAsNumber;
          onValue(Number.isFinite(n) ? n : undefined);
        }}
      />
    </label>
  );
}

/** Column, row and size in numbers, for those who neither drag nor use arrow keys. */
function Place({ tile, onPlace }: { tile: DashboardTile; onPlace(tile: DashboardTile): void }) {
  const fields = [
    { name: "Column", key: "x", shift: 1, most: columns },
    { name: "Row", key: "y", shift: 1, most: 1001 },
    { name: "Width", key: "w", shift: 0, most: columns },
    { name: "Height", key: "h", shift: 0, most: 40 },
  ] as const;
  return (
    <div class="pairs is-four">
      {fields.map(({ name, key, shift, most }) => (
        <label key={key}>
          {name}
          <input
            type="number"
            min={1}
            max={most}
            value={tile[key] + shift}
            onChange={(e) => {
              const n = e.currentTarget.valueAsNumber;
              if (Number.isInteger(n)) onPlace({ ...tile, [key]: n - shift });
            }}
          />
        </label>
      ))}
    </div>
  );
}

interface PickerProps {
  api: Api;
  tile: DashboardTile;
  onPoints(points: string[]): void;
}

/** The points of a tile, and a search for more. */
export function PointPicker({ api, tile, onPoints }: PickerProps) {
  const [search, setSearch] = useState("");
  const found = useFound(api, search);
  const points = tile.points ?? [];
  const single = tile.kind === "value" || tile.kind === "gauge";
  const id = useId();
  const add = (path: string) => onPoints(single ? [path] : [...points, path]);
  return (
    <fieldset class="point-picker">
      <legend>{single ? "Point" : "Points"}</legend>
      <ul class="picked" aria-label="Chosen points">
        {points.map((p) => (
          <li key={p}>
            <span>{plain(p)}</span>
            <button
              type="button"
              class="icon-button"
              aria-label={`Leave out ${p}`}
              onClick={() => onPoints(points.filter((other) => other !== p))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <label for={id}>Find a point</label>
      <input
        id={id}
        type="search"
        placeholder="name, description or unit"
        value={search}
        onInput={(e) => setSearch(e.currentTarget.value)}
      />
      {found.problem && <p class="problem">{plain(found.problem)}</p>}
      <ul class="found-points" aria-label="Found points">
        {found.points
          .filter((p) => !points.includes(p.path))
          .map((p) => (
            <li key={p.path}>
              <button type="button" onClick={() => add(p.path)}>
                <strong>{plain(p.description || p.path)}</strong>
                <span class="quiet">
                  {plain(p.path)} {unit(p.unit)}
                </span>
              </button>
            </li>
          ))}
      </ul>
    </fieldset>
  );
}

/** Points that match a search, once somebody stops typing. */
export function useFound(api: Api, search: string) {
  const [found, setFound] = useState<{ points: readonly Point[]; problem: string }>({
    ...{ points: [], problem: "" },
  });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .get<PointPage>("points", { search, limit: 12 }, stop.signal)
        .then(({ points }) => setFound({ points: points as Point[], problem: "" }))
        .catch((err: Error) => {
          if (!stop.signal.aborted) setFound({ points: [], problem: wordsOf(err) });
        });
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, search]);
  return found;
}
