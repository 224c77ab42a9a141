import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import { matches } from "../site/tree";
import { usePoints } from "../use-site";

const listed = 8;

interface Props {
  api: Api;
  chosen: readonly string[];
  onAdd(path: string): void;
}

/** Finds points by words of their names, and adds them one by one. */
export function FindPoints(props: Props) {
  const [search, setSearch] = useState("");
  return (
    <>
      <label>
        Find points
        <input
          type="search"
          placeholder="Words of a name, unit or tag"
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
        />
      </label>
      {search.trim() !== "" && <Found {...props} search={search} />}
    </>
  );
}

function Found({ api, chosen, search, onAdd }: Props & { search: string }) {
  const { data, problem } = usePoints(api, 0);
  const found = (data ?? []).filter(
    (p) => p.kind !== "text" && !chosen.includes(p.path) && matches(p, search),
  );
  return (
    <>
      {problem && <p class="problem">{plain(problem)}</p>}
      {data && found.length === 0 && <p class="quiet">Nothing found.</p>}
      <ul class="report-found" aria-label="Found points">
        {found.slice(0, listed).map((p) => (
          <li key={p.path}>
            <button type="button" aria-label={`Add ${plain(p.path)}`} onClick={() => onAdd(p.path)}>
              + {plain(p.path)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
