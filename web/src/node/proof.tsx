import type { Api } from "../api";
import { plain } from "../format";
import type { Node } from "../generated/api";
import { Chains } from "../ledger/chains";
import { useLedger } from "./use-fleet";
import "../ledger/ledger.css";

interface Props {
  api: Api;
  node: Node;
}

/** What the node counted itself of its readings, and what the nodes on their way did. */
export function Proof({ api, node }: Props) {
  const { data: ledger, problem } = useLedger(api);
  if (node.state === "here") return null;
  if (problem) return <p class="problem">{plain(problem)}</p>;
  return <Chains nodes={ledger?.nodes ?? []} now={api.now()} origins={node.origins} />;
}
