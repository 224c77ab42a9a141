import { useEffect, useRef } from "preact/hooks";
import { useAlarms } from "../alarm/use-alarms";
import { isOpen, stateWords } from "../alarm/words";
import type { Api, Session } from "../api";
import type { Alarms } from "../generated/api";
import type { Health } from "../health";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { useBooks } from "../use-site";
import { useCodeAhead } from "./ahead";
import { Banner } from "./banner";
import { useCards } from "./cards";
import { JumpButton, useJump } from "./jump";
import { Bar, Rail } from "./navigation";
import { useParts } from "./parts";
import { go, oldAddress, type Place, usePlace, wanted } from "./place";
import { screenAt } from "./screens";
import { useShortcuts } from "./shortcuts";
import { Stage } from "./stage";
import { useConnection } from "./use-connection";
import { remember } from "./worker";

interface Props {
  api: Api;
  session: Session;
  /** Asks anew who is logged in. */
  refresh(): Promise<void>;
  onLogOut(): void;
}

/** What stands around every screen: the ways to the others, the health of the node, the link to it. */
export function Shell({ api, session, refresh, onLogOut }: Props) {
  const place = usePlace();
  const old = oldAddress(place);
  useEffect(() => {
    if (old) go(old, "replace");
  }, [old]);
  useOwnLinks();
  useCards();
  useShortcuts();
  const connected = useConnection(api);
  const { epoch } = connected;
  const alarms = useAlarms(api, epoch);
  // When the list of alarms changes, so does the verdict
  const { data: books, problem } = useBooks(api, epoch + useChanges(stampOf(alarms.data)));
  const parts = useParts(api, epoch, books !== undefined || problem !== "");
  useCodeAhead(session.role, parts, books !== undefined);
  const screen = old ? undefined : screenAt(place.path);
  const main = useArrival(place.path, screen?.name ?? "Not found");

  const jump = useJump();
  useMemory(alarms.data, books?.health);
  const navigation = {
    ...{ session, parts, here: screen, counts: books?.health.counts },
    ...{ jump, onLogOut },
  };
  const onWall = isWall(place);
  return (
    <div class={onWall ? "shell is-wall-shell" : "shell"}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      {!onWall && <Rail {...navigation} />}
      <div class="content">
        <header class={`top${screen?.path === "" ? " is-home" : ""}`}>
          <Sentence
            health={sentenceOf(problem, books?.health)}
            isAway={connected.link.state === "lost"}
          />
          <Banner {...connected} />
          <JumpButton jump={jump} />
        </header>
        <main id="main" ref={main} tabIndex={-1} aria-label={screen?.name ?? "Not found"}>
          {!old && (
            <Stage
              screen={screen}
              isAway={connected.link.state === "lost"}
              api={api}
              session={session}
              place={place}
              books={books}
              problem={problem}
              alarms={alarms}
              epoch={epoch}
              refresh={refresh}
            />
          )}
        </main>
      </div>
      {!onWall && <Bar {...navigation} />}
      {jump.Shown && (
        <jump.Shown
          {...{ api, session, parts, onLogOut }}
          alarms={alarms.data}
          devices={books?.devices ?? []}
          begun={jump.begun}
          onClose={jump.close}
        />
      )}
    </div>
  );
}

/** Keeps what is heard for the offline page. */
function useMemory(alarms: Alarms | undefined, said: Health | undefined): void {
  useEffect(() => {
    if (!alarms || !said) return;
    const lines = alarms.alarms
      .filter(isOpen)
      .map((a) => `${coded(a.priority)}: ${reasonOf(a.text)}, ${stateWords(a.state)}`);
    remember({ at: Date.now(), sentence: said.text, alarms: lines.slice(0, 20) });
  }, [alarms, said]);
}

const stampOf = (alarms: Alarms | undefined) =>
  alarms ? [alarms.version, ...alarms.nodes.map((n) => n.open)].join(" ") : "";

/** Counts how often a text was another one; the first text after none is no change. */
function useChanges(text: string): number {
  const seen = useRef({ text, changes: 0 });
  if (seen.current.text !== text) {
    seen.current = { text, changes: seen.current.changes + Number(seen.current.text !== "") };
  }
  return seen.current.changes;
}

/** Whether a dashboard is shown on a wall, without the ways to the others. */
const isWall = ({ path, search }: Place) =>
  path.split("/")[1] === "dashboards" && new URLSearchParams(search).has("kiosk");

const sentenceOf = (problem: string, known: Health | undefined): Health | undefined =>
  problem ? { level: "bad", text: `The node does not report its health: ${problem}` } : known;

/** All of it in one sentence, on every screen, with the way to the overview. */
function Sentence({ health, isAway }: { health: Health | undefined; isAway: boolean }) {
  const level = isAway ? "wait" : (health?.level ?? "wait");
  return (
    <p class={`health is-${level}`} role="status" aria-label="Health">
      <span class="dot" aria-hidden="true" />
      <a href="/">{health?.text ?? "Asking the devices…"}</a>
    </p>
  );
}

/** Follows links to screens without loading the page anew. */
function useOwnLinks(): void {
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const address = wanted(event);
      if (address === undefined) return;
      event.preventDefault();
      go(address);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}

/** Names the tab after the screen; on arrival at another one the focus and the top of it come along. */
function useArrival(path: string, name: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    document.title = `${name} · Voltbus`;
  }, [name]);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  return main;
}
