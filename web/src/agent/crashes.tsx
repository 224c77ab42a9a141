import { useState } from "preact/hooks";
import { bytes, dateTime, plain, span } from "../format";
import type { ProcessCrash } from "../generated/api";
import { wordsOf } from "../use-poll";
import { LineList } from "./log-view";
import type { PartProps } from "./page";

const mostShown = 100;

/** The reports of ends that nobody wanted. */
export function Crashes({ api, name, reports }: PartProps & { reports: readonly string[] }) {
  const [shown, setShown] = useState<{ report: string; crash: ProcessCrash }>();
  const [problem, setProblem] = useState("");
  const open = async (report: string) => {
    try {
      const at = `agents/${encodeURIComponent(name)}/crashes/${encodeURIComponent(report)}`;
      setShown({ report, crash: await api.get<ProcessCrash>(at) });
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  const newest = [...reports].reverse().slice(0, mostShown);
  return (
    <section class="card panel" aria-labelledby="crashes-title">
      <h2 id="crashes-title">Crash reports</h2>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {newest.length === 0 && <p class="quiet">None: it never ended without being asked to.</p>}
      <ul class="agent-lines" aria-label="Reports">
        {newest.map((r) => (
          <li key={r}>
            <button
              type="button"
              class="link"
              aria-pressed={shown?.report === r}
              onClick={() => void open(r)}
            >
              {plain(r)}
            </button>
          </li>
        ))}
      </ul>
      {shown && <Report crash={shown.crash} />}
    </section>
  );
}

function Report({ crash: c }: { crash: ProcessCrash }) {
  const how = c.signal ? `signal ${c.signal}` : `exit code ${c.code}`;
  const limit = c.memory_limit > 0 ? ` of at most ${bytes(c.memory_limit)}` : "";
  return (
    <section aria-label="Report">
      <p class="problem">{plain(c.text)}</p>
      <p class="quiet">
        {dateTime(Date.parse(c.at))}, {plain(how)}, version {c.version}, after{" "}
        {span(c.uptime * 1000)}, at most {bytes(c.max_memory)} of memory seen{limit}. Its last
        lines, the newest above:
      </p>
      <LineList lines={c.lines.map((l, id) => ({ ...l, id })).reverse()} />
    </section>
  );
}
