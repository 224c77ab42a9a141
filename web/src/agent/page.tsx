import { plain } from "../format";
import { agentAddress } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { Controls } from "./controls";
import { Crashes } from "./crashes";
import { OwnDocuments } from "./documents";
import { Facts } from "./facts";
import { Log } from "./log";
import { Methods } from "./methods";
import { Rights } from "./rights";
import { standing } from "./row";
import type { Fleet } from "./use-agents";

/** The parts of an agent's page, as its address names them. */
const parts = [
  { key: "", label: "Log" },
  { key: "rights", label: "Rights" },
  { key: "methods", label: "Methods" },
  { key: "ends", label: "Crash reports" },
  { key: "documents", label: "Documents" },
] as const;

interface Props extends ScreenProps {
  name: string;
  fleet: Fleet;
  onChanged(): void;
}

/** One agent: how it is, what can be done with it, its log, rights, methods, reports and documents. */
export function AgentPage(props: Props) {
  const { api, session, place, epoch, name, fleet, onChanged } = props;
  const row = fleet.rows.find((r) => r.name === name);
  if (!row) {
    return (
      <div class="card nothing">
        <h1>There is no agent “{plain(name)}”</h1>
        <p>It may have been removed, or not be installed yet.</p>
        <p class="actions">
          <a class="button" href="/agents">
            Go to the agents
          </a>
        </p>
      </div>
    );
  }
  const at = standing(row);
  const shown = new URLSearchParams(place.search).get("show") ?? "";
  const part = parts.find((p) => p.key === shown)?.key ?? "";
  const common = { api, name, epoch, role: session.role };
  return (
    <div class="screen agents">
      <h1>{plain(name)}</h1>
      <p class="agent-head">
        <span class={`agent-state is-${at.level}`} role="status" aria-label="State">
          <span class="dot" aria-hidden="true" /> {plain(at.words)}
        </span>
        {row.process?.title && <span>{plain(row.process.title)}</span>}
        <a href="/agents">All agents</a>
      </p>
      <Controls {...common} row={row} onChanged={onChanged} />
      <Facts row={row} now={api.now()} />
      <nav class="parts" aria-label="Parts">
        {parts.map((p) => (
          <a
            key={p.key}
            href={agentAddress(name) + (p.key ? `?show=${p.key}` : "")}
            {...(p.key === part ? { "aria-current": "page" as const } : {})}
          >
            {p.label}
            {p.key === "ends" && row.process && row.process.crashes.length > 0
              ? ` (${row.process.crashes.length})`
              : ""}
          </a>
        ))}
      </nav>
      {part === "" && <Log {...common} process={row.process} />}
      {part === "rights" && <Rights {...common} row={row} onChanged={onChanged} />}
      {part === "methods" && <Methods {...common} />}
      {part === "ends" && <Crashes {...common} reports={row.process?.crashes ?? []} />}
      {part === "documents" && <OwnDocuments {...common} />}
    </div>
  );
}

/** What every part is given. */
export interface PartProps {
  api: ScreenProps["api"];
  name: string;
  /** Of who looks. */
  role: string;
  epoch: number;
}
