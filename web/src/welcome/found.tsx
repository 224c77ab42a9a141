import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api";
import { count, plain, plural } from "../format";
import type { Surveyed } from "../generated/api";
import { reasonOf } from "../language/said";
import { type Draft, intervals } from "./draft";
import { type Neighbour, problemsOf } from "./setup";
import { type Added, addSeveral, factOf, pathIn, stateOf, survey } from "./several";

/** How the devices are reached, and where they are added. */
export interface Place {
  api: Api;
  site: string;
  interval: string;
  config: Record<string, unknown>;
}

interface Props {
  place: Place;
  devices: readonly Neighbour[];
  gone: readonly string[];
  /** Is told what the draft becomes when one device is chosen. */
  onChoose(change: Partial<Draft>): void;
  /** Is told that devices were added. */
  onAdded(): void;
}

/** The devices that a search found beside the configuration: those that are new are chosen and added, the others compared. */
export function Found({ place, devices, gone, onChoose, onAdded }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const work = useWork(place, onAdded);
  const fresh = devices.filter((d) => pathIn(d) === "");
  const known = devices.filter((d) => pathIn(d) !== "");
  const picked = fresh.filter((d) => chosen.has(d.detail));
  const choose = (next: ReadonlySet<string>) => {
    setChosen(next);
    const [one, ...more] = fresh.filter((d) => next.has(d.detail));
    if (one && more.length === 0) onChoose(draftOf(one));
  };
  return (
    <>
      <p class="check is-good">
        {plural(devices.length, "device")} found
        {known.length + gone.length > 0 && `, ${count(fresh.length)} of them new`}.
      </p>
      {gone.length > 0 && (
        <p class="problem">
          {plural(gone.length, "configured device")} did not answer: {plain(some(gone))}.
        </p>
      )}
      <Table
        devices={devices}
        has={work.compared}
        chosen={chosen}
        fresh={fresh}
        onChoose={choose}
      />
      <p class="actions">
        {fresh.length > 0 && (
          <button
            type="button"
            class="primary"
            disabled={work.busy || picked.length === 0}
            onClick={() => void work.add(picked)}
          >
            Add {plural(picked.length, "device")}
          </button>
        )}
        {known.length > 0 && (
          <button type="button" disabled={work.busy} onClick={() => void work.compare(known)}>
            Compare {plural(known.length, "added device")}
          </button>
        )}
        {work.busy && (
          <button type="button" onClick={work.stop}>
            Stop
          </button>
        )}
      </p>
      <p class="quiet">
        Devices that are added are read each {intervalName(place.interval)}, as chosen above.
      </p>
      <Progress work={work} />
    </>
  );
}

/** Asking devices for their points, to add or to compare them: one at a time. */
function useWork({ api, site, interval, config }: Place, onAdded: () => void) {
  const [progress, setProgress] = useState<{ asked: number; of: number }>();
  const [compared, setCompared] = useState<ReadonlyMap<string, Surveyed>>(new Map());
  const [added, setAdded] = useState<Added>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const stopped = useRef(false);
  useEffect(() => {
    return () => {
      stopped.current = true;
    };
  }, []);
  const during = async (
    devices: readonly Neighbour[],
    then: (has: (Surveyed | undefined)[]) => Promise<void> | void,
  ) => {
    stopped.current = false;
    setProblems([]);
    setAdded(undefined);
    try {
      const has = await survey(api, config, devices, (asked) => {
        setProgress({ asked, of: devices.length });
        return !stopped.current;
      });
      if (!stopped.current) await then(has);
    } catch (err) {
      setProblems(problemsOf(err));
    }
    setProgress(undefined);
  };
  return {
    progress,
    compared,
    added,
    problems,
    busy: progress !== undefined,
    stop: () => {
      stopped.current = true;
    },
    compare: (devices: readonly Neighbour[]) =>
      during(devices, (has) => {
        const pairs = devices.map((d, i) => [pathIn(d), has[i]] as const);
        setCompared(new Map(pairs.flatMap(([path, h]) => (h ? [[path, h] as const] : []))));
      }),
    add: (devices: readonly Neighbour[]) =>
      during(devices, async (has) => {
        const done = await addSeveral(api, { site, interval, config }, devices, has);
        setAdded(done);
        if (done.paths.length > 0) onAdded();
      }),
  };
}

