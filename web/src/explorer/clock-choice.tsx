import { ownZone } from "../zone";
import { type Clock, clocks, type ExplorerView, zoneOf } from "./view";

interface Props {
  view: ExplorerView;
  /** The configured zone of the site, "" without one. */
  site: string;
  onShow(next: ExplorerView): void;
}

/** Whose clock the times are of. A site that names no zone has only that of this browser, and UTC. */
export function ClockChoice({ view, site, onShow }: Props) {
  const names: Record<Clock, string> = {
    site: site ? `Site: ${zoneOf("site", site)}` : ownZone(),
    browser: `This browser: ${ownZone()}`,
    utc: "UTC",
  };
  const offered = clocks.filter((c) => c !== "browser" || site !== "");
  const chosen = offered.includes(view.clock) ? view.clock : "site";
  return (
    <label class="clock">
      <span class="unseen">Time zone</span>
      <select
        value={chosen}
        onChange={(e) =>
          onShow({ ...view, clock: offered[e.currentTarget.selectedIndex] ?? "site" })
        }
      >
        {offered.map((c) => (
          <option key={c} value={c}>
            {names[c]}
          </option>
        ))}
      </select>
    </label>
  );
}
