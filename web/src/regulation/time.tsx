import { dateTime, plain } from "../format";
import type { WorldWait } from "../generated/api";
import type { WorldProps } from "./regulation";

const paces: readonly [pace: number, name: string][] = [
  [0, "Paused"],
  [1, "Real time"],
  [60, "60 times"],
  [600, "600 times"],
  [1_000_000, "As fast as possible"],
];

const losses: readonly [loss: number, name: string][] = [
  [0, "none"],
  [0.01, "1 %"],
  [0.05, "5 %"],
  [0.2, "20 %"],
  [0.5, "50 %"],
];

/** The virtual clock, and what can be done to the world. */
export function Controls({ world, engineer, busy, send }: WorldProps) {
  const blocked = !engineer || busy;
  return (
    <section class="card panel" aria-label="Virtual time">
      <p class="regulation-clock" role="timer" aria-label="Virtual time">
        {dateTime(Date.parse(world.time))}
      </p>
      <p class="quiet">
        {world.over
          ? "The hours of this world have passed."
          : `${world.units} buildings at ${world.nodes} nodes, seed ${world.seed}. Time passes while this page is open.`}
      </p>
      <div class="regulation-controls">
        <Choice
          label="Pace"
          value={world.pace}
          options={paces}
          blocked={blocked}
          onChoose={(pace) => send("POST", "/pace", { pace })}
        />
        <button
          type="button"
          disabled={blocked || world.over}
          onClick={() => void send("POST", "/step", { seconds: world.period })}
        >
          Step
        </button>
        <button
          type="button"
          disabled={blocked || world.over}
          onClick={() => void send("POST", "/step", { seconds: 600 })}
        >
          10 minutes on
        </button>
        <Choice
          label="Messages lost"
          value={world.loss}
          options={losses}
          blocked={blocked}
          onChoose={(loss) => send("POST", "/loss", { loss })}
        />
        <button
          type="button"
          class="danger"
          disabled={blocked || world.over}
          onClick={() => void send("POST", "/kill")}
        >
          Kill the leader
        </button>
        <button type="button" disabled={blocked} onClick={() => void send("DELETE", "")}>
          End the world
        </button>
      </div>
    </section>
  );
}

interface ChoiceProps {
  label: string;
  value: number;
  options: readonly [number, string][];
  blocked: boolean;
  onChoose(value: number): Promise<void>;
}

function Choice({ label, value, options, blocked, onChoose }: ChoiceProps) {
  const known = options.some(([v]) => v === value);
  return (
    <label class="regulation-choice">
      <span>{label}</span>
      <select
        disabled={blocked}
        value={String(value)}
        onChange={(e) => void onChoose(Number(e.currentTarget.value))}
      >
        {!known && <option value={String(value)}>{value}</option>}
        {options.map(([v, name]) => (
          <option key={v} value={String(v)}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What waits next. */
export function Waits({ waits }: { waits: readonly WorldWait[] }) {
  return (
    <section class="card panel" aria-label="What waits next">
      <h2>What waits next</h2>
      {waits.length === 0 && <p class="quiet">Nothing: the world is over.</p>}
      <ol class="regulation-waits">
        {waits.map((w) => (
          <li key={w.at + w.what}>
            <time dateTime={w.at}>{dateTime(Date.parse(w.at))}</time> {plain(w.what)}
          </li>
        ))}
      </ol>
    </section>
  );
}
