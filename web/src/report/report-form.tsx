import { useCallback, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { AlarmPeople, SavedView, WeeklyReport } from "../generated/api";
import { Select, Text } from "../schedule/fields";
import { usePoll } from "../use-poll";
import { type Draft, draftOf, emptyDraft, missing, pointsOf, reportOf, weekdays } from "./draft";
import { FindPoints } from "./find-points";
import "../control/control.css";
import "./reports.css";

const calm = 60_000;

interface Props {
  api: Api;
  /** The time zone of the site. */
  zone: string;
  /** The report that it changes; a new one if left out. */
  kept?: WeeklyReport;
  /** The names that others have. */
  taken?: readonly string[];
  onDone(): void;
}

/** Writes a weekly report. */
export function ReportForm({ api, zone, kept, taken = [], onDone }: Props) {
  const [draft, setDraft] = useState<Draft>(() => (kept ? draftOf(kept) : emptyDraft()));
  const act = useAct();
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const lacks = missing(draft, taken);
  const write = async () => {
    const body = { ...reportOf(draft), expect: kept?.version ?? 0 };
    if (await act.perform(() => api.send("PUT", "reports", body))) onDone();
  };
  return (
    <form
      class="control-form report-form"
      aria-label={kept ? `Change the report ${plain(draft.name)}` : "New report"}
      onSubmit={(e) => {
        e.preventDefault();
        void write();
      }}
    >
      {!kept && (
        <Text
          label="Name"
          hint="plant-week"
          value={draft.name}
          onInput={(name) => change({ name })}
        />
      )}
      <Text
        label="Title"
        hint="Power of the plant"
        value={draft.title}
        onInput={(title) => change({ title })}
      />
      <What api={api} draft={draft} onChange={change} />
      <Contacts api={api} chosen={draft.contacts} onChange={(contacts) => change({ contacts })} />
      <Select
        label="Sent on"
        value={draft.weekday}
        options={weekdays}
        onChange={(weekday) => change({ weekday })}
      />
      <Text
        label={`at, time in ${plain(zone)}`}
        type="time"
        value={draft.at}
        onInput={(at) => change({ at })}
      />
      <p class="control-wide quiet">The report covers the seven days before that day.</p>
      {(lacks || act.problem) && (
        <p role={act.problem ? "alert" : "status"} class="problem control-wide">
          {plain(act.problem || lacks)}
        </p>
      )}
      <span class="control-wide report-actions">
        {lacks === "" && (
          <a class="button" href={previewOf(draft)} download="preview.pdf">
            Download a preview
          </a>
        )}
        <button type="submit" class="primary" disabled={act.busy || lacks !== ""}>
          {kept ? "Change the report" : "Make the report"}
        </button>
      </span>
    </form>
  );
}

/** The address of the report as it would be made now. */
const previewOf = (d: Draft) =>
  address("report", {
    title: d.title.trim(),
    ...(d.view ? { view: d.view } : { point: pointsOf(d.points) }),
  });

interface PartProps {
  api: Api;
  draft: Draft;
  onChange(part: Partial<Draft>): void;
}

/** What the report is about: points, or a saved view. */
function What({ api, draft, onChange }: PartProps) {
  const ask = useCallback(
    async () => (await api.get<{ views: SavedView[] }>("views")).views.map((v) => v.name),
    [api],
  );
  const { data = [] } = usePoll(ask, calm, 0);
  const names = data.includes(draft.view) || draft.view === "" ? data : [...data, draft.view];
  return (
    <>
      <Select
        label="About"
        value={draft.view}
        options={[
          ["", "Points"],
          ...names.map((name): [string, string] => [name, `View ${plain(name)}`]),
        ]}
        onChange={(view) => onChange({ view })}
      />
      {draft.view === "" ? (
        <div class="control-wide">
          <label>
            Points, one in a line
            <textarea
              rows={4}
              placeholder="campus/plant/power"
              value={draft.points}
              onInput={(e) => onChange({ points: e.currentTarget.value })}
            />
          </label>
          <FindPoints
            api={api}
            chosen={pointsOf(draft.points)}
            onAdd={(path) => onChange({ points: [...pointsOf(draft.points), path].join("\n") })}
          />
        </div>
      ) : (
        <p class="control-wide quiet">
          It has the points that the view shows when the report is made, without formulas.
        </p>
      )}
    </>
  );
}

interface ContactsProps {
  api: Api;
  chosen: readonly string[];
  onChange(contacts: string[]): void;
}

/** Who gets the report: the contacts with an e-mail address. */
function Contacts({ api, chosen, onChange }: ContactsProps) {
  const ask = useCallback(() => api.get<AlarmPeople>("alarms/people"), [api]);
  const { data } = usePoll(ask, calm, 0);
  if (!data) return null;
  const known = data.contacts.filter((c) => c.by === "email").map((c) => c.name);
  const gone = chosen.filter((name) => !known.includes(name));
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((c) => c !== name) : [...chosen, name]);
  return (
    <fieldset class="control-wide">
      <legend>Sent to</legend>
      {[...known, ...gone].map((name) => (
        <label key={name} class="control-check report-contact">
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
          <span>{plain(name)}</span>
          {gone.includes(name) && <span class="problem">has no e-mail address any more</span>}
        </label>
      ))}
      <p class="quiet">
        {known.length === 0 ? "Nobody has an e-mail address yet." : "Others are added"}{" "}
        <a href="/alarms">under Alarms, Who is told</a>
      </p>
    </fieldset>
  );
}
