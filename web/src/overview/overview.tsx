import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { age, dateTime, plural } from "../format";
import { type Health, hasOthers, words } from "../health";
import { go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { type Change, type Happening, happenings } from "./events";
import "./overview.css";
import type { Setup } from "../welcome/setup";
import { type Trouble, troubles } from "./troubles";

/** Whether all is well and what to do if not, the building, and what changed. */
export function OverviewScreen(props: ScreenProps) {
  const { api, session, books, problem, epoch, alarms } = props;
  const mayReadChanges = includes(session.role, "engineer");
  const ask = useCallback(() => askMore(api, mayReadChanges), [api, mayReadChanges]);
  const { data: more } = usePoll(ask, 15_000, epoch);
  const isFresh = more?.needsPeople === true && books?.devices.length === 0;
  useEffect(() => {
    if (isFresh) go("/welcome", "replace");
  }, [isFresh]);
  if (!books || isFresh)
    return <p class="asking">{problem || "Asking the node for its health…"}</p>;

  const { devices, ledger, concerns, health } = books;
  const now = api.now();
  const events = happenings(
    { devices, ledger, started: more?.started ?? "", changes: more?.changes ?? [] },
    now - day,
  );
  return (
    <div class="screen overview">
      <h1>Overview</h1>
      <Verdict health={health} troubles={troubles(concerns)} />
      {more?.needsPeople && <FirstPerson />}
      {devices.length === 0 && !hasOthers(ledger) && <FirstDevice role={session.role} />}
      {devices.length + (ledger.origins?.length ?? 0) > 0 && (
        <Building api={api} alarms={alarms.data} epoch={epoch} />
      )}
      <Events events={events} now={now} />
      <p class="quiet">
        How much goes through, and the proof that nothing is lost, stand under{" "}
        <a href="/system">System</a>.
      </p>
    </div>
  );
}

const day = 86_400_000;

interface More {
  started: string;
  changes: readonly Change[];
  /** Whether nobody can log in with a password yet. */
  needsPeople: boolean;
}

type HomeBoard = typeof import("../dashboard/home").default;

/** The dashboard of the home page, whose code comes after the verdict is shown. */
function Building(props: Parameters<HomeBoard>[0]) {
  const [loaded, setLoaded] = useState<{ show: HomeBoard }>();
  const { epoch } = props;
  useEffect(() => {
    import("../dashboard/home").then(
      (module) => setLoaded({ show: module.default }),
      () => undefined, // the node is away; it is asked again when it is back
    );
  }, [epoch]);
  return loaded ? <loaded.show {...props} /> : null;
}

async function askMore(api: Api, mayReadChanges: boolean): Promise<More> {
  const [node, setup, changes] = await Promise.all([
    api.health(),
    orNothing(api.get<Setup>("setup")),
    mayReadChanges ? orNothing(api.get<{ history?: Change[] | null }>("config")) : undefined,
  ]);
  return {
    started: node.started ?? "",
    changes: changes?.history ?? [],
    needsPeople: setup?.needed ?? false,
  };
}

/** What a node need not have: its absence is no trouble. */
async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (err) {
    if (err instanceof Problem) return undefined;
    throw err;
  }
}

/** All of it in a word and a sentence, and below it what to do. */
function Verdict({ health, troubles }: { health: Health; troubles: readonly Trouble[] }) {
  const { level } = health;
  return (
    <section class={`card verdict is-${level}`} aria-label="Verdict">
      <p class="verdict-word">
        <span class="dot" aria-hidden="true" />
        {words[level]}
      </p>
      <p class="verdict-text">{health.text}.</p>
      {troubles.length > 0 && (
        <ul class="troubles" aria-label={`What to do: ${plural(troubles.length, "thing")}`}>
          {troubles.map((t, i) => (
            <li key={i} class={`is-${t.level}`}>
              <a href={t.address}>{t.title}</a>
              {t.advice && <p>{t.advice}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What a node without people needs. */
const FirstPerson = () => (
  <section class="card panel" aria-label="First person">
    <p>
      Nobody can log in with a name and a password yet, only by the node's token.{" "}
      <a href="/welcome">Create the administrator</a>.
    </p>
  </section>
);

/** What a node without devices needs. */
function FirstDevice({ role }: { role: string }) {
  return (
    <section class="card panel" aria-label="First device">
      <p>Nothing is collected yet, because no device is configured.</p>
      {includes(role, "engineer") ? (
        <p class="actions">
          <a class="button primary" href="/welcome">
            Add the first device
          </a>
        </p>
      ) : (
        <p class="quiet">Somebody with the role engineer can add one.</p>
      )}
    </section>
  );
}

const mostEvents = 12;

function Events({ events, now }: { events: readonly Happening[]; now: number }) {
  return (
    <section class="card panel" aria-labelledby="events-title">
      <h2 id="events-title">What changed in the last 24 hours</h2>
      {events.length === 0 && <p class="quiet">Nothing: no device failed, no gap, no change.</p>}
      <ul class="events">
        {events.slice(0, mostEvents).map((e, i) => (
          <li key={i} class={`is-${e.level}`}>
            <span class="dot" aria-hidden="true" />
            <time
              class="quiet number"
              dateTime={new Date(e.at).toISOString()}
              title={dateTime(e.at)}
            >
              {age(now - e.at)}
            </time>
            {e.address ? <a href={e.address}>{e.text}</a> : <span>{e.text}</span>}
          </li>
        ))}
      </ul>
      {events.length > mostEvents && (
        <p class="quiet">… and {plural(events.length - mostEvents, "more event")}.</p>
      )}
    </section>
  );
}
