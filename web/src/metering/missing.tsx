import { clock, dateTime, plain, plural } from "../format";
import type { MeterMissing } from "../generated/api";
import { meterAddress } from "../shell/place";
import { TableBox } from "./table-box";
import { stretches } from "./words";

const shownStretches = 4;

/** The channels that lack intervals, and which. */
export function MissingList({ missing: m }: { missing: MeterMissing }) {
  return (
    <section class="card panel" aria-labelledby="missing-title">
      <h2 id="missing-title">Missing intervals</h2>
      <TableBox label="Missing intervals">
        <table class="metering-table">
          <thead>
            <tr>
              <th scope="col">Meter</th>
              <th scope="col">Channel</th>
              <th scope="col">Intervals</th>
              <th scope="col">That end at</th>
            </tr>
          </thead>
          <tbody>
            {m.list.map((c) => (
              <tr key={`${c.meter} ${c.channel}`}>
                <th scope="row">
                  <a href={meterAddress(c.meter, c.channel, m.day)}>{plain(c.meter)}</a>
                </th>
                <td>{c.channel}</td>
                <td>{c.ends.length}</td>
                <td>{wordsOfStretches(c.ends)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
      {m.more && (
        <p class="quiet">
          The first {plural(m.list.length, "channel")} of {plural(m.channels, "channel")}. All of
          them: <code>voltbus meter missing {m.day}</code>
        </p>
      )}
    </section>
  );
}

function wordsOfStretches(ends: readonly string[]): string {
  const all = stretches(ends);
  const words = all
    .slice(0, shownStretches)
    .map((s) => (s.count === 1 ? minute(s.from) : `${minute(s.from)} to ${minute(s.to)}`));
  const rest = all.length - shownStretches;
  return words.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** The time of day without seconds, as intervals end at whole minutes. */
const minute = (ms: number) => clock(ms).replace(/:00$/, "");

/** When something was, for a table. */
export const moment = (text: string) => dateTime(Date.parse(text));
