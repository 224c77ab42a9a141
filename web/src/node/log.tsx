import { useMemo } from "preact/hooks";
import { LogView } from "../agent/log-view";
import type { Api } from "../api";
import type { Node } from "../generated/api";
import { allowWords } from "./words";

interface Props {
  api: Api;
  node: Node;
  epoch: number;
}

/** The node's own log, as it grows; that of another node is asked for through the tree. */
export function NodeLog({ api, node: { name, state }, epoch }: Props) {
  const far = useMemo(() => (state === "here" ? api : api.at(name)), [api, name, state === "here"]);
  return (
    <LogView
      api={far}
      resource="log/follow"
      epoch={epoch}
      levels={["info", "warning", "error"]}
      empty="It has not logged anything."
      kept="The newest 500 lines; the node keeps its newest, up to 1 MiB. Both audit logs are told who reads."
      missing={(capability) => allowWords(name, capability)}
    />
  );
}
