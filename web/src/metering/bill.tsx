import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { listDocuments } from "../document/calls";
import { dateTime, exact, plain, plural } from "../format";
import type { MeterBill, MeterEntry, MeterRegister } from "../generated/api";
import { go, type Place } from "../shell/place";
import { wordsOf } from "../use-poll";
import { TableBox } from "./table-box";
import { type BillRow, billQuery, billRows, dayOf, monthOf } from "./words";

interface Props {
  api: Api;
  place: Place;
  entry: MeterEntry;
}

/** The determinants of a bill of one meter, as they are known, and beside it as they were known at another moment. */
export function Bill({ api, place, entry }: Props) {
  const query = new URLSearchParams(place.search);
  const profiles = entry.channels.filter((c) => c.interval);
  const [asked, setAsked] = useState(() => fields(query, api.now(), profiles[0]?.number));
  const [found, setFound] = useState<{ now: MeterBill; then?: MeterBill; knownAt?: string }>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const tariffs = useTariffs(api);
  const open = query.has("bill");
  const run = useCallback(
    async (f: Fields) => {
      setBusy(true);
      try {
        const base = { meter: entry.id, ...billQuery(f) };
        const knownAt = f.knownAt && new Date(f.knownAt).toISOString();
        const [now, then] = await Promise.all([
          api.get<MeterBill>("metering/bill", base),
          knownAt ? api.get<MeterBill>("metering/bill", { ...base, knownAt }) : undefined,
        ]);
        setFound({ now, ...(then && knownAt && { then, knownAt }) });
        setProblem("");
      } catch (err) {
        setFound(undefined);
        setProblem(wordsOf(err));
      }
      setBusy(false);
    },
    [api, entry.id],
  );
  useEffect(() => {
    if (open) void run(asked);
  }, []);
  if (profiles.length === 0) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    keep(place, asked);
    void run(asked);
  };
  return (
    <section class="card panel" aria-labelledby="bill-title">
      <h2 id="bill-title">Billing determinants</h2>
      <Form
        asked={asked}
        profiles={profiles.map((c) => c.number)}
        tariffs={tariffs}
        busy={busy}
        onSet={(more) => setAsked((f) => ({ ...f, ...more }))}
        onSubmit={submit}
      />
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {found && <Found {...found} />}
    </section>
  );
}

interface FormProps {
  asked: Fields;
  /** Numbers of the channels with intervals. */
  profiles: readonly number[];
  tariffs: readonly string[];
  busy: boolean;
  onSet(more: Partial<Fields>): void;
  onSubmit(event: Event): void;
}

/** What a bill is asked for. */
const Form = ({ asked, profiles, tariffs, busy, onSet, onSubmit }: FormProps) => (
  <form class="bill-form" aria-label="Billing determinants" onSubmit={onSubmit}>
    <DateField name="From" value={asked.from} onValue={(from) => onSet({ from })} />
    <DateField name="To, not included" value={asked.to} onValue={(to) => onSet({ to })} />
    <label>
      Tariff
      <input
        type="text"
        list="tariffs"
        maxLength={64}
        placeholder="none"
        autocomplete="off"
        value={asked.tariff}
        onInput={(e) => onSet({ tariff: e.currentTarget.value })}
      />
      <datalist id="tariffs">
        {tariffs.map((t) => (
          <option key={t} value={t} />
        ))}
      </datalist>
    </label>
    <label>
      Demand over
      <select value={asked.window} onChange={(e) => onSet({ window: e.currentTarget.value })}>
        <option value="">no demand</option>
        {["15", "30", "60"].map((m) => (
          <option key={m} value={m}>
            {m} min
          </option>
        ))}
      </select>
    </label>
    <Channels
      name="Consumption"
      value={asked.channel}
      numbers={profiles}
      onValue={(channel) => onSet({ channel })}
    />
    {profiles.length > 1 && (
      <Channels
        name="Fed in"
        value={asked.export}
        none="none"
        numbers={profiles}
        onValue={(fed) => onSet({ export: fed })}
      />
    )}
    <label>
      Compare with
      <input
        type="datetime-local"
        value={asked.knownAt}
        onInput={(e) => onSet({ knownAt: e.currentTarget.value })}
      />
    </label>
    <button type="submit" class="primary" disabled={busy}>
      {busy ? "Calculating…" : "Calculate"}
    </button>
  </form>
);

interface Fields {
  from: string;
  to: string;
  tariff: string;
  window: string;
  channel: string;
  export: string;
  knownAt: string;
}

/** What the address asks for; the month before if it does not. */
function fields(query: URLSearchParams, now: number, channel: number | undefined): Fields {
  const [from, to] = monthOf(now);
  const of = (name: string, usual = "") => query.get(name) || usual;
  return {
    from: of("from", dayOf(from)),
    to: of("to", dayOf(to)),
    tariff: of("tariff"),
    window: of("window"),
    channel: of("used", String(channel ?? 1)),
    export: of("fed"),
    knownAt: of("knownAt"),
  };
}