const mostNamed = 20;

const some = (names: readonly string[]) =>
  names.slice(0, mostNamed).join(", ") +
  (names.length > mostNamed ? ` and ${count(names.length - mostNamed)} more` : "");

/** How far the work is, and what came of it. */
function Progress({ work }: { work: ReturnType<typeof useWork> }) {
  const { progress, added, problems } = work;
  return (
    <div role="status" aria-label="Devices added">
      {progress && (
        <p>
          <progress aria-label="Devices asked" max={progress.of} value={progress.asked} />{" "}
          {count(progress.asked)} of {plural(progress.of, "device")} asked for their points…
        </p>
      )}
      {problems.slice(0, mostNamed).map((p) => (
        <p key={p} class="problem">
          {plain(p)}
        </p>
      ))}
      {added && <Outcome added={added} />}
    </div>
  );
}

function Outcome({ added }: { added: Added }) {
  const { paths, points, guesses, skipped } = added;
  return (
    <>
      {paths.length > 0 && (
        <p class="check is-good">
          {plural(paths.length, "device")} added with {plural(points, "point")}.{" "}
          <a href="/site">Open the devices</a>
        </p>
      )}
      {guesses > 0 && paths.length > 0 && (
        <p class="quiet">
          {plural(guesses, "point")} got the tag haystack_guess: a guess from name, unit and type,
          which nobody has checked.
        </p>
      )}
      {skipped.length > 0 && (
        <p class="problem">{plural(skipped.length, "device")} left out, and not added:</p>
      )}
      {skipped.slice(0, mostNamed).map((s) => (
        <p key={s.device.detail} class="quiet detail">
          {reasonOf(`${s.device.detail}: ${s.why}`)}
        </p>
      ))}
      {skipped.length > mostNamed && (
        <p class="quiet">… and {count(skipped.length - mostNamed)} more.</p>
      )}
    </>
  );
}

const mostShown = 500;

interface TableProps {
  devices: readonly Neighbour[];
  has: ReadonlyMap<string, Surveyed>;
  /** The details of those that are chosen. */
  chosen: ReadonlySet<string>;
  /** Those that are new. */
  fresh: readonly Neighbour[];
  onChoose(chosen: ReadonlySet<string>): void;
}

function Table({ devices, has, chosen, fresh, onChoose }: TableProps) {
  const toggle = (d: Neighbour) => {
    const next = new Set(chosen);
    if (!next.delete(d.detail)) next.add(d.detail);
    onChoose(next);
  };
  const isAll = fresh.length > 0 && fresh.every((d) => chosen.has(d.detail));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x found" tabIndex={0} aria-label="Table of devices">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label="All new devices"
                  disabled={fresh.length === 0}
                  checked={isAll}
                  onChange={() => onChoose(new Set(isAll ? [] : fresh.map((d) => d.detail)))}
                />
              </th>
              {["Name", "Instance", "Address", "Vendor", "Model", "Objects", "State"].map((c) => (
                <th key={c} scope="col">
                  {c}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {devices.slice(0, mostShown).map((d, i) => (
              <tr key={i}>
                <td>
                  {pathIn(d) === "" && (
                    <input
                      type="checkbox"
                      aria-label={plain(`${d.name || "without a name"}: ${d.detail}`)}
                      checked={chosen.has(d.detail)}
                      onChange={() => toggle(d)}
                    />
                  )}
                </td>
                <th scope="row">{plain(d.name || "without a name")}</th>
                {["instance", "address", "vendor", "model", "objects"].map((c) => (
                  <td key={c}>{plain(factOf(d, c))}</td>
                ))}
                <td>
                  {plain(stateOf(d, has.get(pathIn(d))))}
                  {d.note && <span class="problem">{reasonOf(d.note)}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {devices.length > mostShown && (
        <p class="quiet">
          … and {count(devices.length - mostShown)} more, which All new devices chooses, too.
        </p>
      )}
    </>
  );
}

/** What a draft becomes when a device is chosen. */
const draftOf = (d: Neighbour): Partial<Draft> => ({
  ...(d.name ? { name: d.name } : {}),
  instance: String(d.config.device),
  address: String(d.config.address ?? ""),
});

const intervalName = (interval: string) =>
  intervals.find(([key]) => key === interval)?.[1] ?? interval;
