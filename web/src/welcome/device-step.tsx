import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { count, plain, plural, qualityName, reasonFor, span, unit, value } from "../format";
import type { Driver, Drivers } from "../generated/api";
import { adviceFor } from "../health";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import { SiteField } from "./account-step";
import { BacnetFields } from "./bacnet-fields";
import {
  configOf,
  type Draft,
  findsPoints,
  firstDraft,
  gapOf,
  intervals,
  models,
  pathOf,
  reordered,
} from "./draft";
import { ModbusFields } from "./modbus-fields";
import { OpcuaFields } from "./opcua-fields";
import { RawTable } from "./raw-table";
import { settingsOf } from "./schema";
import { SettingFields } from "./setting-fields";
import { addDevice, problemsOf, type Trial, type TriedPoint, tryDevice } from "./setup";

interface Props {
  api: Api;
  role: string;
  site: string;
  onSite(site: string): void;
  /** What the form is called. */
  label?: string;
  /** Is told the path of the device. */
  onAdded(path: string): void;
}

/** Describes a device, tries it, and adds it to the configuration. */
export function DeviceStep({ api, role, site, onSite, label = "First device", onAdded }: Props) {
  const [draft, setDraft] = useState(firstDraft);
  const drivers = useDrivers(api, role);
  const { tried, problems, busy, attempt, add } = useAttempts(
    api,
    draft,
    pathOf(site, draft.name),
    onAdded,
  );
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const order = useOrder(draft, set, attempt);
  if (!includes(role, "engineer")) {
    return <p class="card panel">Devices are added by somebody with the role engineer.</p>;
  }
  return (
    <form
      class="card panel"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Kinds draft={draft} drivers={drivers} onChoose={set} />
      <div class="fields">
        <SiteField site={site} onSite={onSite} />
        <label>
          Name of the device
          <input
            type="text"
            required
            maxLength={128}
            autocomplete="off"
            value={draft.name}
            onInput={(e) => set({ name: e.currentTarget.value })}
          />
        </label>
        <Choice
          label="Polling interval"
          value={draft.interval}
          options={intervals}
          onChoose={(interval) => set({ interval })}
        />
        {draft.driver === "sim" && (
          <Choice
            label="What it simulates"
            value={draft.model}
            options={models.map((m) => [m.model, m.name])}
            onChoose={(model) => set({ model })}
          />
        )}
      </div>
      {draft.driver === "modbus" && <ModbusFields api={api} draft={draft} onChange={set} />}
      {draft.driver === "bacnet" && (
        <BacnetFields api={api} site={site} draft={draft} onChange={set} />
      )}
      {draft.driver === "opcua" && <OpcuaFields api={api} draft={draft} onChange={set} />}
      {!ownForms.has(draft.driver) && <SettingFields draft={draft} onChange={set} />}
      <Outcome tried={tried} problems={problems} onOrder={order.choose} />
      {order.byHand !== "" && (
        <p class="problem" role="alert">
          Write the order of {plain(order.byHand)} into the list by hand, in its column byte_order.
        </p>
      )}
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void attempt()}>
          {busy ? "Trying…" : "Try it"}
        </button>
        <button type="submit" class="primary" disabled={busy}>
          Add the device
        </button>
        <span class="quiet">
          Other drivers, and more of each: <a href="/settings">Settings</a>.
        </span>
      </p>
    </form>
  );
}

/** Choosing the order of the bytes of registers; what it means is tried at once. */
function useOrder(
  draft: Draft,
  set: (change: Partial<Draft>) => void,
  attempt: () => Promise<void>,
) {
  const [byHand, setByHand] = useState("");
  const [again, setAgain] = useState(0);
  // The draft has the other order by then
  useEffect(() => {
    if (again > 0) void attempt();
  }, [again]);
  const choose = (register: string, order: string) => {
    const change = reordered(draft, register, order);
    setByHand(change ? "" : register);
    if (!change) return;
    set(change);
    setAgain(again + 1);
  };
  return { byHand, choose };
}

interface KindsProps {
  draft: Draft;
  drivers: readonly Driver[];
  onChoose(change: Partial<Draft>): void;
}

/** The drivers of the node to choose from. */
function Kinds({ draft, drivers, onChoose }: KindsProps) {
  return (
    <fieldset class="kinds">
      <legend>What is it?</legend>
      <Kind draft={draft} kind="sim" title="A simulated device" onChoose={onChoose}>
        Part of a building that behaves plausibly. Nothing is needed for it.
      </Kind>
      <Kind draft={draft} kind="modbus" title="A Modbus device" onChoose={onChoose}>
        A meter, controller or gateway that speaks Modbus TCP.
      </Kind>
      <Kind draft={draft} kind="bacnet" title="A BACnet device" onChoose={onChoose}>
        A controller of a building that speaks BACnet/IP, also behind a router.
      </Kind>
      <Kind draft={draft} kind="opcua" title="An OPC UA server" onChoose={onChoose}>
        A controller or a control system of a plant that speaks OPC UA.
      </Kind>
      {drivers
        .filter((d) => !ownForms.has(d.kind))
        .map((d) => (
          <Kind
            key={d.kind}
            draft={draft}
            kind={d.kind}
            title={titles[d.kind] ?? `The driver ${plain(d.kind)}`}
            onChoose={(change) =>
              onChoose({ ...change, settings: settingsOf(d.schema), typed: {} })
            }
          >
            {plain(d.doc)}
          </Kind>
        ))}
    </fieldset>
  );
}

/** The drivers with a form of their own. */
const ownForms: ReadonlySet<string> = new Set(["sim", "modbus", "bacnet", "opcua"]);

const titles: Record<string, string> = {
  dnp3: "A DNP3 outstation",
  mqtt: "Topics of an MQTT broker",
};

