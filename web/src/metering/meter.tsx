import { useCallback, useState } from "preact/hooks";
import { dateTime, plain, plural, span } from "../format";
import type { MeterChannel, MeterEntry, MeterReadings } from "../generated/api";
import { go, meterAddress } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Bill } from "./bill";
import { Comparison } from "./comparison";
import { ReadingCurve } from "./curve";
import { Events } from "./events";
import { Exceptions } from "./exceptions";
import { TableBox } from "./table-box";
import { Versions } from "./versions";
import { dayOf, startOf } from "./words";

const day = 24 * 3600 * 1000;
const spans = [1, 7, 31];

/** One meter: its channels, a channel's readings, each with its versions, and what it was known as. */
export function MeterPage({ api, session, place, epoch, meter }: ScreenProps & { meter: string }) {
  const query = new URLSearchParams(place.search);
  const [changed, setChanged] = useState(0);
  const ask = useCallback(
    () => api.get<MeterEntry>(`metering/meters/${encodeURIComponent(meter)}`),
    [api, meter],
  );
  const { data: entry, problem } = usePoll(ask, 60_000, epoch);
  const numbers = entry?.channels.map((c) => c.number) ?? [];
  const number = Number(query.get("channel")) || numbers[0] || 1;
  const first = query.get("day") ?? dayOf(api.now() - day);
  const engineer = includes(session.role, "engineer");
  return (
    <>
      <p class="crumbs">
        <a href={`/metering?${new URLSearchParams({ day: first })}`}>Meters</a>
      </p>
      <h1>{plain(meter)}</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {entry && <Facts entry={entry} number={number} day={first} />}
      {entry && (
        <Channel
          key={number}
          api={api}
          meter={meter}
          channel={entry.channels.find((c) => c.number === number)}
          number={number}
          first={first}
          engineer={engineer}
          epoch={epoch + changed}
          onChanged={() => setChanged((n) => n + 1)}
        />
      )}
      {entry && <Bill api={api} place={place} entry={entry} />}
      {entry && <Events api={api} epoch={epoch} meter={meter} />}
      {entry && <Exceptions api={api} engineer={engineer} epoch={epoch + changed} meter={meter} />}
    </>
  );
}

function Facts({ entry, number, day: first }: { entry: MeterEntry; number: number; day: string }) {
  return (
    <section class="card panel" aria-labelledby="facts-title">
      <h2 id="facts-title">
        {commodities[entry.commodity]}, {plural(entry.channels.length, "channel")}
      </h2>
      <TableBox label="Channels">
        <table class="metering-table">
          <thead>
            <tr>
              <th scope="col">Channel</th>
              <th scope="col">Kind</th>
              <th scope="col">Unit</th>
              <th scope="col">OBIS</th>
              <th scope="col" class="reading-type-head">
                Reading type
              </th>
            </tr>
          </thead>
          <tbody>
            {entry.channels.map((c) => (
              <tr key={c.number}>
                <th scope="row">
                  <a
                    href={meterAddress(entry.id, c.number, first)}
                    {...(c.number === number ? { "aria-current": "true" as const } : {})}
                  >
                    {c.number}
                  </a>
                </th>
                <td>{kindOf(c)}</td>
                <td>{plain(c.unit ?? "")}</td>
                <td>{plain(c.obis ?? "")}</td>
                <td class="reading-type">{plain(c.readingType)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  );
}

const commodities: Record<MeterEntry["commodity"], string> = {
  electricity: "Electricity meter",
  gas: "Gas meter",
  heat: "Heat meter",
  water: "Water meter",
};

const kindOf = (c: MeterChannel) =>
  c.interval ? `intervals of ${span(c.interval * 1000)}` : "register";

interface ChannelProps {
  api: ScreenProps["api"];
  meter: string;
  channel: MeterChannel | undefined;
  number: number;
  /** The first local day that is shown. */
  first: string;
  engineer: boolean;
  epoch: number;
  onChanged(): void;
}

function Channel({ api, meter, channel, number, first, engineer, epoch, onChanged }: ChannelProps) {
  const [days, setDays] = useState(1);
  const [chosen, setChosen] = useState("");
  const from = startOf(first);
  const to = endOf(from, days);
  const resource = `metering/meters/${encodeURIComponent(meter)}/readings`;
  const ask = useCallback(
    () => api.get<MeterReadings>(resource, { channel: number, from: iso(from), to: iso(to) }),
    [api, resource, number, from, to],
  );
  const { data, problem } = usePoll(ask, 30_000, epoch);
  const readings = data?.readings ?? [];
  return (
    <section class="card panel" aria-labelledby="readings-title">
      <div class="panel-head">
        <h2 id="readings-title">Readings of channel {number}</h2>
        <Span meter={meter} channel={number} first={first} days={days} onDays={setDays} />
      </div>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {data && readings.length === 0 && (
        <p class="quiet">
          There are no readings from {dateTime(from)} to {dateTime(to)}.
        </p>
      )}
      {readings.length > 0 && (
        <ReadingCurve
          readings={readings}
          from={from}
          to={to}
          interval={(channel?.interval ?? 0) * 1000}
          unit={data?.unit ?? ""}
          chosen={chosen}
          onChoose={setChosen}
        />
      )}
      {readings.length > 0 && !chosen && (
        <p class="quiet">Choose an interval in the curve to see its versions.</p>
      )}
      {chosen && (
        <Versions
          key={`${chosen} ${epoch}`}
          api={api}
          resource={resource}
          meter={meter}
          channel={number}
          end={chosen}
          unit={data?.unit ?? ""}
          engineer={engineer}
          onEdited={onChanged}
          onClose={() => setChosen("")}
        />
      )}
      {readings.length > 0 && (
        <p>
          <a
            class="button"
            href={api.address("metering/greenbutton", { meter, from: iso(from), to: iso(to) })}
            download={`green-button-${first}.xml`}
          >
            Download Green Button
          </a>{" "}
          <span class="quiet">
            All channels from {dateTime(from)} to {dateTime(to)}.
          </span>
        </p>
      )}
      {data && (
        <Comparison
          api={api}
          resource={resource}
          channel={number}
          from={from}
          to={to}
          now={readings}
        />
      )}
    </section>
  );
}

interface SpanProps {
  meter: string;
  channel: number;
  first: string;
  days: number;
  onDays(days: number): void;
}

/** Which days are shown. */
function Span({ meter, channel, first, days, onDays }: SpanProps) {
  const show = (day: string) => go(meterAddress(meter, channel, day), "replace");
  const shift = (by: number) => show(dayOf(endOf(startOf(first), by)));
  return (
    <span class="reading-span">
      <button type="button" aria-label="Earlier" onClick={() => shift(-days)}>
        ‹
      </button>
      <label>
        <span class="unseen">First day</span>
        <input
          type="date"
          value={first}
          onChange={(e) => e.currentTarget.value && show(e.currentTarget.value)}
        />
      </label>
      <button type="button" aria-label="Later" onClick={() => shift(days)}>
        ›
      </button>
      <label>
        <span class="unseen">Days</span>
        <select value={days} onChange={(e) => onDays(Number(e.currentTarget.value))}>
          {spans.map((n) => (
            <option key={n} value={n}>
              {plural(n, "day")}
            </option>
          ))}
        </select>
      </label>
    </span>
  );
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The end of so many local days: one with a clock change has 23 or 25 hours. */
function endOf(from: number, days: number): number {
  const at = new Date(from);
  at.setDate(at.getDate() + days);
  return at.getTime();
}
