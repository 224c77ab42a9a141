import { useCallback, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { useAct } from "../control/use-act";
import { plain, plural } from "../format";
import type { LastSent, WeeklyReport, WeeklyReports } from "../generated/api";
import { whenWords } from "../schedule/words";
import { documentAddress } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { knowsZone } from "../zone";
import { ReportForm } from "./report-form";
import "./reports.css";
import { reasonOf } from "../language/said";

const calm = 10_000;

/** The weekly reports: what is in them, who gets them and when, and what became of the last one. */
export function ReportsScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const [isNew, setIsNew] = useState(false);
  const ask = useCallback(() => api.get<WeeklyReports>("reports"), [api]);
  const { data, problem } = usePoll(ask, calm, epoch + changes);
  const again = () => {
    setIsNew(false);
    setChanges((n) => n + 1);
  };
  const engineer = includes(session.role, "engineer");
  const operator = includes(session.role, "operator");
  return (
    <div class="screen reports-screen">
      <h1>Weekly reports</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!data && !problem && <p class="asking">Asking for reports…</p>}
      {data?.reports.length === 0 && (
        <p class="quiet">
          A weekly report is a PDF with curves, figures and alarms of seven days. The node sends it
          by e-mail.
          {!engineer && " To write one needs the role engineer."}
        </p>
      )}
      {data?.reports.map((r) => (
        <ReportItem
          key={r.name}
          report={r}
          {...{ api, engineer, zone: data.zone, maySend: operator && data.sends }}
          onDone={again}
        />
      ))}
      {data && engineer && !isNew && (
        <p>
          <button type="button" onClick={() => setIsNew(true)}>
            New report…
          </button>
        </p>
      )}
      {data && engineer && isNew && (
        <section class="card panel" aria-label="A new report">
          <ReportForm
            {...{ api, zone: data.zone, taken: data.reports.map((r) => r.name) }}
            onDone={again}
          />
          <button type="button" onClick={() => setIsNew(false)}>
            Cancel
          </button>
        </section>
      )}
    </div>
  );
}

interface ItemProps {
  report: WeeklyReport;
  api: Api;
  zone: string;
  engineer: boolean;
  maySend: boolean;
  onDone(): void;
}

function ReportItem({ report: r, api, zone, engineer, maySend, onDone }: ItemProps) {
  const title = `report-${r.name}`;
  const clock = knowsZone(zone) ? zone : "UTC";
  return (
    <section class="card panel report" aria-labelledby={title}>
      <h2 id={title}>{plain(r.title)}</h2>
      <p class="quiet">
        {plain(r.name)}, {r.view ? <>view {plain(r.view)}</> : plural(r.points.length, "point")}
      </p>
      {r.contacts.length > 0 ? (
        <p>
          Next sent to <strong>{r.contacts.map(plain).join(", ")}</strong> on{" "}
          {whenWords(r.next, zone)} <span class="quiet">{plain(zone)}</span>
        </p>
      ) : (
        <p>It is sent to nobody.</p>
      )}
      <Last last={r.last} zone={clock} />
      <p class="report-actions">
        <a class="button" href={address("report", { report: r.name })} download={`${r.name}.pdf`}>
          Download the PDF
        </a>
        {maySend && r.contacts.length > 0 && <SendNow api={api} report={r} onDone={onDone} />}
        <a href={documentAddress("shared", `reports/${r.name}`)}>History of the report</a>
        {r.last.at > "0002" && (
          <a href={documentAddress("shared", `reports-sent/${r.name}`)}>History of sending</a>
        )}
      </p>
      {engineer && <Change {...{ api, zone, report: r }} onDone={onDone} />}
    </section>
  );
}

/** What became of the newest letter. */
function Last({ last, zone }: { last: LastSent; zone: string }) {
  if (last.busy) return <p role="status">It is being sent.</p>;
  if (last.at < "0002" && last.error === "" && last.sent.length === 0)
    return <p class="quiet">None was sent yet.</p>;
  return (
    <>
      <p>
        Last sent {last.at > "0002" && whenWords(last.at, zone)}:{" "}
        {last.sent.length > 0 ? last.sent.map(plain).join(", ") : "nobody has it"}
        {last.by && ` (${plain(last.by.replace(/^person:/, ""))} asked for it)`}
      </p>
      {last.error && (
        <p class="problem">Not everybody has it; it is tried again: {reasonOf(last.error)}</p>
      )}
    </>
  );
}

function SendNow({ api, report, onDone }: { api: Api; report: WeeklyReport; onDone(): void }) {
  const [sure, setSure] = useState(false);
  const act = useAct();
  const send = async () => {
    const address = `reports/${encodeURIComponent(report.name)}/send`;
    setSure(false);
    if (await act.perform(() => api.send("POST", address))) onDone();
  };
  return (
    <>
      {!sure && (
        <button type="button" disabled={act.busy} onClick={() => setSure(true)}>
          Send now…
        </button>
      )}
      {sure && (
        <>
          <button type="button" class="primary" onClick={() => void send()}>
            Send it to {plural(report.contacts.length, "contact")}
          </button>
          <button type="button" onClick={() => setSure(false)}>
            Cancel
          </button>
        </>
      )}
      {act.busy && <span role="status">Sending…</span>}
      {act.problem && (
        <span role="alert" class="problem">
          {plain(act.problem)}
        </span>
      )}
    </>
  );
}

interface ChangeProps {
  api: Api;
  zone: string;
  report: WeeklyReport;
  onDone(): void;
}

function Change({ api, zone, report, onDone }: ChangeProps) {
  const [open, setOpen] = useState(false);
  const act = useAct();
  const remove = async () => {
    const address = `reports/${encodeURIComponent(report.name)}`;
    if (await act.perform(() => api.send("DELETE", address))) onDone();
  };
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary aria-label={`Change or delete ${plain(report.name)}`}>Change…</summary>
      {open && (
        <>
          <ReportForm
            key={report.version}
            {...{ api, zone, kept: report }}
            onDone={() => {
              setOpen(false);
              onDone();
            }}
          />
          {act.problem && <p class="problem">{plain(act.problem)}</p>}
          <button type="button" disabled={act.busy} onClick={() => void remove()}>
            Delete the report {plain(report.name)}
          </button>
        </>
      )}
    </details>
  );
}
