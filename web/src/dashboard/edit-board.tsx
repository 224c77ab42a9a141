import { useRef, useState } from "preact/hooks";
import type { Alarms, DashboardTile } from "../generated/api";
import { Icon } from "../shell/icons";
import { placeOf } from "./board";
import type { Source } from "./board-values";
import { type Box, boxWords, changeWords, dragged, keyed, placed, stuck } from "./grid";
import { TileContent, TileTitle } from "./tile";
import { kindWords } from "./words";

interface Props {
  tiles: readonly DashboardTile[];
  source: Source;
  alarms: Alarms | undefined;
  /** The tile whose form is open; -1 for none. */
  chosen: number;
  onTiles(tiles: DashboardTile[]): void;
  onChoose(index: number): void;
  onRemove(index: number): void;
}

/** What is dragged: a tile as it was, and from where. */
interface Drag {
  index: number;
  before: readonly DashboardTile[];
  resizes: boolean;
  from: { x: number; y: number };
}

/** What arranges tiles: a pointer or keys, and what is said of it. */
function useArranging({ tiles, onTiles, onChoose, onRemove }: Props) {
  const board = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | null>(null);
  const [said, say] = useState("");
  const put = (before: readonly DashboardTile[], index: number, to: Box) => {
    const from = before[index];
    if (!from) return;
    const after = placed(before, index, to);
    onTiles(after);
    say(changeWords(from, after[index] ?? from));
  };
  const begin = (index: number, resizes: boolean) => (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const from = { x: event.clientX, y: event.clientY };
    drag.current = { index, resizes, before: tiles, from };
  };
  const move = (event: PointerEvent) => {
    const d = drag.current;
    const box = d?.before[d.index];
    if (!d || !box || !board.current) return;
    const by = { x: event.clientX - d.from.x, y: event.clientY - d.from.y };
    const to = dragged(box, by, cellOf(board.current), d.resizes);
    const at = tiles[d.index];
    if (at && changeWords(at, to) !== stuck) put(d.before, d.index, to);
  };
  const end = () => {
    drag.current = null;
  };
  const press = (index: number) => (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const tile = tiles[index];
    const to = tile && keyed(tile, event.key, event.shiftKey);
    if (to) put(tiles, index, to);
    else if (event.key === "Enter") onChoose(index);
    else if (event.key === "Delete") onRemove(index);
    else return;
    event.preventDefault();
  };
  const pointer = { onPointerMove: move, onPointerUp: end, onPointerCancel: end };
  return { board, said, begin, press, pointer };
}

/** Tiles that are arranged: by dragging, or by arrow keys on the tile that has the focus. */
export function EditBoard(props: Props) {
  const { tiles } = props;
  const arranging = useArranging(props);
  return (
    <>
      <p id="board-help" class="quiet board-help">
        Drag a tile by its head, and its corner to resize it. By keyboard: Tab to a tile, then arrow
        keys to move, Shift and arrow keys to resize, Enter to change, Delete to remove.
      </p>
      <p class="unseen" role="status" aria-label="Arrangement">
        {arranging.said}
      </p>
      <div ref={arranging.board} class="board is-edited">
        {tiles.map((tile, index) => (
          // In a steady order, since an element that moves in the document loses the focus
          <EditTile key={index} {...props} {...{ arranging, tile, index }} />
        ))}
      </div>
    </>
  );
}

interface TileProps extends Props {
  arranging: ReturnType<typeof useArranging>;
  tile: DashboardTile;
  index: number;
}

function EditTile({ tile, index, arranging, ...props }: TileProps) {
  const { begin, press, pointer } = arranging;
  const { source, alarms, chosen, onChoose, onRemove } = props;
  const n = index + 1;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move it
      tabIndex={0}
      class={`card tile is-${tile.kind}-tile${index === chosen ? " is-chosen" : ""}`}
      style={placeOf(tile)}
      aria-label={`Tile ${n}, ${kindWords[tile.kind].name}: ${boxWords(tile)}`}
      aria-describedby="board-help"
      onKeyDown={press(index)}
    >
      <div class="tile-head" onPointerDown={begin(index, false)} {...pointer}>
        <TileTitle tile={tile} source={source} />
      </div>
      <div class="tile-tools">
        <button type="button" aria-label={`Change tile ${n}`} onClick={() => onChoose(index)}>
          <Icon name="settings" />
        </button>
        <button type="button" aria-label={`Remove tile ${n}`} onClick={() => onRemove(index)}>
          <Icon name="close" />
        </button>
      </div>
      <div class="tile-body" inert>
        <TileContent tile={tile} source={source} alarms={alarms} />
      </div>
      <div class="tile-corner" aria-hidden="true" onPointerDown={begin(index, true)} {...pointer} />
    </div>
  );
}

/** The size of a cell with its gap, in pixels. */
function cellOf(board: HTMLElement): { width: number; height: number } {
  const style = getComputedStyle(board);
  const gap = Number.parseFloat(style.columnGap) || 0;
  const row = Number.parseFloat(style.gridAutoRows) || 64;
  return { width: (board.clientWidth + gap) / 12, height: row + gap };
}
