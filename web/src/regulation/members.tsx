import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { Processes } from "../generated/api";
import { includes, type Role } from "../shell/role";
import { usePoll } from "../use-poll";
import { Plot } from "./course";
import { type Decision, type Group, leaderOf, type Member, present, stacked } from "./heard";
import { Stack } from "./stack";
import { useGroups } from "./use-groups";

interface Props {
  api: Api;
  role: Role;
  epoch: number;
}

/** The members of the agent "regulation" that are heard at this node. */
export function Members({ api, role, epoch }: Props) {
  const groups = useGroups(api);
  const ask = useCallback(() => api.get<Processes>("processes"), [api]);
  const { data } = usePoll(ask, 3000, epoch);
  const states = new Map(data?.processes.map((p) => [p.name, p.state]));
  return (
    <>
      {groups.length === 0 && (
        <p class="quiet">
          No agent that regulates real units is heard yet. What members of the agent regulation say
          appears here.
        </p>
      )}
      {groups.map((g) => (
        <GroupPanel key={g.name} api={api} role={role} group={g} states={states} />
      ))}
    </>
  );
}

interface PanelProps {
  api: Api;
  role: Role;
  group: Group;
  /** Of the agents that the node runs, by their names. */
  states: ReadonlyMap<string, string>;
}

function GroupPanel({ api, role, group, states }: PanelProps) {
  const act = useAct();
  const here = present(group, Date.now());
  const leader = leaderOf(here);
  const blocked = act.busy || !includes(role, "operator");
  const ask = (agent: string, what: "stop" | "start") =>
    act.perform(() => api.send("POST", `agents/${encodeURIComponent(agent)}/${what}`));
  const stops = leader !== undefined && states.get(leader.agent) === "running";
  return (
    <section class="card panel regulation-group" aria-label={`Real units: ${group.name}`}>
      <h2>Real units: {plain(group.name)}</h2>
      <p class="regulation-leads" role="status">
        {leader
          ? `${plain(leader.address)} leads in term ${leader.term}.`
          : "Nobody leads at this moment."}
      </p>
      <button
        type="button"
        class="danger"
        disabled={blocked || !stops}
        onClick={() => leader && void ask(leader.agent, "stop")}
      >
        Stop the leader
      </button>
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      <Facts group={group} />
      <Plot
        moments={group.decisions}
        curves={[
          ["signal", "Signal"],
          ["response", "Response"],
        ]}
        label="Signal and response of the real units"
      />
      <Stack units={stacked(group.units)} />
      <MemberTable {...{ group, here, states, blocked }} onStart={(agent) => ask(agent, "start")} />
    </section>
  );
}

function Facts({ group }: { group: Group }) {
  const d: Decision | undefined = group.decisions.at(-1);
  const worst = Math.max(0, ...group.units.map((u) => u.discomfort));
  const switches = group.units.reduce((sum, u) => sum + u.switches, 0);
  return (
    <dl class="regulation-facts">
      <Fact
        name="Precision so far"
        value={d && d.precision !== null ? d.precision.toFixed(3) : "–"}
      />
      <Fact name="Power" value={d ? `${d.power.toFixed(1)} kW` : "–"} />
      <Fact name="Target" value={d ? `${d.target.toFixed(1)} kW` : "–"} />
      <Fact name="Capacity" value={d ? `${d.capacity.toFixed(1)} kW` : "–"} />
      <Fact name="Could rise by" value={d ? `${d.more.toFixed(1)} kW` : "–"} />
      <Fact name="Could fall by" value={d ? `${d.less.toFixed(1)} kW` : "–"} />
      <Fact name="Worst comfort" value={`${worst.toFixed(3)} K·h`} />
      <Fact name="Switches" value={String(switches)} />
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface TableProps {
  group: Group;
  here: readonly Member[];
  states: ReadonlyMap<string, string>;
  blocked: boolean;
  onStart(agent: string): void;
}

function MemberTable({ group, here, states, blocked, onStart }: TableProps) {
  return (
    <div class="scroll-x">
      <table class="data-table regulation-sites">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Units
            </th>
            <th scope="col">
              <span class="unseen">Start</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {group.members.map((m) => (
            <tr key={m.address}>
              <th scope="row">{plain(m.address)}</th>
              <td>{stateOf(m, here.includes(m))}</td>
              <td class="number">{group.units.filter((u) => u.member === m.address).length}</td>
              <td>
                {states.get(m.agent) === "stopped" && (
                  <button type="button" disabled={blocked} onClick={() => onStart(m.agent)}>
                    Start {plain(m.agent)}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function stateOf(m: Member, isHere: boolean) {
  if (!isHere) return <>Silent</>;
  if (m.leads) return <>Leads in term {m.term}</>;
  return m.leader ? <>Follows {plain(m.leader)}</> : <>Listens</>;
}
