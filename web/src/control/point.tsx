import { useCallback, useMemo, useState } from "preact/hooks";
import { PointAlarms } from "../alarm/rules";
import { type Api, type Point, Problem } from "../api";
import { Entries } from "../audit/entries";
import { auditAddress, everything } from "../audit/filter";
import { age, plain, qualityName, unit, value } from "../format";
import type { Audit, ControlPoint, ControlSlot } from "../generated/api";
import { coded } from "../language/codes";
import { useLastKnown } from "../last-known";
import { LiveValues } from "../live";
import { ancestorsOf, nameOf } from "../path";
import { PlotPanel } from "../plot-panel";
import {
  branchAddress,
  deviceAddress,
  go,
  type Place,
  pointAddress,
  pointAt,
} from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { useTick } from "../use-site";
import { useStream } from "../use-stream";
import { formatView, parseRange, type View } from "../view";
import { PriorityArray } from "./array";
import { AskRelease } from "./ask-release";
import { inDevice, whoHolds } from "./calls";
import { Holders } from "./holders";
import { Revert } from "./revert";
import { commandsOf } from "./shadow";
import { useAsked, useHappenings } from "./use-control";
import { demands, doing, requesterOf, untilWords, whoWords } from "./words";
import { WriteForm } from "./write-form";
import "../style/data-table.css";
import "../audit/audit.css";
import "../device/device.css";
import "./control.css";

/** One point: its value, who holds it, how to set it, and what was done with it. */
export function PointScreen({ api, session, place, epoch }: ScreenProps) {
  const path = pointAt(place);
  const live = useMemo(() => new LiveValues(), []);
  const happenings = useHappenings();
  const watched = path === "" ? [] : [path];
  const { epoch: reopened } = useStream(api, watched, live, happenings.happened);
  const known = useKnown(api, path, live, epoch + reopened);
  useLastKnown(
    api,
    live,
    useMemo(() => [path], [path]),
  );
  const who = useAsked(
    useCallback(() => whoHolds(api, path), [api, path]),
    happenings,
    epoch,
  );
  const point = who.data?.points.find((p) => p.point === path);
  const described = known.data?.find((p) => p.path === path);
  const isUnknown = known.data !== undefined && !described;
  const me = requesterOf(session.user);
  return (
    <div class="screen device-screen">
      <header class="device-title">
        <Way path={path} device={point?.device ?? described?.device ?? ""} />
        <h1>{plain(nameOf(path)) || "(no name)"}</h1>
      </header>
      {!point && isUnknown && <NoControl known={false} />}
      {!isUnknown && !who.data && <p class="asking">{who.problem || "Asking who holds it…"}</p>}
      {!isUnknown && who.data && !point && <NoControl known />}
      {point && (
        <div class="point-page" key={path}>
          <div class="device-main">
            <Now point={point} live={live} api={api} me={me} />
            <WriteForm api={api} point={point} me={me} role={session.role} onDone={who.again} />
            <Demands point={point} />
          </div>
          <Releasing
            {...{ api, point, me }}
            role={session.role}
            seen={who.data}
            onDone={who.again}
          />
        </div>
      )}
      <History {...{ api, place, path, live }} points={known.data ?? []} epoch={epoch + reopened} />
      {path !== "" && (
        <PointAlarms
          {...{ api, path, epoch }}
          role={session.role}
          unit={unit(plain(described?.unit ?? ""))}
        />
      )}
      <Proof api={api} path={path} role={session.role} seen={who.data} epoch={epoch} />
    </div>
  );
}

/** The catalogue's words on a point and on what it is commanded, and its newest values. */
function useKnown(api: Api, path: string, live: LiveValues, epoch: number) {
  const ask = useCallback(async () => {
    const at = api.now();
    const names = [path, commandsOf(path)];
    const [pages] = await Promise.all([
      Promise.all(
        names.map((p) => api.get<{ points: Point[] }>("points", { pattern: p, limit: 100 })),
      ),
      ...names.map((p) =>
        api.latest(p).then((samples) => live.applyLatest(samples, at), noSamples),
      ),
    ]);
    return pages.flatMap((page, i) => page.points.filter((p) => p.path === names[i]));
  }, [api, path, live]);
  return usePoll(ask, 30_000, epoch);
}

/** A point that is not there has no samples. */
function noSamples(err: unknown): void {
  if (!(err instanceof Problem && err.status === 404)) throw err;
}

/** The branches above a point, the last of them its device. */
function Way({ path, device }: { path: string; device: string }) {
  return (
    <nav class="way-up quiet" aria-label="Branches above">
      {ancestorsOf(path).map((branch) => (
        <span key={branch}>
          <a href={branch === device ? deviceAddress(branch) : branchAddress(branch)}>
            {plain(nameOf(branch)) || "(no name)"}
          </a>{" "}
          /{" "}
        </span>
      ))}
    </nav>
  );
}

const NoControl = ({ known }: { known: boolean }) => (
  <p class="card panel">
    {known
      ? "No device of this node has this point, so nothing can be set here: a program or another node sends its values."
      : "The node knows no such point. It may have been removed from the configuration; its history is kept."}
  </p>
);

interface NowProps {
  point: ControlPoint;
  live: LiveValues;
  api: Api;
  me: string;
}

const nowWords = (quality = "") =>
  /unreachable|timeout/.test(quality) ? "offline" : qualityName(quality);

