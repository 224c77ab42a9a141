import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain, plural } from "../format";
import type { MeterException, MeterExceptions } from "../generated/api";
import { codesOf } from "../language/codes";
import { meterAddress } from "../shell/place";
import { usePoll, wordsOf } from "../use-poll";
import { moment } from "./missing";

const most = 100;

interface Props {
  api: Api;
  /** Whether the person may take exceptions from the queue. */
  engineer: boolean;
  epoch: number;
  /** Only those of this meter. */
  meter?: string;
}

/** What validation doubts and nobody has dealt with, the newest day first. */
export function Exceptions({ api, engineer, epoch, meter }: Props) {
  const [settled, setSettled] = useState(0);
  const ask = useCallback(
    () => api.get<MeterExceptions>("metering/exceptions", { limit: most, ...(meter && { meter }) }),
    [api, meter],
  );
  const { data, problem } = usePoll(ask, 30_000, epoch + settled);
  const list = data?.exceptions;
  return (
    <section class="card panel" aria-labelledby="exceptions-title">
      <h2 id="exceptions-title">Exceptions</h2>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {list?.length === 0 && (
        <p class="quiet">
          Nothing waits for a person: validation doubts nothing that was not settled.
        </p>
      )}
      {list && list.length > 0 && (
        <ul class="exceptions" aria-label="Exceptions">
          {list.map((e) => (
            <Item
              key={e.number}
              api={api}
              exception={e}
              engineer={engineer}
              onSettled={() => setSettled((n) => n + 1)}
            />
          ))}
        </ul>
      )}
      {list && list.length >= most && (
        <p class="quiet">
          The newest {most}. All of them: <code>voltbus meter exceptions</code>
        </p>
      )}
    </section>
  );
}

interface ItemProps {
  api: Api;
  exception: MeterException;
  engineer: boolean;
  onSettled(): void;
}

function Item({ api, exception: e, engineer, onSettled }: ItemProps) {
  const [open, setOpen] = useState(false);
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState("");
  const settle = async (event: Event) => {
    event.preventDefault();
    try {
      await api.send("POST", `metering/exceptions/${e.number}/settle`, { why: why.trim() });
      onSettled();
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <li>
      <p>
        <a href={meterAddress(e.meter, e.channel, e.day)}>{plain(e.meter)}</a> channel {e.channel},{" "}
        {e.day}: <strong>{codesOf(plain(e.status))}</strong>{" "}
        <span class="quiet">
          ({plural(e.intervals, "interval")}, noticed {moment(e.noticed)})
        </span>
      </p>
      {engineer && !open && (
        <button
          type="button"
          aria-label={`Settle exception ${e.number}`}
          onClick={() => setOpen(true)}
        >
          Settle
        </button>
      )}
      {open && (
        <form class="settle" onSubmit={(event) => void settle(event)}>
          <label>
            What was found, or done
            <input
              type="text"
              required
              maxLength={1024}
              value={why}
              onInput={(event) => setWhy(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary">
            Settle it
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Cancel
          </button>
          {problem && (
            <p role="alert" class="problem">
              {plain(problem)}
            </p>
          )}
        </form>
      )}
    </li>
  );
}
