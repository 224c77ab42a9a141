import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Schedule, ScheduleChanges } from "../generated/api";
import { reasonOf } from "../language/said";
import { segments, valueWords, whenWords } from "./words";

const days = 7;
const day = 86_400_000;

interface Props {
  api: Api;
  schedule: Schedule;
  version: number;
}

/** The next seven days of a schedule as a strip, and as a list for those who do not see it. */
export function Strip({ api, schedule, version }: Props) {
  const [got, setGot] = useState<{ start: number; changes: ScheduleChanges }>();
  useEffect(() => {
    let gone = false;
    const start = api.now();
    void api
      .send<ScheduleChanges>("POST", "schedules/preview", { ...schedule, most: 100 })
      .then((changes) => !gone && setGot({ start, changes }))
      .catch(() => undefined); // what is wrong with a schedule is said above
    return () => {
      gone = true;
    };
  }, [api, schedule.name, version]);
  if (!got) return null;
  const end = got.start + days * day;
  const zone = schedule.time_zone ?? "UTC";
  const soon = got.changes.changes.filter((c) => Date.parse(c.time) < end);
  return (
    <>
      <div class="schedule-strip" aria-hidden="true">
        {segments(got.changes.now, soon, got.start, end).map((s) => (
          <span
            key={s.from}
            class={
              s.value === null
                ? "is-none"
                : s.value === (schedule.default ?? false)
                  ? "is-off"
                  : "is-on"
            }
            style={{ left: `${s.from * 100}%`, width: `${(s.to - s.from) * 100}%` }}
            title={`${plain(valueWords(s.value))} (${reasonOf(s.why)})`}
          >
            {s.to - s.from > 0.05 && plain(valueWords(s.value))}
          </span>
        ))}
      </div>
      <details class="schedule-more">
        <summary>The next seven days</summary>
        <Changes list={soon} zone={zone} />
      </details>
    </>
  );
}

interface ListProps {
  list: ScheduleChanges["changes"];
  zone: string;
}

/** Changes, one in a line. */
export function Changes({ list, zone }: ListProps) {
  if (list.length === 0) return <p class="quiet">No change.</p>;
  return (
    <ul class="schedule-changes">
      {list.map((c) => (
        <li key={c.time}>
          {whenWords(c.time, zone)}: {plain(valueWords(c.value))}{" "}
          <span class="quiet">({reasonOf(c.why)})</span>
        </li>
      ))}
    </ul>
  );
}
