import { age, count, dateTime, localTimes, plain, plural, rate, span } from "../format";
import type { MeterConcentrator, MeterNotTaken, MeterSystem } from "../generated/api";
import { reasonOf } from "../language/said";
import { TableBox } from "./table-box";

/** What a concentrator took from meters, what it sent on, and to whom. */
export function Concentrator({
  concentrator: c,
  now,
}: {
  concentrator: MeterConcentrator;
  now: number;
}) {
  const waits = c.oldest ? `, the oldest for ${span(Math.max(0, now - Date.parse(c.oldest)))}` : "";
  return (
    <>
      <section class="card panel" aria-labelledby="concentrator-title">
        <h2 id="concentrator-title">Concentrator</h2>
        {c.reason && (
          <p role="alert" class="problem">
            {localTimes(reasonOf(c.reason))}
          </p>
        )}
        <dl class="metering-figures">
          <Figure name="Taken" value={c.taken} />
          <Figure name={c.to === "parent" ? "Sent to the parent" : "Sent"} value={c.sent}>
            {rate(c.rate)}/s
          </Figure>
          <Figure name="Waiting" value={c.waiting}>
            {waits.slice(2)}
          </Figure>
          <Figure name="Refused" value={c.refused} lacking={c.refused > 0} />
          <Figure name="Lost" value={c.lost} lacking={c.lost > 0} />
        </dl>
        <p class="quiet">
          A request goes when {plural(c.bulk, "reading")} are there, or the oldest is{" "}
          {span(c.age * 1000)} old.
        </p>
      </section>
      {c.systems.length > 0 && <Systems systems={c.systems} now={now} />}
      {c.refusals.length > 0 && <Refusals list={c.refusals} />}
    </>
  );
}

interface FigureProps {
  name: string;
  value: number;
  lacking?: boolean;
  children?: preact.ComponentChildren;
}

const Figure = ({ name, value, lacking, children }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd class={lacking ? "is-lacking" : ""}>
      {count(value)} <span class="quiet">{children}</span>
    </dd>
  </div>
);

const Systems = ({ systems, now }: { systems: readonly MeterSystem[]; now: number }) => (
  <section class="card panel" aria-labelledby="systems-title">
    <h2 id="systems-title">Metering data systems</h2>
    <TableBox label="Systems">
      <table class="metering-table">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">State</th>
            <th scope="col">Requests</th>
            <th scope="col">Readings</th>
          </tr>
        </thead>
        <tbody>
          {systems.map((s) => (
            <tr key={s.url}>
              <th scope="row">{plain(s.url)}</th>
              <td>{stateOfSystem(s, now)}</td>
              <td class="number">{count(s.requests)}</td>
              <td class="number">{count(s.sent)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  </section>
);

function stateOfSystem(s: MeterSystem, now: number): string {
  if (s.state === "ready") return "ready";
  const since = s.since ? ` for ${span(Math.max(0, now - Date.parse(s.since)))}` : "";
  const next = s.next ? ` Tried again in ${age(Math.max(0, Date.parse(s.next) - now))}.` : "";
  return `${plain(s.state)}${since}: ${reasonOf(s.reason ?? "")}.${next}`;
}

/** Readings that a system does not want: somebody has to look at them. */
const Refusals = ({ list }: { list: readonly MeterNotTaken[] }) => (
  <section class="card panel" aria-labelledby="refusals-title">
    <h2 id="refusals-title">Refused readings</h2>
    <TableBox label="Refused readings">
      <table class="metering-table">
        <thead>
          <tr>
            <th scope="col">Meter</th>
            <th scope="col">Interval ends</th>
            <th scope="col">Value</th>
            <th scope="col">Why</th>
            <th scope="col">System</th>
          </tr>
        </thead>
        <tbody>
          {list.map((r, i) => (
            <tr key={i}>
              <th scope="row">
                {plain(r.meter)} {r.channel ?? plain(r.readingType ?? "")}
              </th>
              <td>{dateTime(Date.parse(r.end))}</td>
              <td class="number">{r.value}</td>
              <td>{reasonOf(r.reason)}</td>
              <td>{plain(r.system)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  </section>
);