/** What the point is now, and what it is doing. */
function Now({ point, live, api, me }: NowProps) {
  useTick(live);
  const now = api.now();
  const last = live.get(point.point);
  const known = live.lastKnown(point.point);
  const { level, word, words } = doing(point, now);
  const shown = level === "wait" ? "" : `is-${level}`;
  return (
    <section class={`card panel condition ${shown}`} aria-label="Now">
      <p class="point-value">
        {value(known ? known.value : last ? last.value : point.observed, point.unit)}{" "}
        {unit(plain(point.unit))}
        <span class="quiet">
          {known && ` the last value, ${age(now - known.time)} ago; now ${nowWords(last?.quality)}`}
          {last && !known && ` ${qualityName(last.quality)}, ${age(now - last.time)}`}
          {point.writable ? "" : " · read-only"}
        </span>
      </p>
      <p role="status" aria-label="Command status" class={`condition-word is-${level}`}>
        <span class="dot" aria-hidden="true" />
        <span>
          <span class="unseen">{word}: </span>
          {words}
        </span>
      </p>
      {point.overrides.length > 0 && <Holders holders={point.overrides} me={me} now={now} />}
      {point.window && (
        <p>
          Reserved by {whoWords(point.window.requester, me)} for {plain(point.window.task ?? "")},{" "}
          {untilWords(point.window.until, now)}: <a href="/control/schedule">schedule</a>
        </p>
      )}
    </section>
  );
}

function Demands({ point }: { point: ControlPoint }) {
  const list = demands(point.policy, point.unit);
  if (list.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="demands-title">
      <h2 id="demands-title">Limits and conditions</h2>
      <ul class="control-demands">
        {list.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

interface ReleasingProps {
  api: Api;
  point: ControlPoint;
  me: string;
  role: string;
  /** Changes when something happened. */
  seen: unknown;
  onDone(): void;
}

/** The priority array in the device, where it has one: asked at once, and again when something happened. */
function useInDevice(api: Api, point: ControlPoint, seen: unknown) {
  const { point: path, array_in_device: has } = point;
  const ask = useCallback(async () => {
    void seen;
    return has ? inDevice(api, path) : undefined;
  }, [api, path, has, seen]);
  const polled = usePoll(ask, 30_000, 0);
  return has ? polled : undefined;
}

/** The priority array, with the question before one of its commands ends. */
function Releasing({ api, point, me, role, seen, onDone }: ReleasingProps) {
  const [slot, setSlot] = useState<ControlSlot>();
  const device = useInDevice(api, point, seen);
  const now = api.now();
  return (
    <div class="device-side">
      <PriorityArray {...{ point, me, role, now, device }} onRelease={setSlot} />
      {point.writable && (
        <Revert {...{ api, me, role, onDone }} path={point.point} points={[point]} />
      )}
      {slot && (
        <AskRelease {...{ api, point, slot, me, onDone }} onClose={() => setSlot(undefined)} />
      )}
    </div>
  );
}

interface HistoryProps {
  api: Api;
  place: Place;
  path: string;
  live: LiveValues;
  points: readonly Point[];
  epoch: number;
}

/** The point and what it was commanded, over time. */
function History({ api, place, path, live, points, epoch }: HistoryProps) {
  const catalogue = useMemo(() => new Map(points.map((p) => [p.path, p])), [points]);
  const shown = useMemo(() => points.map((p) => p.path), [points]);
  const view = useMemo<View>(
    () => ({ branch: path, points: shown, range: parseRange(new URLSearchParams(place.search)) }),
    [path, shown, place.search],
  );
  if (points.length === 0 || points[0]?.kind === "text") return null;
  const show = (next: View) => {
    const query = new URLSearchParams(formatView({ ...next, points: [] }));
    query.delete("branch");
    const home = pointAddress(path);
    const text = query.toString();
    go(text === "" ? home : `${home}${home.includes("?") ? "&" : "?"}${text}`, "replace");
  };
  return <PlotPanel source={{ api, live, catalogue, epoch }} view={view} onShow={show} />;
}

const mostEntries = 20;

interface ProofProps {
  api: Api;
  path: string;
  role: string;
  /** Changes when something happened. */
  seen: unknown;
  epoch: number;
}

/** What was done with the point, from the audit log. */
function Proof({ api, path, role, seen, epoch }: ProofProps) {
  const may = includes(role, "engineer");
  const by = path.includes("*") ? { text: path } : { subject: path };
  const ask = useCallback(async () => {
    void seen; // whatever happened is in the log now
    if (!may) return [];
    const page = await api.get<Audit>("audit", { ...by, action: "control.*", limit: mostEntries });
    return page.entries;
  }, [api, path, may, seen]);
  const { data, problem } = usePoll(ask, 60_000, epoch);
  return (
    <section class="card panel" aria-labelledby="proof-title">
      <div class="panel-head">
        <h2 id="proof-title">What was done</h2>
        {may && (
          <a class="button" href={auditAddress({ ...everything, ...by })}>
            All in the audit log
          </a>
        )}
      </div>
      {!may && <p class="quiet">The audit log is for the role engineer; yours is {coded(role)}.</p>}
      {may && !data && <p class="quiet">{problem || "Asking the audit log…"}</p>}
      {may && data?.length === 0 && <p class="quiet">Nobody commanded it yet.</p>}
      {data && (
        <Entries
          entries={data}
          onNarrow={(part) => go(auditAddress({ ...everything, ...by, ...part }))}
        />
      )}
    </section>
  );
}
