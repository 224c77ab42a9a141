import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { AlarmRules, KeptAlarmRule } from "../generated/api";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import { RuleForm } from "./rule-form";
import { ruleWords } from "./words";

const calm = 30_000;

/** The rules, asked again when one has changed. A node of an older version has none. */
export function useRules(api: Api, epoch: number) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(async () => {
    try {
      return (await api.get<AlarmRules>("alarms/rules")).rules;
    } catch (err) {
      if (err instanceof Problem && err.status === 404) return undefined;
      throw err;
    }
  }, [api]);
  const polled = usePoll(ask, calm, epoch + changes);
  return { ...polled, again: () => setChanges((n) => n + 1) };
}

interface Props {
  api: Api;
  role: string;
  epoch: number;
}

/** All rules, and a form for one more. */
export function Rules({ api, role, epoch }: Props) {
  const rules = useRules(api, epoch);
  const engineer = includes(role, "engineer");
  return (
    <section class="card panel" aria-labelledby="rules-title">
      <h2 id="rules-title">Rules</h2>
      {rules.problem && <p class="problem">{plain(rules.problem)}</p>}
      {rules.data?.length === 0 && (
        <p class="quiet">
          There are no rules. Open the page of a point to make one for it, or write one here for
          many points.
        </p>
      )}
      <RuleList list={rules.data ?? []} {...{ api, engineer }} onDone={rules.again} />
      {engineer && (
        <details class="alarm-more">
          <summary>New rule for many points…</summary>
          <RuleForm api={api} onDone={rules.again} />
        </details>
      )}
    </section>
  );
}

interface PointProps extends Props {
  path: string;
  unit: string;
}

/** The rules that name a point, and a form for one more. */
export function PointAlarms({ api, role, epoch, path, unit }: PointProps) {
  const rules = useRules(api, epoch);
  const own = (rules.data ?? []).filter((r) => r.rule.points.includes(path));
  const engineer = includes(role, "engineer");
  return (
    <section class="card panel" aria-labelledby="point-alarms">
      <h2 id="point-alarms">Alarms of this point</h2>
      {rules.problem && <p class="problem">{plain(rules.problem)}</p>}
      {own.length === 0 && (
        <p class="quiet">
          No rule names this point. Rules for many points may select it: they are on the screen{" "}
          <a href="/alarms">Alarms</a>.
        </p>
      )}
      <RuleList list={own} {...{ api, engineer }} onDone={rules.again} />
      {engineer ? (
        <RuleForm key={path} api={api} path={path} unit={unit} onDone={rules.again} />
      ) : (
        <p class="quiet">To make a rule needs the role engineer.</p>
      )}
    </section>
  );
}

interface ListProps {
  list: readonly KeptAlarmRule[];
  api: Api;
  engineer: boolean;
  onDone(): void;
}

function RuleList({ list, ...rest }: ListProps) {
  return (
    <ul class="alarm-rules">
      {list.map((r) => (
        <RuleItem key={r.rule.name} kept={r} {...rest} />
      ))}
    </ul>
  );
}

interface ItemProps extends Omit<ListProps, "list"> {
  kept: KeptAlarmRule;
}

function RuleItem({ kept, api, engineer, onDone }: ItemProps) {
  const act = useAct();
  const { rule } = kept;
  const remove = async () => {
    const address = `alarms/rules/${encodeURIComponent(rule.name)}`;
    if (await act.perform(() => api.send("DELETE", address))) onDone();
  };
  return (
    <li>
      <span class="alarm-text">
        <strong>{plain(rule.name)}</strong> {coded(plain(rule.priority ?? "medium"))},{" "}
        {plain(ruleWords(rule))}:{" "}
        {rule.points.slice(0, 3).map((p, i) => (
          <span key={p}>
            {i > 0 && ", "}
            {p.includes("*") ? plain(p) : <a href={pointAddress(p)}>{plain(p)}</a>}
          </span>
        ))}
        {rule.points.length > 3 && ` and ${rule.points.length - 3} more`}
        {kept.unjudged?.map((why) => (
          <span key={why} class="alarm-unjudged is-warn">
            <span class="dot" aria-hidden="true" /> Cannot be judged: {reasonOf(why)}.
          </span>
        ))}
        {kept.wrong && <span class="problem"> {reasonOf(kept.wrong)}</span>}
        {act.problem && <span class="problem"> {plain(act.problem)}</span>}
      </span>
      {engineer && (
        <button
          type="button"
          aria-label={`Delete the rule ${plain(rule.name)}`}
          disabled={act.busy}
          onClick={() => void remove()}
        >
          Delete
        </button>
      )}
    </li>
  );
}
