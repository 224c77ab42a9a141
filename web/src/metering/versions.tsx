import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { exact, plain } from "../format";
import type { MeterReadings, MeterVersion } from "../generated/api";
import { coded, codesOf } from "../language/codes";
import { usePoll, wordsOf } from "../use-poll";
import { moment } from "./missing";
import { TableBox } from "./table-box";
import { counting } from "./words";

interface Props {
  api: Api;
  /** The resource of the meter's readings. */
  resource: string;
  meter: string;
  channel: number;
  /** Of the interval. */
  end: string;
  unit: string;
  engineer: boolean;
  onEdited(): void;
  onClose(): void;
}

/** Everything that was ever said about one interval, from the raw reading to the last edit. */
export function Versions(props: Props) {
  const { api, resource, channel, end, unit, engineer, onClose } = props;
  const ask = useCallback(() => {
    const at = Date.parse(end);
    const from = new Date(at - 1).toISOString();
    return api.get<MeterReadings>(resource, { channel, from, to: end, versions: "true" });
  }, [api, resource, channel, end]);
  const { data, problem } = usePoll(ask, 60_000, 0);
  return (
    <section class="versions" aria-label="Versions">
      <div class="panel-head">
        <h3>Interval that ends at {moment(end)}</h3>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {data && <List versions={data.readings} unit={unit} />}
      {engineer && <EditForm {...props} />}
    </section>
  );
}

function List({ versions, unit }: { versions: readonly MeterVersion[]; unit: string }) {
  const counts = counting(versions);
  return (
    <TableBox label="Versions">
      <table class="metering-table">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Value{unit && ` in ${plain(unit)}`}</th>
            <th scope="col">Known since</th>
            <th scope="col">By</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((v, i) => (
            <tr key={i}>
              <th scope="row">
                {coded(v.stage)}
                {v.status && <span class="quiet"> {codesOf(plain(v.status))}</span>}
                {i === counts && <span class="billed"> billed</span>}
              </th>
              <td class="number">{exact(v.value)}</td>
              <td>{moment(v.recorded)}</td>
              <td>{plain(v.who ?? "")}</td>
              <td>{plain([v.rule, v.reason].filter(Boolean).join(": "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

function EditForm({ api, meter, channel, end, unit, onEdited }: Props) {
  const [value, setValue] = useState("");
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = { channel, end, value: Number(value), reason: reason.trim() };
    try {
      await api.send("POST", `metering/meters/${encodeURIComponent(meter)}/edit`, body);
      onEdited();
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <form class="edit-reading" aria-label="Edit the reading" onSubmit={(e) => void submit(e)}>
      <label>
        Value{unit && ` in ${plain(unit)}`}
        <input
          type="number"
          step="any"
          required
          value={value}
          onInput={(e) => setValue(e.currentTarget.value)}
        />
      </label>
      <label>
        Reason
        <input
          type="text"
          required
          maxLength={1024}
          placeholder="such as: read on site"
          value={reason}
          onInput={(e) => setReason(e.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Set the value
      </button>
      <p class="quiet">The versions before it stay.</p>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
    </form>
  );
}
