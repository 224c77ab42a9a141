import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { count, dateTime, plain } from "../format";
import type { AllRules, HeldCount, WithheldReadings } from "../generated/api";
import { reasonOf } from "../language/said";
import { usePoll, wordsOf } from "../use-poll";
import { checkName, doneWords, keptWords, nameOf, rulesOf, ruleWords, type Target } from "./rules";

interface Props {
  api: Api;
  sink: Target;
  title?: string;
  /** Whether the person may see the readings that are withheld. */
  maySee: boolean;
  mayChange: boolean;
  onChanged(): void;
}

const shown = 100;
const seldom = 10_000;

/** What rules found in the readings for a destination or the parent, and what they withhold until a person decides. */
export function Judged({ api, sink: s, title = "Rules", maySee, mayChange, onChanged }: Props) {
  const [rule, setRule] = useState("");
  const ask = useCallback(() => api.get<AllRules>("judge"), [api]);
  const { data, problem } = usePoll(ask, seldom, s.withheld + s.withheld_kept);
  const rules = data ? rulesOf(data, s.name) : [];
  if (data && rules.length === 0 && s.withheld_kept === 0) return null;
  return (
    <section class="card panel" aria-labelledby="judged-title">
      <h2 id="judged-title">{title}</h2>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {rules.length > 0 && (
        <ul class="rules" aria-label="Rules">
          {rules.map((r) => (
            <li key={r.rule}>
              <strong>{plain(r.rule)}</strong> <span class="quiet">{checkName(r.check)}</span>
              <span class="number rule-counts">{ruleWords(r)}</span>
              {r.failing && <p class="problem">{plain(r.failing)}</p>}
            </li>
          ))}
        </ul>
      )}
      {data && <p class="quiet">{keptWords(data, s.name)}</p>}
      {maySee && s.withheld_kept > 0 && (
        <Withheld
          {...{ api, sink: s, mayChange, onChanged, rule, setRule }}
          rules={rules.filter((r) => r.withheld > 0).map((r) => r.rule)}
        />
      )}
    </section>
  );
}

interface WithheldProps extends Omit<Props, "maySee" | "title"> {
  rules: readonly string[];
  rule: string;
  setRule(rule: string): void;
}

/** The readings that are withheld, to look at, release or discard. */
function Withheld({ api, sink: s, mayChange, onChanged, rules, rule, setRule }: WithheldProps) {
  const [said, setSaid] = useState("");
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const at = `judge/${encodeURIComponent(s.name)}`;
  const ask = useCallback(
    () => api.get<WithheldReadings>(`${at}/withheld`, { limit: shown, ...(rule && { rule }) }),
    [api, at, rule],
  );
  const { data, problem } = usePoll(ask, seldom, s.withheld_kept);
  const act = async (what: "release" | "discard") => {
    setBusy(true);
    setWrong("");
    setSaid("");
    try {
      const { readings, kept } = await api.send<HeldCount>("POST", `${at}/${what}`, { rule });
      setSaid(doneWords(what, s.name, readings, kept));
      onChanged();
    } catch (err) {
      setWrong(wordsOf(err));
    }
    setBusy(false);
  };
  const which = rule ? `that ${plain(rule)} withholds` : "that rules withhold";
  const confirmed = (what: "release" | "discard") => {
    const text =
      what === "release"
        ? `Send the readings ${which} to ${nameOf(s.name)}?`
        : `Discard the readings ${which} from ${nameOf(s.name)}? The history of this node keeps them.`;
    if (confirm(text)) void act(what);
  };
  return (
    <>
      <h3 id="withheld-title">Withheld readings</h3>
      <p class="actions">
        {rules.length > 1 && (
          <label class="withheld-rule">
            Rule{" "}
            <select value={rule} onChange={(e) => setRule(e.currentTarget.value)}>
              <option value="">All</option>
              {rules.map((name) => (
                <option key={name} value={name}>
                  {plain(name)}
                </option>
              ))}
            </select>
          </label>
        )}
        {mayChange && (
          <>
            <button
              type="button"
              class="primary"
              disabled={busy}
              onClick={() => confirmed("release")}
            >
              Release
            </button>
            <button
              type="button"
              class="danger"
              disabled={busy}
              onClick={() => confirmed("discard")}
            >
              Discard withheld
            </button>
          </>
        )}
      </p>
      <p role="status" class="done">
        {said}
      </p>
      <p role="alert" class="problem">
        {plain(wrong || problem)}
      </p>
      {data && data.readings.length > 0 && (
        <ul class="refusals" aria-label="Withheld readings">
          {data.readings.map((r, i) => (
            <li key={i}>
              <strong>{plain(r.point)}</strong>{" "}
              <span class="number">
                {plain(r.value)} {r.quality === "good" ? "" : plain(r.quality)}
              </span>
              <span class="quiet">
                {" "}
                of {dateTime(Date.parse(r.time))}, by {plain(r.rule)}
              </span>
              <p class="problem">{reasonOf(r.reason)}</p>
            </li>
          ))}
        </ul>
      )}
      {data && data.readings.length === shown && (
        <p class="quiet">The oldest {count(shown)} are shown.</p>
      )}
    </>
  );
}
