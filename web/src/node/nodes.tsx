import { useCallback, useState } from "preact/hooks";
import { plain } from "../format";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { known } from "./calls";
import { Join } from "./join";
import { List } from "./list";
import { AbovePart } from "./parent";
import { Parts, partAt } from "./parts";
import "../agent/agents.css";
import "../style/data-table.css";
import "./nodes.css";

const every = 4000;

/** The nodes that are joined with this one: all of them, those that want to, and the one above. */
export function NodesScreen({ api, session, place, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => known(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const here = partAt(place.path);
  const shared = { api, role: session.role, epoch };
  return (
    <div class="screen nodes">
      <h1>Nodes</h1>
      <Parts here={here} waiting={data?.joined.filter((c) => c.state === "pending").length ?? 0} />
      {problem && <p class="problem">{plain(problem)}</p>}
      {here === "/nodes" && data && <List {...data} search={place.search} now={api.now()} />}
      {here === "/nodes/join" && <Join {...shared} onChanged={() => setChanges((n) => n + 1)} />}
      {here === "/nodes/parent" && <AbovePart {...shared} />}
    </div>
  );
}
