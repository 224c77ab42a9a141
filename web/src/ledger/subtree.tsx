import { useEffect, useRef, useState } from "preact/hooks";
import type { LedgerNode, LedgerSum } from "../api";
import { count, localTimes, plain, plural, rate, span } from "../format";
import type { Level } from "../health";
import { reasonOf } from "../language/said";
import { type Course, courseOf, type Mark } from "./chain";
import { gapsOf } from "./gaps";

const every = 2000;
const longest = 12_000;

/** How what is still to come shrinks, looked at each two seconds. */
export function useCourse(sum: LedgerSum | undefined): Course | undefined {
  const now = useRef(sum);
  now.current = sum;
  const marks = useRef<Mark[]>([]);
  const [course, setCourse] = useState<Course>();
  const isKnown = sum !== undefined;
  useEffect(() => {
    marks.current = [];
    const look = () => {
      if (!now.current) return;
      const mark = {
        ...{ at: performance.now(), waiting: now.current.waiting },
        here: now.current.stored,
      };
      setCourse(courseOf(marks.current[0], mark));
      marks.current = [...marks.current, mark].filter((m) => mark.at - m.at < longest);
    };
    look();
    const timer = setInterval(look, every);
    return () => clearInterval(timer);
  }, [isKnown]);
  return course;
}

/** How bad the account of a subtree is. */
export function levelOf(sum: LedgerSum): Level {
  if (sum.missing > 0) return "bad";
  if (sum.refused > 0 || sum.old > 0) return "warn";
  return sum.samples > 0 ? "good" : "wait";
}

interface Props {
  sum: LedgerSum;
  nodes: readonly LedgerNode[];
  course: Course | undefined;
}

/** What still comes, while it comes. */
export function Catching({ sum, course }: Pick<Props, "sum" | "course">) {
  if (sum.waiting === 0) return null;
  const here = sum.samples - sum.waiting;
  return (
    <div class="catching" role="status" aria-label="Catching up">
      <progress aria-label="Samples that are here" max={sum.samples} value={here} />
      <p>
        <strong>{count(sum.waiting)}</strong> still to come
        {course && course.rate > 0 && `; ${rate(course.rate)} a second arrive`}
        {course?.left !== undefined &&
          course.left > 1 &&
          `, so all are here in about ${span(course.left * 1000)}`}
        .
      </p>
    </div>
  );
}

/** How it is proved: sums that anybody can check. */
export function Believe({ sum, nodes }: Pick<Props, "sum" | "nodes">) {
  const gaps = gapsOf(nodes).length;
  const parts = [
    `${count(sum.stored)} here`,
    ...(sum.waiting > 0 ? [`${count(sum.waiting)} still to come`] : []),
    ...(sum.left_out > 0 ? [`${count(sum.left_out)} left out on purpose`] : []),
    ...(sum.missing > 0 ? [`${count(sum.missing)} lost`] : []),
  ];
  const adds = sum.samples === sum.stored + sum.waiting + sum.left_out + sum.missing;
  const away = nodes.filter((n) => n.state === "old" || n.state === "silent");
  return (
    <section class="card panel" aria-labelledby="believe-title">
      <h2 id="believe-title">How it is proved</h2>
      <ul class="believe">
        <li>
          <strong class={adds ? "good" : "bad"}>
            {count(sum.samples)} {adds ? "=" : "≠"} {parts.join(" + ")}
          </strong>
          <span class="quiet">
            The left side was counted by the nodes that took the readings, on their own disks; the
            right side here.
          </span>
        </li>
        <li>
          <strong>
            {gaps === 0
              ? `No number is missing in ${plural(sum.origins, "origin")}`
              : `${plural(gaps, "gap")} in the numbers of ${plural(sum.origins, "origin")}`}
          </strong>
          <span class="quiet">
            Each block has a number and says how many samples came before it, so that what never
            came would be counted, too.
          </span>
        </li>
        <li>
          <strong>
            {sum.repeated === 0
              ? "No sample came twice"
              : `${plural(sum.repeated, "sample")} came twice, and ${sum.repeated === 1 ? "is" : "are"} stored once`}
          </strong>
          <span class="quiet">
            A node that hears no answer, since the cable was out, sends once more.
          </span>
        </li>
        {away.length > 0 && (
          <li>
            <strong class="bad">
              {plural(away.length, "node")} {away.length === 1 ? "does" : "do"} not answer now
            </strong>
            <span class="quiet">
              {away
                .slice(0, 5)
                .map((n) =>
                  localTimes(n.reason ? `${plain(n.node)}: ${reasonOf(n.reason)}` : plain(n.node)),
                )
                .join("; ")}
              {away.length > 5 && ` and ${away.length - 5} more`}. What it records meanwhile waits
              on its disk, and is counted when it is back.
            </span>
          </li>
        )}
      </ul>
    </section>
  );
}
