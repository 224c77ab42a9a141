import { useEffect, useState } from "preact/hooks";
import type { Session } from "./api";
import { clock } from "./format";
import type { Health } from "./health";
import { Mark } from "./mark";
import type { Link } from "./stream";

interface Props {
  session: Session;
  health: Health | undefined;
  link: Link;
  /** How often the link came back. */
  epoch: number;
  onLogOut(): void;
}

/** Who is logged in, and in one sentence whether all is well. */
export function Header({ session, health, link, epoch, onLogOut }: Props) {
  const lost = link.state === "lost";
  const level = lost ? "bad" : (health?.level ?? "wait");
  return (
    <header class="top">
      <h1>
        <Mark /> Voltbus
      </h1>
      <p class={`health is-${level}`} role="status" aria-label="Health">
        <span class="dot" aria-hidden="true" />
        <span>{lost ? lostWords(link) : (health?.text ?? "Asking the devices…")}</span>
      </p>
      <Returned epoch={epoch} />
      <span class="who">
        <span title={`Logged in as ${session.user}, ${session.role}`}>{session.user}</span>
        <button type="button" onClick={onLogOut}>
          Log out
        </button>
      </span>
    </header>
  );
}

function lostWords(link: Link & { state: "lost" }): string {
  const since = `The node has not answered since ${clock(link.since)}; trying again`;
  return link.why ? `${since}. ${link.why}` : `${since}. What you see is as old as that.`;
}

/** Says for a few seconds that the link came back. */
function Returned({ epoch }: { epoch: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (epoch === 0) return;
    setShown(true);
    const timer = setTimeout(() => setShown(false), 8000);
    return () => clearTimeout(timer);
  }, [epoch]);
  return (
    <p class="returned" role="status" aria-label="Connection">
      {shown ? "Connected again." : ""}
    </p>
  );
}
