import { plain } from "../format";
import type { ScreenProps } from "../shell/screens";
import { Join } from "./join";
import { List } from "./list";
import { AbovePart } from "./parent";
import { Parts, partAt } from "./parts";
import { useChildren, useFleet } from "./use-fleet";
import "../agent/agents.css";
import "../style/data-table.css";
import "./nodes.css";

/** The nodes that are joined with this one: all of them, those that want to, and the one above. */
export function NodesScreen({ api, session, place, epoch }: ScreenProps) {
  const { data: fleet, problem } = useFleet(api);
  const { data: joined, problem: other, again } = useChildren(api, fleet, epoch);
  const here = partAt(place.path);
  const shared = { api, role: session.role, epoch };
  return (
    <div class="screen nodes">
      <h1>Nodes</h1>
      <Parts here={here} waiting={joined?.filter((c) => c.state === "pending").length ?? 0} />
      {(problem || other) && <p class="problem">{plain(problem || other)}</p>}
      {here === "/nodes" && fleet && joined && (
        <List {...{ fleet, joined }} search={place.search} now={api.now()} />
      )}
      {here === "/nodes/join" && <Join {...shared} onChanged={again} />}
      {here === "/nodes/parent" && <AbovePart {...shared} />}
    </div>
  );
}
