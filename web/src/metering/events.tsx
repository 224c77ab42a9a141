import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { MeterEvent, MeterEvents } from "../generated/api";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { meterAddress } from "../shell/place";
import { usePoll } from "../use-poll";
import { moment } from "./missing";
import { TableBox } from "./table-box";

const most = 50;

interface Props {
  api: Api;
  epoch: number;
  /** Only those of this meter; with its id nothing is left out of the table. */
  meter?: string;
  /** Milliseconds: events after it, and not after the other; all without them. */
  from?: number;
  to?: number;
}

/** What meters reported, the newest first: outages, tampering, voltage and the like. */
export function Events({ api, epoch, meter, from, to }: Props) {
  const ask = useCallback(
    () =>
      api.get<MeterEvents>("metering/events", {
        limit: most,
        ...(meter && { meter }),
        ...(from !== undefined && { from: new Date(from).toISOString() }),
        ...(to !== undefined && { to: new Date(to).toISOString() }),
      }),
    [api, meter, from, to],
  );
  const { data, problem } = usePoll(ask, 30_000, epoch);
  const list = data?.events ?? [];
  if (!problem && list.length === 0 && !meter) return null;
  return (
    <section class="card panel" aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {data && list.length === 0 && <p class="quiet">The meter reported no events.</p>}
      {list.length > 0 && <Table list={list} named={!meter} />}
      {list.length === most && <p class="quiet">The newest {most}.</p>}
    </section>
  );
}

const Table = ({ list, named }: { list: readonly MeterEvent[]; named: boolean }) => (
  <TableBox label="Events of meters">
    <table class="metering-table">
      <thead>
        <tr>
          <th scope="col">Time</th>
          {named && <th scope="col">Meter</th>}
          <th scope="col">Event</th>
          <th scope="col">Severity</th>
          <th scope="col">Detail</th>
        </tr>
      </thead>
      <tbody>
        {list.map((e) => (
          <tr key={e.number}>
            <th scope="row">{moment(e.at)}</th>
            {named && (
              <td>
                <a href={meterAddress(e.meter)}>{plain(e.meter)}</a>
              </td>
            )}
            <td>
              {coded(plain(e.kind))} {e.code && <span class="quiet">{plain(e.code)}</span>}
            </td>
            <td class={e.severity === "information" ? "" : `is-${e.severity}`}>
              {coded(e.severity)}
            </td>
            <td>{reasonOf(e.detail ?? "")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </TableBox>
);
