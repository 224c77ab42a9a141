import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain, plural } from "../format";
import type { Draft } from "./draft";
import { Field } from "./field";
import { type Neighbour, problemsOf, searchDevices } from "./setup";

interface Props {
  api: Api;
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** How a BACnet device is reached: it is found by a search, or its instance and address are typed. */
export function BacnetFields({ api, draft, onChange }: Props) {
  const [found, setFound] = useState<readonly Neighbour[]>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const search = async () => {
    setBusy(true);
    setProblems([]);
    setFound(undefined);
    try {
      const local = draft.local.trim();
      const answer = await searchDevices(api, "bacnet", local ? { local } : {});
      setFound(answer.devices ?? []);
    } catch (err) {
      setProblems(problemsOf(err));
    }
    setBusy(false);
  };
  return (
    <>
      <div class="fields">
        <Field
          label="Own address"
          placeholder="10.0.0.5/24"
          value={draft.local}
          onInput={(local) => onChange({ local })}
        />
        <Field
          label="Instance"
          placeholder="1001"
          value={draft.instance}
          onInput={(instance) => onChange({ instance })}
        />
        <Field
          label="Address, if it is known"
          placeholder="10.0.0.11"
          value={draft.address}
          onInput={(address) => onChange({ address })}
        />
      </div>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void search()}>
          {busy ? "Searching…" : "Find devices"}
        </button>
        <span class="quiet">
          The own address is that of this node, with the length of its subnet; empty for any.
        </span>
      </p>
      <div role="status" aria-label="Devices found">
        {problems.map((p) => (
          <p key={p} class="problem">
            {plain(p)}
          </p>
        ))}
        {found && <Found devices={found} draft={draft} onChange={onChange} />}
      </div>
    </>
  );
}

const mostShown = 200;

interface FoundProps {
  devices: readonly Neighbour[];
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** The devices that a search found, to choose one. */
function Found({ devices, draft, onChange }: FoundProps) {
  if (devices.length === 0) return <p class="problem">No device answers. Check the own address.</p>;
  return (
    <>
      <p class="check is-good">{plural(devices.length, "device")} found.</p>
      <ul class="tried">
        {devices.slice(0, mostShown).map((d, i) => (
          <li key={i}>
            <label class="kind">
              <input
                type="radio"
                name="neighbour"
                checked={
                  String(d.config.device) === draft.instance &&
                  String(d.config.address ?? "") === draft.address
                }
                onChange={() => onChange(chosen(d, draft))}
              />
              <span>
                <strong>{plain(d.name || "without a name")}</strong>
                <span class="quiet">{plain(d.detail)}</span>
                {d.note && <span class="problem">{plain(d.note)}</span>}
              </span>
            </label>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a draft becomes when a device is chosen. */
const chosen = (d: Neighbour, draft: Draft): Partial<Draft> => ({
  name: d.name || draft.name,
  instance: String(d.config.device),
  address: String(d.config.address ?? ""),
});
