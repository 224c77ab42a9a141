import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Node } from "../generated/api";
import { Chains } from "../ledger/chains";
import { usePoll } from "../use-poll";
import "../ledger/ledger.css";

interface Props {
  api: Api;
  node: Node;
  epoch: number;
}

const every = 4000;

/** What the node counted itself of its readings, and what the nodes on their way did. */
export function Proof({ api, node, epoch }: Props) {
  const ask = useCallback(() => api.ledger("all"), [api]);
  const { data: ledger, problem } = usePoll(ask, every, epoch);
  if (node.state === "here") return null;
  if (problem) return <p class="problem">{plain(problem)}</p>;
  return <Chains nodes={ledger?.nodes ?? []} now={api.now()} origins={node.origins} />;
}