/** Keeps in the address what is asked, so that the bill can be passed on. */
function keep(place: Place, f: Fields) {
  const query = new URLSearchParams(place.search);
  query.set("bill", "");
  const named = { ...f, used: f.channel, fed: f.export, channel: undefined, export: undefined };
  for (const [name, value] of Object.entries(named)) {
    if (name === "channel" || name === "export") continue;
    if (value) query.set(name, value);
    else query.delete(name);
  }
  go(`${place.path}?${query}`, "replace");
}

/** The names of the tariffs that are stored; none where they cannot be listed. */
function useTariffs(api: Api): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    const prefix = "metering/tariffs/";
    listDocuments(api, "shared")
      .then((list) => list.map((d) => d.name).filter((name) => name.startsWith(prefix)))
      .then((found) => setNames(found.map((name) => name.slice(prefix.length))))
      .catch(() => setNames([]));
  }, [api]);
  return names;
}

interface FieldProps {
  name: string;
  value: string;
  onValue(value: string): void;
}

const DateField = ({ name, value, onValue }: FieldProps) => (
  <label>
    {name}
    <input type="date" required value={value} onInput={(e) => onValue(e.currentTarget.value)} />
  </label>
);

const Channels = ({
  name,
  value,
  none,
  numbers,
  onValue,
}: FieldProps & { none?: string; numbers: readonly number[] }) => (
  <label>
    {name}
    <select value={value} onChange={(e) => onValue(e.currentTarget.value)}>
      {none && <option value="">{none}</option>}
      {numbers.map((n) => (
        <option key={n} value={String(n)}>
          channel {n}
        </option>
      ))}
    </select>
  </label>
);

interface FoundProps {
  now: MeterBill;
  then?: MeterBill;
  knownAt?: string;
}

function Found({ now, then, knownAt }: FoundProps) {
  const rows = billRows(now, then);
  const differ = rows.filter((r) => r.differs).length;
  return (
    <>
      <p role="status">
        {then && knownAt
          ? differ === 0
            ? `Nothing differs from what was known at ${dateTime(Date.parse(knownAt))}.`
            : `${plural(differ, "figure")} ${differ === 1 ? "differs" : "differ"} from what was known at ${dateTime(Date.parse(knownAt))}.`
          : summary(now)}
      </p>
      {then && <p class="quiet">{summary(now)}</p>}
      <TableBox label="Bill">
        <table class="metering-table bill-table">
          <thead>
            <tr>
              <th scope="col">Period</th>
              <th scope="col">Figure</th>
              {then && <th scope="col">Then</th>}
              <th scope="col">{then ? "Now" : "Value"}</th>
              {then && <th scope="col">Difference</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((r, i) => (
              <Row key={i} row={r} both={then !== undefined} />
            ))}
          </tbody>
        </table>
      </TableBox>
      {now.registers.length > 0 && <Registers list={now.registers} />}
    </>
  );
}

const Row = ({ row, both }: { row: BillRow; both: boolean }) => (
  <tr class={row.differs ? "is-different" : ""}>
    <th scope="row">{plain(row.period)}</th>
    <td>
      {row.name} {row.unit && <span class="quiet">{plain(row.unit)}</span>}
      {row.at && <span class="quiet moment">{dateTime(Date.parse(row.at))}</span>}
    </td>
    {both && <td class="number">{row.before}</td>}
    <td class="number">{row.now}</td>
    {both && <td class="number">{row.differs ? row.difference : ""}</td>}
  </tr>
);

function summary(b: MeterBill): string {
  const tariff = b.tariff ? `, tariff ${plain(b.tariff)} version ${b.tariffVersion ?? ""}` : "";
  const stray = b.stray
    ? ` ${plural(b.stray, "reading")} at no end of an interval do not count.`
    : "";
  return `From ${dateTime(Date.parse(b.from))} to ${dateTime(Date.parse(b.to))}${tariff}.${stray}`;
}

const Registers = ({ list }: { list: readonly MeterRegister[] }) => (
  <TableBox label="Registers">
    <table class="metering-table">
      <thead>
        <tr>
          <th scope="col">Register</th>
          <th scope="col">First</th>
          <th scope="col">Last</th>
          <th scope="col">Used</th>
        </tr>
      </thead>
      <tbody>
        {list.map((r) => (
          <tr key={`${r.meter} ${r.channel}`}>
            <th scope="row">
              {plain(r.meter)} channel {r.channel}
            </th>
            {r.unknown ? (
              <td colspan={3}>{plain(r.unknown)}</td>
            ) : (
              <>
                <td class="number">{exact(r.first)}</td>
                <td class="number">{exact(r.last)}</td>
                <td class="number">
                  {exact(r.used)} {plain(r.unit)}
                  {r.interpolated && <span class="quiet"> interpolated</span>}
                </td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </TableBox>
);
