import { useState } from "preact/hooks";
import type { Api } from "../api";
import { exact, plain, plural } from "../format";
import type { MeterReadings, MeterVersion } from "../generated/api";
import { coded, word } from "../language/codes";
import { wordsOf } from "../use-poll";
import { moment } from "./missing";
import { TableBox } from "./table-box";
import { type Change, changes } from "./words";

interface Props {
  api: Api;
  /** The resource of the meter's readings. */
  resource: string;
  channel: number;
  from: number;
  to: number;
  now: readonly MeterVersion[];
}

const most = 200;

/** What was known of the readings at another moment, such as that of a bill, and what differs since. */
export function Comparison({ api, resource, channel, from, to, now }: Props) {
  const [moment, setMoment] = useState("");
  const [found, setFound] = useState<{ at: string; list: Change[] }>();
  const [problem, setProblem] = useState("");
  const compare = async (event: Event) => {
    event.preventDefault();
    const knownAt = new Date(moment).toISOString();
    const [a, b] = [from, to].map((ms) => new Date(ms).toISOString());
    try {
      const query = { channel, from: a ?? "", to: b ?? "", knownAt };
      const then = await api.get<MeterReadings>(resource, query);
      setFound({ at: knownAt, list: changes(then.readings, now) });
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <details class="comparison">
      <summary>Compare with what was known at another time</summary>
      <form onSubmit={(e) => void compare(e)}>
        <label>
          As known at
          <input
            type="datetime-local"
            required
            value={moment}
            onInput={(e) => setMoment(e.currentTarget.value)}
          />
        </label>
        <button type="submit">Compare</button>
      </form>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {found && <Differences {...found} />}
    </details>
  );
}

function Differences({ at, list }: { at: string; list: readonly Change[] }) {
  if (list.length === 0)
    return <p role="status">Nothing differs from what was known at {moment(at)}.</p>;
  return (
    <>
      <p role="status">
        {plural(list.length, "interval")} {list.length === 1 ? "differs" : "differ"} from what was
        known at {moment(at)}.
      </p>
      <TableBox label="Differences">
        <table class="metering-table">
          <thead>
            <tr>
              <th scope="col">Interval ends</th>
              <th scope="col">Then</th>
              <th scope="col">Now</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {list.slice(0, most).map((c) => (
              <tr key={c.end}>
                <th scope="row">{moment(c.end)}</th>
                <td>{wordsOfVersion(c.before)}</td>
                <td>{wordsOfVersion(c.now)}</td>
                <td>{plain([c.now?.rule, c.now?.reason].filter(Boolean).join(": "))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
      {list.length > most && <p class="quiet">The first {most}.</p>}
    </>
  );
}

const wordsOfVersion = (v: MeterVersion | undefined) =>
  v ? `${exact(v.value)} ${coded(v.stage)}` : word("nothing");
