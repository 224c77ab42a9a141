import type { Device, Ledger } from "../api";
import { count, rate, span } from "../format";
import { deviceLevel, isComplete, type Level } from "../health";
import { word } from "../language/codes";
import type { Rates } from "../overview/rates";

interface Props {
  devices: readonly Device[];
  ledger: Ledger;
  rates: Rates | undefined;
}

interface Figure {
  name: string;
  figure: string;
  note: string;
  level?: Level;
}

/** The figures that tell most, each with a word about it. */
export function Figures({ devices, ledger, rates }: Props) {
  const figures = [answering(devices), ...flow(rates), waiting(ledger, rates), lost(ledger)];
  return (
    <dl class="figures">
      {figures.map((f) => (
        <div key={f.name} class={`card figure is-${f.level ?? "good"}`}>
          <dt>{f.name}</dt>
          <dd>
            <strong class="number">{f.figure}</strong>
            <span class="quiet">{f.note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function answering(devices: readonly Device[]): Figure {
  const asked = devices.filter((d) => d.state !== "disabled");
  const silent = asked.filter((d) => deviceLevel(d) === "bad").length;
  const disabled = devices.length - asked.length;
  return {
    name: "Devices",
    figure: `${count(asked.length - silent)} of ${count(asked.length)}`,
    note: disabled > 0 ? `answer; ${count(disabled)} disabled` : word("answer"),
    level: silent > 0 ? "bad" : "good",
  };
}

function flow(rates: Rates | undefined): Figure[] {
  const shown = (n: number | undefined) => (n === undefined ? "…" : rate(n));
  return [
    { name: "Samples", figure: shown(rates?.samples), note: "a second" },
    { name: "Messages", figure: shown(rates?.messages), note: "a second, one for each read" },
  ];
}

/** More than so many seconds of samples on the way are worth a word. */
const longWait = 60;

function waiting(ledger: Ledger, rates: Rates | undefined): Figure {
  const n = (ledger.origins ?? []).reduce((sum, o) => sum + o.backlog_samples, 0);
  const seconds = rates && rates.samples > 0 ? n / rates.samples : 0;
  const late = seconds > longWait || ledger.state === "backlog";
  const note =
    seconds >= 1 ? `in the log, ${span(seconds * 1000)} of work` : "in the log for the history";
  return { name: "Waiting", figure: count(n), note, level: late ? "warn" : "good" };
}

function lost(ledger: Ledger): Figure {
  const n = (ledger.origins ?? []).reduce((sum, o) => sum + o.missing, 0);
  const note = n > 0 ? "samples" : isComplete(ledger) ? "proof below" : "samples";
  return { name: "Lost", figure: count(n), note, level: n > 0 ? "bad" : "good" };
}
