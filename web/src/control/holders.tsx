import type { ControlHolder } from "../generated/api";
import { holderWords } from "./words";

interface Props {
  holders: readonly ControlHolder[];
  me: string;
  now: number;
}

/** Who stands in the way: who, what, until when and why. */
export function Holders({ holders, me, now }: Props) {
  if (holders.length === 0) return null;
  return (
    <ul class="control-holders" aria-label="In the way">
      {holders.map((h) => (
        <li key={`${h.requester} ${h.command} ${h.task} ${h.path} ${h.from}`}>
          {holderWords(h, me, now)}
        </li>
      ))}
    </ul>
  );
}
