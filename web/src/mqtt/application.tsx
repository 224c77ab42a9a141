import { count, dateTime, plain, plural } from "../format";
import type { ApplicationCommand, ApplicationEvent, ApplicationState } from "../generated/api";
import { boundsOf, outcomeOf } from "./words";

/** A program outside: what it sees, what it may command, and what became of what it tried. */
export function Application({ application: a }: { application: ApplicationState }) {
  return (
    <li class="application">
      <h3>{plain(a.name)}</h3>
      <p class="quiet">
        {a.connected === 0 ? "Not connected" : `${plural(a.connected, "client")} connected`} ·{" "}
        {plural(a.published, "reading")} sent · {count(a.accepted)} accepted ·{" "}
        <span class={a.refused > 0 ? "problem" : undefined}>{count(a.refused)} refused</span>
        {a.failed > 0 && <span class="problem"> · {count(a.failed)} failed</span>}
      </p>
      <p class="quiet">Sees {a.status.length === 0 ? "nothing" : a.status.map(plain).join(", ")}</p>
      {a.commands.length === 0 && <p class="quiet">It may command nothing.</p>}
      {a.commands.length > 0 && (
        <div class="sideways">
          <table class="orders">
            <thead>
              <tr>
                <th scope="col">Command</th>
                <th scope="col">Point</th>
                <th scope="col">Within</th>
                <th scope="col">Accepted</th>
                <th scope="col">Refused</th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {a.commands.map((c) => (
                <Order key={c.name} command={c} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {a.events.length > 0 && (
        <details>
          <summary>What it asked for</summary>
          <ul class="mqtt-asked">
            {a.events.map((e, i) => (
              <Tried key={`${e.time} ${i}`} event={e} />
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function Order({ command: c }: { command: ApplicationCommand }) {
  return (
    <tr>
      <th scope="row">{plain(c.name)}</th>
      <td data-label="Point">
        {plain(c.point)}
        {c.node && <span class="quiet"> at {plain(c.node)}</span>}
      </td>
      <td data-label="Within">{boundsOf(c)}</td>
      <td data-label="Accepted">{count(c.accepted)}</td>
      <td data-label="Refused">{count(c.refused + c.failed)}</td>
      <td data-label="Last">{c.last ? outcomeOf(c.last) : "–"}</td>
    </tr>
  );
}

function Tried({ event: e }: { event: ApplicationEvent }) {
  return (
    <li>
      <time dateTime={e.time}>{dateTime(Date.parse(e.time))}</time>{" "}
      <span class="topic">{plain(e.topic ?? "")}</span>{" "}
      <span class={e.why ? "problem" : undefined}>{outcomeOf(e)}</span>
    </li>
  );
}
