import { useMemo, useState } from "preact/hooks";
import type { Point } from "../api";
import { count, plain, unit } from "../format";
import { PointName } from "../point-name";
import { matches } from "../site/tree";
import { mostCurves } from "./view";

interface Props {
  /** All points, undefined until the node has told them. */
  points: readonly Point[] | undefined;
  problem: string;
  chosen: readonly string[];
  /** Is told what may be chosen in a moment, so that its history can be on its way. */
  onExpect(next: readonly string[]): void;
  onChoose(next: readonly string[]): void;
}

const listed = 60;

/** Finds points by words, and adds them one by one or all together. */
export function Picker({ points, problem, chosen, onExpect, onChoose }: Props) {
  const [search, setSearch] = useState("");
  const found = useMemo(() => find(points ?? [], search), [points, search]);
  // Whoever began to choose from the list goes on until saying otherwise
  const [browsing, setBrowsing] = useState(chosen.length === 0);
  const open = search !== "" || browsing || chosen.length === 0;
  const fresh = found.filter((p) => !chosen.includes(p.path));
  const room = mostCurves - chosen.length;
  const choose = (next: readonly string[]) => {
    onExpect(next); // whoever uses the keyboard has not pointed at anything before
    onChoose(next);
  };
  const all = () => [...chosen, ...fresh.slice(0, room).map((p) => p.path)];
  const toggle = (path: string) =>
    choose(chosen.includes(path) ? chosen.filter((p) => p !== path) : [...chosen, path]);

  return (
    <section class="card picker" aria-labelledby="picker-title">
      <h2 id="picker-title">Add points</h2>
      <input
        type="search"
        aria-label="Find points"
        placeholder="Words of a name, unit or tag"
        value={search}
        onFocus={() => setBrowsing(true)}
        onInput={(e) => setSearch(e.currentTarget.value)}
      />
      {problem && <p class="problem">{plain(problem)}</p>}
      {open && points && (
        <>
          <ul class="found" aria-label="Found points">
            {found.slice(0, listed).map((p) => (
              <Hit
                key={p.path}
                point={p}
                isChosen={chosen.includes(p.path)}
                onExpect={() => chosen.includes(p.path) || onExpect([...chosen, p.path])}
                onToggle={() => toggle(p.path)}
              />
            ))}
          </ul>
          <p class="quiet found-foot">
            <span>{foundWords(found.length, points.length)}</span>
            {search !== "" && fresh.length > 1 && room > 0 && (
              <button
                type="button"
                onPointerDown={() => onExpect(all())}
                onClick={() => {
                  choose(all());
                  setBrowsing(false);
                  setSearch("");
                }}
              >
                Add {count(Math.min(room, fresh.length))}
              </button>
            )}
            {chosen.length > 0 && (
              <button
                type="button"
                onClick={() => {
                  setBrowsing(false);
                  setSearch("");
                }}
              >
                Done
              </button>
            )}
          </p>
        </>
      )}
    </section>
  );
}

/** Numbers and switches whose text has all words; text has no curve. */
const find = (points: readonly Point[], search: string) =>
  points.filter((p) => p.kind !== "text" && (search === "" || matches(p, search)));

function foundWords(found: number, all: number): string {
  if (all === 0) return "The node has no points yet.";
  if (found === 0) return "Nothing found.";
  return found > listed
    ? `${count(listed)} of ${count(found)} shown; more words find fewer.`
    : `${count(found)} found`;
}

interface HitProps {
  point: Point;
  isChosen: boolean;
  onExpect(): void;
  onToggle(): void;
}

function Hit({ point, isChosen, onExpect, onToggle }: HitProps) {
  return (
    <li onPointerEnter={onExpect}>
      <label title={[point.path, point.description].filter(Boolean).join("\n")}>
        <input type="checkbox" checked={isChosen} onChange={onToggle} />
        <PointName path={point.path} description={point.description} stacked />
        <span class="quiet">{unit(point.unit)}</span>
      </label>
    </li>
  );
}
