import { useState } from "preact/hooks";
import type { Api } from "../api";
import { count, plain, plural } from "../format";
import { reasonOf } from "../language/said";
import { type Draft, reachGap, reachOf } from "./draft";
import { type ListRow, rowsOf } from "./list";
import { type Neighbour, problemsOf, searchDevices } from "./setup";

interface Props {
  api: Api;
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** What a unit answered, and which unit that was. */
interface Answer {
  unit: string;
  device?: Neighbour;
  problems: readonly string[];
}

/** Reads the SunSpec models of a unit: its registers become the list of the device. */
export function SunSpecFields({ api, draft, onChange }: Props) {
  const [answer, setAnswer] = useState<Answer>();
  const [busy, setBusy] = useState(false);
  const unit = JSON.stringify(reachOf(draft));
  const read = async () => {
    const gap = reachGap(draft);
    if (gap) return setAnswer({ unit, problems: [gap] });
    setBusy(true);
    setAnswer(undefined);
    try {
      const [device] = (await searchDevices(api, "modbus", reachOf(draft))).devices ?? [];
      setAnswer({ unit, ...(device ? { device } : {}), problems: [] });
      if (device) onChange(draftOf(device, draft));
    } catch (err) {
      setAnswer({ unit, problems: problemsOf(err) });
    }
    setBusy(false);
  };
  const shown = answer?.unit === unit ? answer : undefined;
  return (
    <>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void read()}>
          {busy ? "Reading…" : "Read SunSpec models"}
        </button>
        <span class="quiet">
          Many inverters, meters and batteries describe their registers themselves. Their unit is
          often 1, 2 or 126.
        </span>
      </p>
      <div role="status" aria-label="SunSpec models">
        {shown?.problems.map((p) => (
          <p key={p} class="problem">
            {plain(p)}
          </p>
        ))}
        {shown?.device && <Described device={shown.device} list={draft.list} />}
      </div>
      {shown?.device && draft.fromList && <Preview rows={rowsOf(draft.list)} />}
    </>
  );
}

/** What the device says of itself. */
function Described({ device: d, list }: { device: Neighbour; list: string }) {
  const parts = d.parts ?? [];
  return (
    <>
      <p class="check is-good">
        {plural(parts.length, "SunSpec model")} found, with{" "}
        {plural(rowsOf(list).length, "register")}: {plain(d.detail)}
      </p>
      {d.device && <p class="problem">This unit is added already, as {plain(d.device)}.</p>}
      {d.note && <p class="quiet">{reasonOf(d.note)}</p>}
      <ul class="models" aria-label="Models">
        {parts.map((p) => (
          <li key={p.at}>
            <span class="number">{p.number}</span>
            <span>
              {p.name ? plain(p.name) : "not published"}{" "}
              <span class="quiet">
                {p.at}, {plural(p.points, "point")}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const mostShown = 500;

/** The registers that the device gets. */
function Preview({ rows }: { rows: readonly ListRow[] }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x raw-table" tabIndex={0} aria-label="Registers of the device">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Register</th>
              <th scope="col">At</th>
              <th scope="col">Type</th>
              <th scope="col">Unit</th>
              <th scope="col">Writable</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostShown).map((r, i) => (
              <tr key={i}>
                <th scope="row">{plain(r.name ?? "")}</th>
                <td>{plain(`${r.table ?? ""} ${r.address ?? ""}`)}</td>
                <td>{plain(r.type ?? "")}</td>
                <td>{plain(r.unit ?? "")}</td>
                <td>{r.writable === "true" ? "yes" : "no"}</td>
                <td>{plain(r.description ?? "")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > mostShown && <p class="quiet">… and {count(rows.length - mostShown)} more.</p>}
    </>
  );
}

/** What a draft becomes when a unit has described itself. */
const draftOf = (d: Neighbour, draft: Draft): Partial<Draft> => ({
  name: d.name || draft.name,
  fromList: true,
  list: String(d.config.registry ?? ""),
  listOrder: "",
});
