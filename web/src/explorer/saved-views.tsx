import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import { includes } from "../shell/role";
import { useViews } from "./use-kept";
import { viewAddress } from "./view-address";

interface Props {
  api: Api;
  role: string;
  epoch: number;
  /** The address of what is shown. */
  link: string;
}

/** The views that people saved, and a field to save this one. */
export function SavedViews({ api, role, epoch, link }: Props) {
  const { list, problem, change } = useViews(api, epoch);
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");
  const may = includes(role, "operator");
  const save = async (e: Event) => {
    e.preventDefault();
    const said = await change(() => api.send("PUT", "views", { name: name.trim(), link }));
    setWrong(said);
    if (said === "") setName("");
  };
  const remove = async (gone: string) => {
    setWrong(await change(() => api.send("DELETE", `views/${encodeURIComponent(gone)}`)));
  };
  if (!may && list.length === 0) return null;
  return (
    <section class="card explore-legend kept" aria-labelledby="views-title">
      <h2 id="views-title">Saved views</h2>
      <ul>
        {list.map((v) => (
          <li key={v.name}>
            <a href={viewAddress(v.link)} title={plain(v.note)}>
              {plain(v.name)}
            </a>
            {may && (
              <button
                type="button"
                class="remove"
                aria-label={`Delete the view ${v.name}`}
                onClick={() => void remove(v.name)}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {may && (
        <form class="new-formula" onSubmit={(e) => void save(e)}>
          <input
            type="text"
            aria-label="Name of the view"
            placeholder="Name of this view"
            maxLength={100}
            value={name}
            onInput={(e) => setName(e.currentTarget.value)}
          />
          <button type="submit" disabled={name.trim() === ""}>
            Save
          </button>
        </form>
      )}
      {(wrong || problem) && (
        <p class="problem" role="alert">
          {plain(wrong || problem)}
        </p>
      )}
    </section>
  );
}
