import { bytes, count, plural } from "../format";
import type { LiveFlow, LiveLink } from "../generated/api";
import { reasonOf } from "../language/said";
import { wantedWords, withheldWords } from "./live-words";

/** What live messages cost a link between two nodes. */
export function LiveCost({ link }: { link: LiveLink }) {
  return (
    <section class="card panel" aria-labelledby="live-cost-title">
      <h2 id="live-cost-title">Live messages on the link</h2>
      {!link.connected && <p class="quiet">Live messages are not connected now.</p>}
      {link.refused > 0 && (
        <p class="problem">
          {plural(link.refused, "message")} refused; the last: {reasonOf(link.reason)}
        </p>
      )}
      {link.up.withheld?.map((w) => (
        <p key={w.node + w.subject} class="problem">
          {withheldWords(w)}
        </p>
      ))}
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">Direction</th>
            <th scope="col">Wanted</th>
            {["Messages", "On the link", "Dropped"].map((c) => (
              <th key={c} scope="col" class="number">
                {c}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Way name="Up" flow={link.up} />
          <Way name="Down" flow={link.down} />
        </tbody>
      </table>
    </section>
  );
}

const Way = ({ name, flow: f }: { name: string; flow: LiveFlow }) => (
  <tr>
    <th scope="row">{name}</th>
    <td>{wantedWords(f)}</td>
    <td class="number">{count(f.messages)}</td>
    <td class="number">{bytes(f.octets)}</td>
    <td class="number">{count(f.dropped)}</td>
  </tr>
);