/** The drivers that the node has; none until it answered. */
function useDrivers(api: Api, role: string) {
  const ask = useCallback(
    async () =>
      includes(role, "engineer") ? (await api.get<Drivers>("drivers")).drivers : undefined,
    [api, role],
  );
  return usePoll(ask, 10 * 60_000, 0).data ?? [];
}

/** Trying and adding a draft, one at a time, and what came of the last attempt, as long as the draft is what it was. */
function useAttempts(api: Api, draft: Draft, path: string, onAdded: (path: string) => void) {
  const [tried, setTried] = useState<Trial>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [attempted, setAttempted] = useState("");
  const [busy, setBusy] = useState(false);
  const { driver, interval } = draft;
  const config = configOf(draft);
  const key = JSON.stringify([path, driver, config]);
  const isSame = attempted === key;
  const during = async (work: () => Promise<void>) => {
    const gap = gapOf(draft);
    setAttempted(key);
    setProblems(gap ? [gap] : []);
    setTried(undefined);
    if (gap) return;
    setBusy(true);
    try {
      await work();
    } catch (err) {
      setProblems(problemsOf(err));
    }
    setBusy(false);
  };
  const tryIt = async () => {
    const trial = await tryDevice(api, driver, config);
    setTried(trial);
    return trial.kind === "" && (trial.points ?? []).every((p) => p.quality === "good");
  };
  const pointsOf = async () => {
    const trial = isSame && tried?.kind === "" ? tried : await tryDevice(api, driver, config);
    setTried(trial);
    return (trial.points ?? []).flatMap((p) => (p.entry ? [p.entry] : []));
  };
  const isUntriedList = driver === "modbus" && draft.fromList && !(isSame && tried);
  return {
    tried: isSame ? tried : undefined,
    problems: isSame ? problems : [],
    busy,
    attempt: () => during(async () => void (await tryIt())),
    add: () =>
      during(async () => {
        if (isUntriedList && !(await tryIt())) {
          setProblems(["It is not added yet. Press Add the device again to add it as it is."]);
          return;
        }
        const entries = findsPoints(draft) ? await pointsOf() : undefined;
        if (entries?.length === 0) return;
        await addDevice(api, {
          path,
          driver,
          interval,
          config: entries ? { ...config, registry: entries } : config,
        });
        onAdded(path);
      }),
  };
}

interface KindProps {
  draft: Draft;
  kind: Draft["driver"];
  title: string;
  onChoose(change: Partial<Draft>): void;
  children: string;
}

function Kind({ draft, kind, title, onChoose, children }: KindProps) {
  return (
    <label class="kind">
      <input
        type="radio"
        name="driver"
        checked={draft.driver === kind}
        onChange={() => onChoose({ driver: kind })}
      />
      <span>
        <strong>{title}</strong>
        <span class="quiet">{children}</span>
      </span>
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChoose(value: string): void;
}

/** A list to choose from, with its label. */
export function Choice({ label, value: chosen, options, onChoose }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={chosen} onChange={(e) => onChoose(e.currentTarget.value)}>
        {options.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const mostShown = 20;

interface OutcomeProps {
  tried: Trial | undefined;
  problems: readonly string[];
  onOrder(register: string, order: string): void;
}

/** What the attempt brought: values, or what is wrong. */
function Outcome({ tried, problems, onOrder }: OutcomeProps) {
  return (
    <div role="status" aria-label="Outcome">
      {problems.slice(0, mostShown).map((p, i) => (
        <p key={i} class="problem">
          {plain(p)}
        </p>
      ))}
      {problems.length > mostShown && (
        <p class="quiet">… and {plural(problems.length - mostShown, "more problem")}.</p>
      )}
      {tried?.notes?.slice(0, mostShown).map((note) => (
        <p key={note} class="quiet detail">
          {plain(note)}
        </p>
      ))}
      {tried && tried.kind !== "" && (
        <>
          <p class="problem">{adviceFor(tried.kind)}</p>
          <p class="quiet detail">{reasonOf(tried.detail)}</p>
        </>
      )}
      {tried?.kind === "" && <Answer trial={tried} onOrder={onOrder} />}
    </div>
  );
}

/** What a device answered. */
function Answer({ trial, onOrder }: { trial: Trial; onOrder: OutcomeProps["onOrder"] }) {
  const points = trial.points ?? [];
  const bad = points.filter((p) => p.quality !== "good").length;
  const shown = points.some((p) => p.raw) ? points.length : mostShown;
  const verdict = bad > 0 ? `, ${count(bad)} of them without a good value` : "";
  return (
    <>
      <p class={bad > 0 ? "check is-warn" : "check is-good"}>
        It answers within {span(trial.took_ms)} with {plural(trial.total, "point")}
        {verdict}.
      </p>
      {points.some((p) => p.raw) ? (
        <RawTable points={points} onOrder={onOrder} />
      ) : (
        <ul class="tried">
          {points.slice(0, mostShown).map((p) => (
            <TriedItem key={p.name} point={p} />
          ))}
        </ul>
      )}
      {trial.total > shown && <p class="quiet">… and {count(trial.total - shown)} more.</p>}
    </>
  );
}

const TriedItem = ({ point: p }: { point: TriedPoint }) => (
  <li class={p.quality === "good" ? "is-good" : "is-bad"}>
    <span class="dot" aria-hidden="true" />
    <span>{plain(p.name)}</span>
    <strong class="number">
      {value(p.value)} {plain(unit(p.unit))}
    </strong>
    {p.quality !== "good" && (
      <span class="quiet">{plain(reasonFor(p.quality) || qualityName(p.quality))}</span>
    )}
  </li>
);
