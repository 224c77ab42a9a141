import { useState } from "preact/hooks";
import { count, dateTime, plain } from "../format";
import type { SinkState } from "../generated/api";
import { go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { Backfill } from "./backfill";
import { DestinationForm } from "./form";
import { Judged } from "./judged";
import { Refusals } from "./refusals";
import { Remove } from "./remove";
import { accountWords, behindWords, kindName, levelOf, problemOf, stateName } from "./words";

interface Props extends ScreenProps {
  name: string;
  /** Undefined if there is none of that name. */
  destination: SinkState | undefined;
  onChanged(): void;
}

/** One destination: its account, the history for it, what rules withheld and what it refused. */
export function DestinationPage({ api, session, name, destination: s, problem, onChanged }: Props) {
  const [open, setOpen] = useState<"" | "change" | "remove">("");
  const mayChange = includes(session.role, "administrator");
  if (!s) {
    return (
      <div class="screen destinations">
        <Back />
        <p class="card panel">There is no destination {plain(name)}.</p>
      </div>
    );
  }
  const wrong = problemOf(s);
  return (
    <div class="screen destinations">
      <Back />
      <h1>{plain(s.name)}</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      <section class={`card panel destination is-${levelOf(s)}`} aria-label="State">
        <p class="destination-state">
          <span class="dot" aria-hidden="true" /> {stateName(s)}
        </p>
        {wrong && <p class="problem">{wrong}</p>}
        <p role="status" aria-label="Account">
          {accountWords(s)}
        </p>
        <dl class="destination-facts">
          {facts(s, api.now()).map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      {mayChange && open !== "change" && (
        <p class="actions">
          <button type="button" onClick={() => setOpen("change")}>
            Change
          </button>
          <button type="button" class="danger" onClick={() => setOpen("remove")}>
            Remove
          </button>
        </p>
      )}
      {open === "change" && (
        <DestinationForm
          api={api}
          name={name}
          onClose={() => setOpen("")}
          onDone={() => {
            setOpen("");
            onChanged();
          }}
        />
      )}
      {open === "remove" && (
        <Remove
          api={api}
          name={name}
          onClose={() => setOpen("")}
          onRemoved={() => {
            onChanged();
            go("/destinations");
          }}
        />
      )}
      <Judged
        api={api}
        sink={s}
        maySee={includes(session.role, "operator")}
        mayChange={includes(session.role, "engineer")}
        onChanged={onChanged}
      />
      <Backfill
        api={api}
        sink={s}
        mayAsk={includes(session.role, "engineer")}
        onAsked={onChanged}
      />
      {includes(session.role, "operator") && (
        <Refusals
          api={api}
          sink={s}
          mayChange={includes(session.role, "engineer")}
          onChanged={onChanged}
        />
      )}
    </div>
  );
}

const Back = () => (
  <p>
    <a href="/destinations">All destinations</a>
  </p>
);

function facts(s: SinkState, now: number): readonly (readonly [string, string])[] {
  return [
    ["Kind", kindName(s.kind)],
    ["Address", s.address ? plain(s.address) : "a file"],
    ["Into", plain(s.into)],
    ["Acknowledged", count(s.acknowledged)],
    ["Sent", count(s.sent)],
    ["Refused", count(s.refused)],
    ["Withheld", count(s.withheld)],
    ["Left out", count(s.left_out)],
    ["Dropped by the log", count(s.missing)],
    ["Behind", behindWords(s, now)],
    ["Newest reading", s.newest ? dateTime(Date.parse(s.newest)) : "none yet"],
    ["From the history", count(s.filled)],
    ["Sent again", count(s.accepted)],
    ["Discarded", count(s.discarded)],
  ];
}
