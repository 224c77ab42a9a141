import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";

interface Props {
  api: Api;
  onAdded: () => void;
}

/** Lists one more replica, or a witness, which joins when it starts. */
export function AddForm({ api, onAdded }: Props) {
  const act = useAct();
  const [name, setName] = useState("");
  const [address, setAddress] = useState("");
  const [witness, setWitness] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const added = { name: name.trim(), address: address.trim(), witness };
    if (await act.perform(() => api.send("POST", "cluster/replicas", added))) {
      setName("");
      setAddress("");
      setWitness(false);
    }
    onAdded();
  };
  const field = (label: string, length: number, value: string, set: (v: string) => void) => (
    <label>
      {label}
      <input
        type="text"
        required
        maxLength={length}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        value={value}
        onInput={(e) => set(e.currentTarget.value)}
      />
    </label>
  );
  return (
    <section class="card panel" aria-labelledby="add-title">
      <h2 id="add-title">Add a replica</h2>
      <p>
        It joins when it starts with a configuration that lists all replicas, and with their key.
      </p>
      <form class="agent-form" aria-label="Add a replica" onSubmit={(e) => void submit(e)}>
        {field("Name of its node", 64, name, setName)}
        {field("Address for the other replicas, host:port", 300, address, setAddress)}
        <label class="node-check">
          <input
            type="checkbox"
            checked={witness}
            onChange={(e) => setWitness(e.currentTarget.checked)}
          />
          <span>
            Witness
            <span class="quiet"> It has the logs, and neither clients, devices nor history.</span>
          </span>
        </label>
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
        <p class="actions">
          <button type="submit" class="primary" disabled={act.busy}>
            {act.busy ? "Adding…" : "Add"}
          </button>
        </p>
      </form>
    </section>
  );
}
