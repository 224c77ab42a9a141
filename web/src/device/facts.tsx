import type { Device } from "../api";
import { age, count, dateTime, percent, plain, span } from "../format";
import { adviceFor, deviceLevel } from "../health";
import { coded, word } from "../language/codes";
import { reasonOf } from "../language/said";
import { nameOf } from "../path";
import { deviceAddress } from "../shell/place";

interface Props {
  device: Device;
  now: number;
}

/** How the device does, in words: its state, what went wrong last, and what to do. */
export function Condition({ device: d, now }: Props) {
  const level = deviceLevel(d);
  const failed = Date.parse(d.last_error_time ?? "");
  return (
    <section class={`card panel condition is-${level}`} aria-label="Condition">
      <p class="condition-word">
        <span class="dot" aria-hidden="true" />
        {stateWords(d, now)}
      </p>
      {level === "bad" && <p>{d.state === "hung" ? hungAdvice : adviceFor(d.error_kind)}</p>}
      {level === "warn" && <p>{reasonOf(d.problem)}</p>}
      {d.last_error && (
        <p class="quiet detail">
          {level === "bad" ? "It says: " : "Its last error: "}
          {reasonOf(d.last_error)}
          {failed > 0 && (
            <>
              {" "}
              (<time dateTime={d.last_error_time ?? ""}>{dateTime(failed)}</time>)
            </>
          )}
        </p>
      )}
    </section>
  );
}

const hungAdvice =
  "The driver of its line does not return, so that no device of the line is read. Restart the node if that lasts.";

function stateWords(d: Device, now: number): string {
  const read = Date.parse(d.last_read ?? "");
  if (d.state === "online") return `Answers; read ${read > 0 ? ago(now - read) : "just now"}`;
  if (d.state === "starting") return "Was not asked yet";
  if (d.state === "disabled") return "Is disabled in the configuration";
  if (d.state === "hung") return "Hangs";
  if (d.state === "elsewhere")
    return d.owner ? `Is read by replica ${plain(d.owner)}` : "No replica reads it now";
  return read > 0
    ? `Does not answer; last read ${ago(now - read)}`
    : "Does not answer, and has not since the node began to ask it";
}

const ago = (ms: number) => (age(ms) === "now" ? "just now" : `${age(ms)} ago`);

/** The figures of its driver. */
export function Statistics({ device: d, now }: Props) {
  const asked = d.reads + d.failures;
  const read = Date.parse(d.last_read ?? "");
  const facts: [string, string][] = [
    ["Driver", plain(d.driver)],
    ["Line", plain(d.line)],
    ["Polling interval", d.interval > 0 ? span(d.interval * 1000) : "when it reports"],
    ["Points", count(d.points)],
    ["Requests", count(asked)],
    [
      "Of these failed",
      d.failures > 0 ? `${count(d.failures)} (${percent(d.failures, asked)})` : word("none"),
    ],
    ["Answers in", d.latency_ms > 0 ? span(d.latency_ms) : "–"],
    ["Last read", read > 0 ? ago(now - read) : word("never")],
  ];
  return (
    <section class="card panel" aria-labelledby="statistics-title">
      <h2 id="statistics-title">Statistics</h2>
      <dl class="facts-list">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const mostMates = 50;

/** The other devices of its line, which share its trouble if the line has any. */
export function LineMates({ device, devices }: { device: Device; devices: readonly Device[] }) {
  const mates = devices.filter((d) => d.line === device.line && d.path !== device.path);
  const silent = mates.filter((d) => deviceLevel(d) === "bad").length;
  return (
    <section class="card panel" aria-labelledby="mates-title">
      <h2 id="mates-title">On the same line</h2>
      {mates.length === 0 && <p class="quiet">No other device.</p>}
      {mates.length > 0 && deviceLevel(device) === "bad" && (
        <p>{silent === mates.length ? allSilent : someAnswer}</p>
      )}
      <ul class="mates">
        {mates.slice(0, mostMates).map((d) => (
          <li key={d.path} class={`is-${deviceLevel(d)}`}>
            <span class="dot" aria-hidden="true" />
            <a class="link" href={deviceAddress(d.path)} title={d.path}>
              {plain(nameOf(d.path))}
            </a>
            <span class="quiet">{coded(plain(d.state))}</span>
          </li>
        ))}
      </ul>
      {mates.length > mostMates && (
        <p class="quiet">… and {count(mates.length - mostMates)} more.</p>
      )}
    </section>
  );
}

const allSilent = "All of them are silent, too: look at the line first.";
const someAnswer = "Others answer on this line, so the line works: look at this device.";
