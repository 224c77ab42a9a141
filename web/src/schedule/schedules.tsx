import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain, plural } from "../format";
import type { Calendars, KeptSchedule, ScheduleHolding, Schedules } from "../generated/api";
import { reasonOf } from "../language/said";
import { pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { CalendarList } from "./calendars";
import { readValue } from "./draft";
import { ScheduleForm } from "./schedule-form";
import { Strip } from "./strip";
import { valueWords, whenWords } from "./words";
import "./schedules.css";

const calm = 10_000;

/** The schedules and calendars of the node: what they command, what next, and forms. */
export function SchedulesScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(
    async () => ({
      ...(await api.get<Schedules>("schedules")),
      ...(await api.get<Calendars>("calendars")),
    }),
    [api],
  );
  const { data, problem } = usePoll(ask, calm, epoch + changes);
  const again = () => setChanges((n) => n + 1);
  const engineer = includes(session.role, "engineer");
  const operator = includes(session.role, "operator");
  const names = (data?.calendars ?? []).map((c) => c.calendar.name);
  return (
    <div class="screen schedules-screen">
      <h1>Schedules</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!data && !problem && <p class="asking">Asking for schedules…</p>}
      {data?.schedules.length === 0 && (
        <p class="quiet">
          A schedule sets points by the clock: each day of the week has times with values, and
          holidays have days of their own. It commands at a level of its own, so that people win.
          {!engineer && " To write one needs the role engineer."}
        </p>
      )}
      {data?.schedules.map((s) => (
        <ScheduleItem
          key={s.schedule.name}
          kept={s}
          {...{ api, engineer, operator, calendars: names }}
          onDone={again}
        />
      ))}
      {data && engineer && (
        <details key={changes} class="card panel schedule-more">
          <summary>New schedule…</summary>
          <ScheduleForm api={api} calendars={names} onDone={again} />
        </details>
      )}
      {data && <CalendarList list={data.calendars} {...{ api, engineer }} onDone={again} />}
    </div>
  );
}

interface ItemProps {
  kept: KeptSchedule;
  api: Api;
  engineer: boolean;
  operator: boolean;
  calendars: readonly string[];
  onDone(): void;
}

function ScheduleItem({ kept, api, engineer, operator, calendars, onDone }: ItemProps) {
  const { schedule: s } = kept;
  const act = useAct();
  const title = `schedule-${s.name}`;
  const zone = s.time_zone ?? "UTC";
  const remove = async () => {
    const address = `schedules/${encodeURIComponent(s.name)}`;
    if (await act.perform(() => api.send("DELETE", address))) onDone();
  };
  return (
    <section class="card panel schedule" aria-labelledby={title}>
      <h2 id={title}>{plain(s.name)}</h2>
      {s.description && <p class="quiet">{plain(s.description)}</p>}
      {kept.wrong && <p class="problem">{reasonOf(kept.wrong)}</p>}
      {kept.now && (
        <p>
          Now <strong>{plain(valueWords(kept.now.value))}</strong> ({reasonOf(kept.now.why)}).{" "}
          {kept.next ? (
            <>
              Next <strong>{plain(valueWords(kept.next.value))}</strong> on{" "}
              {whenWords(kept.next.time, zone)} ({reasonOf(kept.next.why)}).
            </>
          ) : (
            "No change within 400 days."
          )}{" "}
          <span class="quiet">{plain(zone)}</span>
        </p>
      )}
      {!kept.wrong && <Strip api={api} schedule={s} version={kept.version} />}
      {kept.problems.map((p) => (
        <p key={p.point} class="problem">
          {p.point && `${plain(p.point)}: `}
          {reasonOf(p.message)}
        </p>
      ))}
      <Points list={s.points} level={s.level ?? 15} />
      {operator && kept.next && <Hold api={api} name={s.name} zone={zone} />}
      {engineer && (
        <details class="schedule-more">
          <summary aria-label={`Change or delete ${plain(s.name)}`}>Change…</summary>
          {kept.wrong === "" && (
            <ScheduleForm key={kept.version} {...{ api, calendars, kept }} onDone={onDone} />
          )}
          {act.problem && <p class="problem">{plain(act.problem)}</p>}
          <button type="button" disabled={act.busy} onClick={() => void remove()}>
            Delete the schedule {plain(s.name)}, which ends its commands
          </button>
        </details>
      )}
    </section>
  );
}

const shown = 4;

function Points({ list, level }: { list: readonly string[]; level: number }) {
  const links = list.map((p) => (
    <li key={p}>
      <a href={pointAddress(p)}>{plain(p)}</a>
    </li>
  ));
  return (
    <div class="schedule-points">
      <p>
        {plural(list.length, "point")}, commanded at level {level}
      </p>
      <ul>{links.slice(0, shown)}</ul>
      {list.length > shown && (
        <details>
          <summary>{list.length - shown} more</summary>
          <ul>{links.slice(shown)}</ul>
        </details>
      )}
    </div>
  );
}

/** Commands the points until the next change, in the name of who asks. */
function Hold({ api, name, zone }: { api: Api; name: string; zone: string }) {
  const [text, setText] = useState("");
  const [done, setDone] = useState("");
  const act = useAct();
  const value = readValue(text);
  const hold = async () => {
    setDone("");
    await act.perform(async () => {
      const out = await api.send<ScheduleHolding>("POST", "schedules/hold", {
        schedule: name,
        value,
      });
      const failed = out.results.filter((r) => r.error);
      if (failed.length > 0) {
        throw new Error(failed.map((r) => `${r.point}: ${r.error?.message ?? ""}`).join("; "));
      }
      setDone(`${plural(out.results.length, "point")} held until ${whenWords(out.until, zone)}.`);
    });
  };
  return (
    <form
      class="schedule-hold"
      aria-label={`Hold ${plain(name)}`}
      onSubmit={(e) => {
        e.preventDefault();
        void hold();
      }}
    >
      <label>
        Hold at
        <input
          type="text"
          placeholder="true"
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={act.busy || value === null}>
        until the next change
      </button>
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      {done && <p role="status">{plain(done)}</p>}
    </form>
  );
}
