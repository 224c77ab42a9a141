import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { levelOf as alarmLevel, worst } from "../alarm/words";
import { plain } from "../format";
import type { Alarms, DashboardTile } from "../generated/api";
import type { Level } from "../health";
import { branchAddress } from "../shell/place";
import { usePoll } from "../use-poll";
import { useWidth } from "../use-width";
import { type Reading, type Source, useReadings } from "./board-values";
import { getDrawing } from "./calls";
import { alarmsBelow } from "./lists";
import { degreesWords, extentOf, fitted, lines, positionOf } from "./map";
import { doubtWords, labelsOf, levelOf, shownOf, valueWords } from "./words";

const rarely = 60_000;

/** A drawing of the node, which has left in it only what is safe; asked for again each minute. */
function useDrawing(source: Source, name: string) {
  const { api, epoch } = source;
  const ask = useCallback(() => getDrawing(api, name), [api, name]);
  const { data, problem } = usePoll(ask, rarely, epoch);
  return { data: data?.name === name ? data : undefined, problem };
}

/**
 * Puts a drawing into a shadow tree of the element, so that identifiers and styles of the picture and of the page
 * do not meet. The page's policy forbids scripts and whatever would be loaded.
 */
function inscribed(host: HTMLElement, svg: string): SVGElement | undefined {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") return undefined;
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const picture = document.importNode(parsed, true) as unknown as SVGElement;
  picture.style.width = "100%";
  picture.style.height = "100%";
  picture.setAttribute("aria-hidden", "true");
  root.replaceChildren(picture);
  return picture;
}

const inks: Record<Level, string> = {
  good: "var(--good)",
  warn: "var(--warn)",
  bad: "var(--bad)",
  wait: "var(--quiet)",
};

/** Shows a reading in an element of a picture: as its text, or as the colour of its state. */
function show(element: Element, r: Reading, how: "text" | "fill"): void {
  const level = levelOf(r);
  const target = element as SVGElement;
  if (how === "text") {
    const words = r.missing ? "missing" : valueWords(r);
    if (target.textContent !== words) target.textContent = words;
    target.style.fill = level === "good" ? "" : r.known ? inks.wait : inks[level];
    return;
  }
  const v = shownOf(r);
  const on = v === true || (typeof v === "number" && v !== 0);
  target.style.fill = level === "good" ? (on ? inks.good : inks.wait) : inks[level];
}

const none: readonly string[] = [];

/** A floor plan or single-line diagram with live values. */
export function PictureTile({ tile, source }: { tile: DashboardTile; source: Source }) {
  const { data, problem } = useDrawing(source, tile.drawing ?? "");
  const bindings = tile.bindings ?? [];
  const key = JSON.stringify(bindings);
  const points = useMemo(() => (bindings.length > 0 ? bindings.map((b) => b.point) : none), [key]);
  const readings = useReadings(source, points);
  const host = useRef<HTMLDivElement>(null);
  const picture = useRef<SVGElement | undefined>(undefined);
  const svg = data?.svg ?? "";
  useEffect(() => {
    if (host.current && svg) picture.current = inscribed(host.current, svg);
  }, [svg]);
  const absent: string[] = [];
  useEffect(() => {
    bindings.forEach((b, i) => {
      const r = readings[i];
      const element = picture.current?.querySelector(`#${CSS.escape(b.element)}`);
      if (r && element) show(element, r, b.show ?? "text");
    });
  });
  const known = new Set(data?.elements.map((e) => e.id));
  for (const b of bindings) if (data && !known.has(b.element)) absent.push(b.element);
  const labels = labelsOf(readings);
  return (
    <div class="picture-tile">
      {problem && !data && <p class="problem">{plain(problem)}</p>}
      <div ref={host} class="picture" />
      {absent.length > 0 && (
        <p class="doubt">The drawing has no element {plain(absent.join(", "))}</p>
      )}
      <ul class="unseen">
        {readings.map((r, i) => (
          <li key={`${r.path} ${i}`}>
            {labels[i]}: {valueWords(r)} {doubtWords(r)}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface MapProps {
  tile: DashboardTile;
  source: Source;
  alarms: Alarms | undefined;
}

/** Sites by latitude and longitude, on a graticule or on a drawing whose edges are the extent. */
export function MapTile({ tile, source, alarms }: MapProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const height = box.current?.clientHeight || 300;
  const sites = tile.sites ?? [];
  const e = fitted(extentOf(sites), width, height);
  return (
    <div ref={box} class="map-tile">
      {tile.drawing ? (
        <Backdrop source={source} name={tile.drawing} />
      ) : (
        <svg class="graticule" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {lines(e.west, e.east).map((n) => {
            const x = 100 * positionOf(e, { longitude: n, latitude: 0 }).x;
            return <path key={n} d={`M${x} 0V100`} vector-effect="non-scaling-stroke" />;
          })}
          {lines(e.south, e.north).map((n) => {
            const y = 100 * positionOf(e, { longitude: 0, latitude: n }).y;
            return <path key={n} d={`M0 ${y}H100`} vector-effect="non-scaling-stroke" />;
          })}
        </svg>
      )}
      {!tile.drawing && <Degrees extent={e} />}
      <ul class="places">
        {sites.map((s, i) => {
          const { x, y } = positionOf(e, s);
          const open = s.branch ? alarmsBelow(alarms, s.branch) : [];
          const level = open.length > 0 ? worst(open) : "good";
          const words = open.length > 0 ? `${open.length} open` : "no alarm";
          return (
            <li
              key={i}
              class={`is-${level}`}
              style={{ left: `${100 * x}%`, top: `${100 * y}%` }}
              title={open.map((a) => `${alarmLevel(a)}: ${a.text}`).join("\n")}
            >
              <span class="pin" aria-hidden="true" />
              {s.branch ? (
                <a href={branchAddress(s.branch)}>{plain(s.name)}</a>
              ) : (
                <span>{plain(s.name)}</span>
              )}
              <span class={open.length > 0 ? "doubt" : "unseen"}> {words}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const Degrees = ({ extent: e }: { extent: ReturnType<typeof extentOf> }) => (
  <div class="degrees quiet" aria-hidden="true">
    {lines(e.west, e.east).map((n) => (
      <span
        key={`x${n}`}
        class="degree-x"
        style={{ left: `${100 * positionOf(e, { longitude: n, latitude: 0 }).x}%` }}
      >
        {degreesWords(n, "E", "W")}
      </span>
    ))}
    {lines(e.south, e.north).map((n) => (
      <span
        key={`y${n}`}
        class="degree-y"
        style={{ top: `${100 * positionOf(e, { longitude: 0, latitude: n }).y}%` }}
      >
        {degreesWords(n, "N", "S")}
      </span>
    ))}
  </div>
);

/** The drawing behind a map. */
function Backdrop({ source, name }: { source: Source; name: string }) {
  const { data, problem } = useDrawing(source, name);
  const host = useRef<HTMLDivElement>(null);
  const svg = data?.svg ?? "";
  useEffect(() => {
    if (host.current && svg) inscribed(host.current, svg);
  }, [svg]);
  return (
    <>
      {problem && !data && <p class="problem">{plain(problem)}</p>}
      <div ref={host} class="picture" />
    </>
  );
}
