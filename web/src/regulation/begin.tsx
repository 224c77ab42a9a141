import { useState } from "preact/hooks";
import type { WorldState } from "../generated/api";
import type { Send } from "./regulation";

type WorldOrder = Pick<
  WorldState,
  "units" | "nodes" | "hours" | "period" | "loss" | "pace" | "seed"
>;

const usual: WorldOrder = {
  units: 50,
  nodes: 10,
  hours: 24,
  period: 2,
  loss: 0,
  pace: 60,
  seed: 1,
};

type Field = [name: keyof WorldOrder, label: string, least: number, most: number];

const fields: readonly Field[] = [
  ["units", "Buildings", 2, 2000],
  ["nodes", "Nodes", 1, 100],
  ["hours", "Virtual hours", 1, 48],
  ["period", "Seconds between decisions", 2, 3600],
  ["seed", "Seed", 0, 1_000_000],
];

interface Props {
  there: boolean;
  busy: boolean;
  send: Send;
}

/** Begins a world. */
export function Begin({ there, busy, send }: Props) {
  const [order, setOrder] = useState(usual);
  const begin = (e: Event) => {
    e.preventDefault();
    void send("POST", "", order);
  };
  return (
    <details class="card panel" open={!there}>
      <summary>{there ? "Begin another world…" : "Begin a world…"}</summary>
      <form class="regulation-form" aria-label="Begin a world" onSubmit={begin}>
        {fields.map(([name, label, least, most]) => (
          <label key={name}>
            <span>{label}</span>
            <input
              type="number"
              required
              min={least}
              max={most}
              value={order[name]}
              onInput={(e) => setOrder({ ...order, [name]: Number(e.currentTarget.value) })}
            />
          </label>
        ))}
        <button type="submit" class="primary" disabled={busy}>
          Begin
        </button>
      </form>
    </details>
  );
}
