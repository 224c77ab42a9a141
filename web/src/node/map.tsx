import { plain, plural } from "../format";
import type { Node } from "../generated/api";
import { nodeAddress } from "../shell/place";
import { type Branch, nodeStanding, treeOf } from "./fleet";

interface Props {
  nodes: readonly Node[];
  /** Those that the filter leaves; the others stand there faint. */
  shown: readonly Node[];
  now: number;
}

/** Who hangs under whom: each node a box around its children. */
export function FleetMap({ nodes, shown, now }: Props) {
  const wanted = new Set(shown);
  return (
    <ul class="node-map" aria-label="Map of the nodes">
      {treeOf(nodes).map((b) => (
        <Box key={b.node.path.join("/")} branch={b} wanted={wanted} now={now} />
      ))}
    </ul>
  );
}

interface BoxProps {
  branch: Branch;
  wanted: ReadonlySet<Node>;
  now: number;
}

function Box({ branch: { node: n, below }, wanted, now }: BoxProps) {
  const at = nodeStanding(n, now);
  return (
    <li class={`node-box is-${at.level}${wanted.has(n) ? "" : " is-faint"}`}>
      <p>
        <span class="dot" aria-hidden="true" />{" "}
        <a class="link" href={nodeAddress(n.name)}>
          {plain(n.name)}
        </a>
      </p>
      <p class="node-more">
        {at.words}
        {n.waiting > 0 && `, ${plural(n.waiting, "sample")} wait${n.waiting === 1 ? "s" : ""}`}
      </p>
      {below.length > 0 && (
        <ul>
          {below.map((b) => (
            <Box key={b.node.path.join("/")} branch={b} wanted={wanted} now={now} />
          ))}
        </ul>
      )}
    </li>
  );
}
