import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { Alarms, Dashboard, DashboardTile, KeptDashboard } from "../generated/api";
import { useGuard } from "../shell/guard";
import { go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { type Source, useSource } from "./board-values";
import { boardAddress, deleteDashboard, putDashboard, type Which } from "./calls";
import { lackIn, nameFor, newTile } from "./draft";
import { EditBoard } from "./edit-board";
import { placed, readingOrder, withoutGaps } from "./grid";
import { TileForm } from "./tile-form";
import { kindWords } from "./words";

interface Props extends ScreenProps {
  /** The dashboard that is changed; undefined for a new one. */
  was: KeptDashboard | undefined;
  /** What it begins with. */
  start: Dashboard;
}

const most = 50;

/** A draft with the steps that led to it. */
function useDraft(start: Dashboard) {
  const [draft, setDraft] = useState(start);
  const [past, setPast] = useState<readonly Dashboard[]>([]);
  const change = (next: Dashboard) => {
    setPast([...past, draft].slice(-most));
    setDraft(next);
  };
  const undo = () => {
    const last = past.at(-1);
    setPast(past.slice(0, -1));
    if (last) setDraft(last);
  };
  return { draft, change, undo, steps: past.length };
}

/** Tiles in the order in which they are read, which is that of the document. */
const inOrder = (tiles: readonly DashboardTile[]) =>
  readingOrder(tiles).flatMap((i) => tiles[i] ?? []);

/** Writes a draft; one that changes between all and its owner moves to the other place. */
async function keep(api: Api, draft: Dashboard, was: KeptDashboard | undefined): Promise<Which> {
  const sharing = draft.sharing ?? "all";
  const old = was?.dashboard;
  const name = old?.name ?? (draft.name || nameFor(draft.title ?? ""));
  const moves = old !== undefined && old.sharing !== sharing;
  await putDashboard(api, { ...draft, name, sharing }, was && !moves ? was.version : 0);
  if (moves) await deleteDashboard(api, { name, sharing: old.sharing ?? "all" });
  return { name, sharing };
}

/** A dashboard that is arranged. Nothing is kept before somebody saves it. */
export function Editor({ api, session, epoch, alarms, was, start }: Props) {
  const isOperator = includes(session.role, "operator");
  const sharing = isOperator ? (start.sharing ?? "all") : "owner";
  const { draft, change, undo, steps } = useDraft({
    ...start,
    sharing,
    tiles: inOrder(start.tiles),
  });
  const [chosen, choose] = useState(-1);
  const [saved, setSaved] = useState<Which>();
  const act = useAct();
  useGuard(steps > 0 && !saved, "The dashboard is not saved. Leave it?");
  useEffect(() => {
    if (saved) go(boardAddress(saved), "replace");
  }, [saved]);
  const source = useSource(api, draft.tiles, epoch);
  const setTiles = (tiles: DashboardTile[]) => change({ ...draft, tiles });
  const save = () => act.perform(async () => setSaved(await keep(api, draft, was)));
  const pick = (next: () => void) => {
    choose(-1);
    next();
  };
  return (
    <div class="screen board-screen">
      <EditorHead
        {...{ was, steps, lack: lackIn(draft), busy: act.busy }}
        onUndo={() => pick(undo)}
        onTidy={() => setTiles(withoutGaps(draft.tiles))}
        onSave={() => void save()}
      />
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      <Facts draft={draft} isNew={!was} isOperator={isOperator} onChange={change} />
      <AddTile
        onAdd={(kind) => {
          setTiles([...draft.tiles, newTile(draft.tiles, kind)]);
          choose(draft.tiles.length);
        }}
      />
      <Work
        {...{ api, source, chosen, choose, setTiles }}
        tiles={draft.tiles}
        alarms={alarms.data}
      />
    </div>
  );
}

interface WorkProps {
  api: Api;
  source: Source;
  tiles: readonly DashboardTile[];
  alarms: Alarms | undefined;
  chosen: number;
  choose(index: number): void;
  setTiles(tiles: DashboardTile[]): void;
}

/** The tiles, and beside them the form of one. */
function Work({ api, source, tiles, alarms, chosen, choose, setTiles }: WorkProps) {
  const tile = tiles[chosen];
  const remove = (i: number) => {
    choose(-1);
    setTiles(tiles.filter((_, k) => k !== i));
  };
  return (
    <div class={`board-work${tile ? " has-form" : ""}`}>
      <div>
        <EditBoard
          {...{ tiles, source, alarms, chosen }}
          onTiles={setTiles}
          onChoose={choose}
          onRemove={remove}
        />
      </div>
      {tile && (
        <TileForm
          key={chosen}
          api={api}
          index={chosen}
          tile={tile}
          onChange={(t) => setTiles(tiles.map((o, k) => (k === chosen ? t : o)))}
          onPlace={(t) => setTiles(placed(tiles, chosen, t))}
          onClose={() => choose(-1)}
        />
      )}
    </div>
  );
}

interface HeadProps {
  was: KeptDashboard | undefined;
  steps: number;
  lack: string;
  busy: boolean;
  onUndo(): void;
  onTidy(): void;
  onSave(): void;
}

function EditorHead({ was, steps, lack, busy, onUndo, onTidy, onSave }: HeadProps) {
  const old = was?.dashboard;
  const back = old
    ? boardAddress({ name: old.name, sharing: old.sharing ?? "all" })
    : "/dashboards";
  return (
    <header class="board-head">
      <h1>{old ? `Arrange ${plain(old.title || old.name)}` : "New dashboard"}</h1>
      <p class="actions">
        {lack && <span class="quiet">{lack}</span>}
        <button type="button" disabled={steps === 0} onClick={onUndo}>
          Undo
        </button>
        <button type="button" onClick={onTidy}>
          Close gaps
        </button>
        <a class="button" href={back}>
          Cancel
        </a>
        <button type="button" class="primary" disabled={busy || lack !== ""} onClick={onSave}>
          Save
        </button>
      </p>
    </header>
  );
}

interface FactsProps {
  draft: Dashboard;
  isNew: boolean;
  isOperator: boolean;
  onChange(next: Dashboard): void;
}

/** How a dashboard is called, and who sees it. */
function Facts({ draft, isNew, isOperator, onChange }: FactsProps) {
  return (
    <form
      class="card panel board-facts"
      aria-label="About the dashboard"
      onSubmit={(e) => e.preventDefault()}
    >
      <label>
        Title
        <input
          type="text"
          maxLength={128}
          value={draft.title ?? ""}
          onInput={(e) => onChange({ ...draft, title: e.currentTarget.value })}
        />
      </label>
      <label>
        Name in its address
        <input
          type="text"
          maxLength={64}
          disabled={!isNew}
          placeholder={nameFor(draft.title ?? "")}
          value={draft.name}
          onInput={(e) => onChange({ ...draft, name: e.currentTarget.value })}
        />
      </label>
      <label>
        Who sees it
        <select
          value={draft.sharing ?? "all"}
          disabled={!isOperator}
          onChange={(e) =>
            onChange({ ...draft, sharing: e.currentTarget.value === "owner" ? "owner" : "all" })
          }
        >
          <option value="all">All who may read its points</option>
          <option value="owner">You only</option>
        </select>
      </label>
    </form>
  );
}

const kinds = Object.keys(kindWords) as DashboardTile["kind"][];

/** A button for each kind of tile. */
function AddTile({ onAdd }: { onAdd(kind: DashboardTile["kind"]): void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label="Add a tile" class="add-tile">
      <span class="quiet">Add</span>
      {kinds.map((kind) => (
        <button key={kind} type="button" title={kindWords[kind].hint} onClick={() => onAdd(kind)}>
          {kindWords[kind].name}
        </button>
      ))}
    </div>
  );
}
