import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Draft } from "./draft";
import { Field } from "./field";
import { Found } from "./found";
import { problemsOf, type Search, searchDevices } from "./setup";

interface Props {
  api: Api;
  site: string;
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

/** How a BACnet device is reached: it is found by a search, or its instance and address are typed. */
export function BacnetFields({ api, site, draft, onChange }: Props) {
  const [found, setFound] = useState<Search & { local: string }>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const search = async (local: string) => {
    setBusy(true);
    setProblems([]);
    try {
      setFound({ ...(await searchDevices(api, "bacnet", configOf(local))), local });
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
        <button type="button" disabled={busy} onClick={() => void search(draft.local.trim())}>
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
        {found?.devices?.length === 0 && (
          <p class="problem">No device answers. Check the own address.</p>
        )}
      </div>
      {found?.devices && found.devices.length > 0 && (
        <Found
          place={{ api, site, interval: draft.interval, config: configOf(found.local) }}
          devices={found.devices}
          gone={found.gone ?? []}
          onChoose={onChange}
          onAdded={() => void search(found.local)}
        />
      )}
    </>
  );
}

const configOf = (local: string): Record<string, unknown> => (local ? { local } : {});
