import type { Alarms, DashboardTile } from "../generated/api";
import type { Source } from "./board-values";
import { readingOrder } from "./grid";
import { TileContent, TileTitle } from "./tile";

interface Props {
  tiles: readonly DashboardTile[];
  source: Source;
  alarms: Alarms | undefined;
}

/** Where a tile stands on the grid of the page. */
export const placeOf = ({ x, y, w, h }: DashboardTile) => ({
  "--x": String(x + 1),
  "--y": String(y + 1),
  "--w": String(w),
  "--h": String(h),
});

/** Tiles as they are looked at. On a phone they stand below each other, in the order in which they are read. */
export function Board({ tiles, source, alarms }: Props) {
  return (
    <div class="board">
      {readingOrder(tiles).map((i) => {
        const tile = tiles[i];
        return (
          tile && (
            <section key={i} class={`card tile is-${tile.kind}-tile`} style={placeOf(tile)}>
              <TileTitle tile={tile} source={source} />
              <TileContent tile={tile} source={source} alarms={alarms} />
            </section>
          )
        );
      })}
    </div>
  );
}
