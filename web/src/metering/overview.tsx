import { useCallback, useState } from "preact/hooks";
import { count, plain, plural } from "../format";
import type { MeterJudgement, MeterMissing } from "../generated/api";
import { go, meterAddress } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll, wordsOf } from "../use-poll";
import { Events } from "./events";
import { Exceptions } from "./exceptions";
import { MissingList } from "./missing";
import { Progress } from "./progress";
import { dayAfter, dayOf, share, startOf } from "./words";

const day = 24 * 3600 * 1000;

/** How complete a day is, what is missing of it, and what validation doubts. */
export function MeteringOverview({ api, session, place, epoch }: ScreenProps) {
  const asked = new URLSearchParams(place.search).get("day") ?? dayOf(api.now() - day);
  const [judged, setJudged] = useState(0);
  const ask = useCallback(
    () => api.get<MeterMissing>("metering/missing", { day: asked, limit: 200 }),
    [api, asked],
  );
  const { data, problem } = usePoll(ask, 30_000, epoch + judged);
  const shown = data?.day === asked ? data : undefined;
  const engineer = includes(session.role, "engineer");
  return (
    <>
      <div class="metering-head">
        <h1>Meters</h1>
        <label>
          Day
          <input
            type="date"
            value={asked}
            onChange={(e) => {
              const { value } = e.currentTarget;
              if (value) go(`/metering?${new URLSearchParams({ day: value })}`, "replace");
            }}
          />
        </label>
        <FindMeter />
      </div>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!shown && !problem && <p class="asking">Counting the readings…</p>}
      {shown && (
        <Completeness missing={shown}>
          {engineer && <Validate api={api} day={asked} onDone={() => setJudged((n) => n + 1)} />}
        </Completeness>
      )}
      {shown && <Progress api={api} day={asked} epoch={epoch + judged} expected={shown.expected} />}
      {shown && shown.list.length > 0 && <MissingList missing={shown} />}
      <Events api={api} epoch={epoch} from={startOf(asked)} to={startOf(dayAfter(asked))} />
      <Exceptions api={api} engineer={engineer} epoch={epoch + judged} />
    </>
  );
}

/** The way to a meter whose id is known. */
function FindMeter() {
  const [id, setId] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (id.trim()) go(meterAddress(id.trim()));
  };
  return (
    <form class="find-meter" aria-label="Open a meter" onSubmit={submit}>
      <label>
        Meter
        <input
          type="search"
          required
          maxLength={64}
          autocomplete="off"
          spellcheck={false}
          placeholder="its id"
          value={id}
          onInput={(e) => setId(e.currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  );
}

interface CompletenessProps {
  missing: MeterMissing;
  children: preact.ComponentChildren;
}

function Completeness({ missing: m, children }: CompletenessProps) {
  const lacking = m.expected - m.received;
  return (
    <section class="card panel" aria-labelledby="complete-title">
      <div class="panel-head">
        <h2 id="complete-title">Readings of {m.day}</h2>
        {children}
      </div>
      <dl class="metering-figures">
        <div>
          <dt>Expected</dt>
          <dd>{count(m.expected)}</dd>
        </div>
        <div>
          <dt>Received</dt>
          <dd>
            {count(m.received)} <span class="quiet">{share(m.received, m.expected)}</span>
          </dd>
        </div>
        <div>
          <dt>Missing</dt>
          <dd class={lacking > 0 ? "is-lacking" : ""}>
            {count(lacking)}
            {lacking > 0 && <span class="quiet"> of {plural(m.channels, "channel")}</span>}
          </dd>
        </div>
      </dl>
      <meter
        aria-label={`Received ${share(m.received, m.expected)}`}
        min={0}
        max={Math.max(1, m.expected)}
        value={m.received}
      />
    </section>
  );
}

interface ValidateProps {
  api: ScreenProps["api"];
  day: string;
  onDone(): void;
}

/** Validates a day now instead of an hour after its end. */
function Validate({ api, day: d, onDone }: ValidateProps) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState({ words: "", wrong: false });
  const run = async () => {
    setBusy(true);
    try {
      const j = await api.send<MeterJudgement>("POST", "metering/validate", { day: d });
      setSaid({ words: wordsOfJudgement(j), wrong: false });
      onDone();
    } catch (err) {
      setSaid({ words: wordsOf(err), wrong: true });
    }
    setBusy(false);
  };
  return (
    <span class="validate">
      <span role="status" class={said.wrong ? "problem" : "quiet"}>
        {plain(said.words)}
      </span>
      <button type="button" disabled={busy} onClick={() => void run()}>
        {busy ? "Validating…" : "Validate now"}
      </button>
    </span>
  );
}

function wordsOfJudgement(j: MeterJudgement): string {
  if (j.channels === 0) return "Nothing was waiting for validation.";
  const doubted = j.doubted > 0 ? `, ${count(j.doubted)} doubted` : "";
  return `${plural(j.channels, "channel")}: ${count(j.validated)} validated${doubted}, ${count(j.estimated)} estimated.`;
}
