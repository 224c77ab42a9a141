import { useCallback, useState } from "preact/hooks";
import { count, plain, plural } from "../format";
import type { AllRules, AllSinks, SinkState } from "../generated/api";
import { destinationAddress, destinationAt } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { DestinationForm } from "./form";
import { Judged } from "./judged";
import { DestinationPage } from "./page";
import { parentOf } from "./rules";
import { accountWords, behindWords, kindName, levelOf, problemOf, stateName } from "./words";
import "./destinations.css";

const often = 2_000;

/** The destinations of readings, or one of them. */
export function DestinationsScreen(props: ScreenProps) {
  const { api, place, epoch } = props;
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => api.get<AllSinks>("sinks"), [api]);
  const { data, problem } = usePoll(ask, often, epoch + changes);
  const again = () => setChanges((n) => n + 1);
  const name = destinationAt(place);
  if (!data) return <p class="asking">{plain(problem) || "Asking for the destinations…"}</p>;
  if (name) {
    return (
      <DestinationPage
        key={name}
        {...props}
        problem={problem}
        destination={data.sinks.find((s) => s.name === name)}
        name={name}
        onChanged={again}
      />
    );
  }
  return <List {...props} sinks={data.sinks} problem={problem} onChanged={again} />;
}

interface ListProps extends ScreenProps {
  sinks: readonly SinkState[];
  onChanged(): void;
}

function List({ api, session, sinks, problem, onChanged }: ListProps) {
  const [adding, setAdding] = useState(false);
  const mayAdd = includes(session.role, "administrator");
  return (
    <div class="screen destinations">
      <h1>Destinations</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {mayAdd && !adding && (
        <p class="actions">
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add a destination
          </button>
        </p>
      )}
      {adding && (
        <DestinationForm
          api={api}
          name=""
          onClose={() => setAdding(false)}
          onDone={() => {
            setAdding(false);
            onChanged();
          }}
        />
      )}
      {sinks.length === 0 && (
        <section class="card panel" aria-label="How to begin">
          <p>
            Readings are kept in this node's history. A destination gets them, too: a search engine,
            a message broker or a database of others. While it is away nothing is lost.
          </p>
        </section>
      )}
      {sinks.length > 0 && (
        <ul class="destination-cards" aria-label={plural(sinks.length, "destination")}>
          {sinks.map((s) => (
            <li key={s.name}>
              <Card sink={s} now={api.now()} />
            </li>
          ))}
        </ul>
      )}
      <ToParent api={api} session={session} />
    </div>
  );
}

const seldom = 10_000;

/** What rules found in the readings for the parent; nothing if none holds for it. */
function ToParent({ api, session }: Pick<ScreenProps, "api" | "session">) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => api.get<AllRules>("judge"), [api]);
  const { data } = usePoll(ask, seldom, changes);
  const parent = data && parentOf(data);
  if (!parent) return null;
  return (
    <Judged
      api={api}
      sink={parent}
      title="To the parent"
      maySee={includes(session.role, "operator")}
      mayChange={includes(session.role, "engineer")}
      onChanged={() => setChanges((n) => n + 1)}
    />
  );
}

/** One destination in the list. */
function Card({ sink: s, now }: { sink: SinkState; now: number }) {
  const level = levelOf(s);
  const problem = problemOf(s);
  return (
    <section class={`card panel destination is-${level}`} aria-label={plain(s.name)}>
      <div class="panel-head">
        <h2>
          <a class="link" href={destinationAddress(s.name)}>
            {plain(s.name)}
          </a>
        </h2>
        <span class="destination-state">
          <span class="dot" aria-hidden="true" /> {stateName(s)}
        </span>
      </div>
      <p class="quiet destination-where">
        {kindName(s.kind)}
        {s.address && ` at ${plain(s.address)}`}, into {plain(s.into)}
      </p>
      <dl class="destination-facts">
        {(
          [
            ["Sent", count(s.sent)],
            ["Behind", behindWords(s, now)],
            ["Refused", count(s.refused)],
            ["From the history", count(s.filled)],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class={problem ? "problem" : "quiet"}>{problem || accountWords(s)}</p>
    </section>
  );
}
