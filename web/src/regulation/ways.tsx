import { plain } from "../format";
import type { WorldWay } from "../generated/api";

const names: Record<WorldWay["way"], string> = {
  central: "With a master",
  leader: "With an elected leader",
  gossip: "Without a leader",
  market: "By trade",
};

/** The ways to regulate side by side. */
export function Ways({ ways }: { ways: readonly WorldWay[] }) {
  return (
    <div class="regulation-ways">
      {ways.map((w) => (
        <section key={w.way} class={`card panel regulation-${w.way}`} aria-label={names[w.way]}>
          <h2>
            <span class="swatch" aria-hidden="true" /> {names[w.way]}
          </h2>
          <p class="regulation-leads">{leads(w)}</p>
          <dl class="regulation-facts">
            <Fact name="Score of whole hours" value={share(w.composite)} />
            <Fact name="Precision so far" value={share(w.precision)} />
            <Fact name="Response" value={w.response.toFixed(2)} />
            <Fact name="Power" value={`${w.power.toFixed(0)} kW`} />
            <Fact name="Capacity" value={`${w.capacity.toFixed(1)} kW`} />
            <Fact name="Worst comfort" value={`${w.comfort.toFixed(3)} K·h`} />
            <Fact name="Switches of a unit" value={w.switches.toFixed(1)} />
            <Fact name="Processes that run" value={String(w.members)} />
            <Fact name="Messages" value={String(w.messages)} />
            {w.way === "leader" && <Fact name="Old orders refused" value={String(w.refused)} />}
          </dl>
        </section>
      ))}
    </div>
  );
}

function leads(w: WorldWay): string {
  if (w.way === "gossip") return "Each node decides for its own units.";
  if (w.way === "market" && !w.leader) return "Nobody finds a price at this moment.";
  if (!w.leader) return "Nobody leads at this moment.";
  if (w.way === "market") return `${plain(w.leader)} is the auctioneer.`;
  if (w.way === "central") return "The master decides.";
  return `${plain(w.leader)} leads in term ${w.term}.`;
}

const share = (n: number | null) => (n === null ? "–" : n.toFixed(3));

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
