import type { Process } from "../generated/api";
import { LogView } from "./log-view";
import type { PartProps } from "./page";

interface Props extends PartProps {
  process: Process | undefined;
}

/** What the agent prints, as it comes, the newest above. */
export function Log({ api, name, epoch, process }: Props) {
  if (!process) {
    return (
      <section class="card panel" aria-labelledby="log-title">
        <h2 id="log-title">Log</h2>
        <p class="quiet">It runs elsewhere, so its log is there.</p>
      </section>
    );
  }
  return (
    <LogView
      api={api}
      resource={`agents/${encodeURIComponent(name)}/logs/follow`}
      epoch={epoch}
      levels={["info", "warning", "error", "critical"]}
      empty="It has not printed anything."
      kept="The newest 500 lines; the node keeps more."
    />
  );
}
