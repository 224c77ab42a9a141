import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { DashboardBinding, DashboardTile, DrawingElement } from "../generated/api";
import { Icon } from "../shell/icons";
import { usePoll } from "../use-poll";
import { getDrawing, listDrawings, putDrawing } from "./calls";
import { nameFor } from "./draft";
import { useFound } from "./tile-form";

interface Props {
  api: Api;
  tile: DashboardTile;
  set(more: Partial<DashboardTile>): void;
}

const calm = 30_000;

/** Which drawing a tile shows, a way to upload one, and which of its elements show which points. */
export function DrawingFields({ api, tile, set }: Props) {
  const [uploads, setUploads] = useState(0);
  const ask = useCallback(() => listDrawings(api), [api]);
  const { data, problem } = usePoll(ask, calm, uploads);
  const act = useAct();
  const upload = async (file: File) => {
    const name = nameFor(file.name.replace(/\.svg$/i, ""));
    const done = await act.perform(async () => putDrawing(api, name, await file.text()));
    if (!done) return;
    setUploads((n) => n + 1);
    set({ drawing: name });
  };
  return (
    <>
      <label>
        Drawing
        <select
          value={tile.drawing ?? ""}
          onChange={(e) => set({ drawing: e.currentTarget.value })}
        >
          <option value="">{tile.kind === "map" ? "none, a plain grid" : "choose…"}</option>
          {data?.drawings.map((d) => (
            <option key={d.name}>{d.name}</option>
          ))}
        </select>
      </label>
      <label>
        Upload a drawing in SVG
        <input
          type="file"
          accept=".svg,image/svg+xml"
          disabled={act.busy}
          onChange={(e) => {
            const file = e.currentTarget.files?.[0];
            if (file) void upload(file);
          }}
        />
      </label>
      {(act.problem || problem) && (
        <p role="alert" class="problem">
          {plain(act.problem || problem)}
        </p>
      )}
      {tile.kind === "picture" && tile.drawing && (
        <Bindings key={`${tile.drawing} ${uploads}`} {...{ api, tile, set }} name={tile.drawing} />
      )}
    </>
  );
}

/** Which elements of a drawing show which points. */
function Bindings({ api, tile, set, name }: Props & { name: string }) {
  const ask = useCallback(() => getDrawing(api, name), [api, name]);
  const { data } = usePoll(ask, calm, 0);
  const list = tile.bindings ?? [];
  const put = (bindings: DashboardBinding[]) => set({ bindings });
  return (
    <fieldset class="point-picker">
      <legend>Live values</legend>
      {data?.elements.length === 0 && (
        <p class="quiet">
          No element of the drawing has an identifier. Give one to a text or a shape in the program
          that you draw with, and upload it again.
        </p>
      )}
      <ul class="picked" aria-label="Bound elements">
        {list.map((b, i) => (
          <li key={`${b.element} ${i}`}>
            <span>
              {plain(b.element)} shows {plain(b.point)} as {b.show === "fill" ? "colour" : "text"}
            </span>
            <button
              type="button"
              class="icon-button"
              aria-label={`Leave out ${b.element}`}
              onClick={() => put(list.filter((_, k) => k !== i))}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {data && data.elements.length > 0 && (
        <NewBinding api={api} elements={data.elements} onBinding={(b) => put([...list, b])} />
      )}
    </fieldset>
  );
}

interface NewProps {
  api: Api;
  elements: readonly DrawingElement[];
  onBinding(b: DashboardBinding): void;
}

function NewBinding({ api, elements, onBinding }: NewProps) {
  const [element, setElement] = useState(elements[0]?.id ?? "");
  const kind = elements.find((e) => e.id === element)?.kind ?? "";
  const isText = kind === "text" || kind === "tspan";
  const [search, setSearch] = useState("");
  const found = useFound(api, search);
  return (
    <>
      <label>
        Element
        <select value={element} onChange={(e) => setElement(e.currentTarget.value)}>
          {elements.map((e) => (
            <option key={e.id} value={e.id}>
              {plain(`${e.id} (${e.kind}${e.text ? `: ${e.text}` : ""})`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Point that it shows
        <input
          type="search"
          placeholder="name, description or unit"
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
        />
      </label>
      <ul class="found-points" aria-label="Points to bind">
        {found.points.slice(0, 6).map((p) => (
          <li key={p.path}>
            <button
              type="button"
              onClick={() => onBinding({ element, point: p.path, show: isText ? "text" : "fill" })}
            >
              <strong>{plain(p.description || p.path)}</strong>
              <span class="quiet">{plain(p.path)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
