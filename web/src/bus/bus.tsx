import { useCallback, useState } from "preact/hooks";
import { bytes, plain, rate } from "../format";
import { reasonOf } from "../language/said";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import type { Bus } from "./calls";
import { Connections } from "./connections";
import { MessageList } from "./message-list";
import type { Flow, Rates } from "./rates";
import { Spark } from "./spark";
import { useFeed } from "./use-feed";
import "../style/data-table.css";
import "./bus.css";

/** What goes over the bus now: rates of subjects, who is connected, and the messages themselves. */
export function BusScreen({ api, epoch }: ScreenProps) {
  const [subject, setSubject] = useState("");
  const feed = useFeed(api, subject, epoch);
  const ask = useCallback(() => api.get<Bus>("bus"), [api]);
  const bus = usePoll(ask, 2000, epoch);
  const { link } = feed;
  const connections = <Connections bus={bus.data} problem={bus.problem} />;
  const isSlow = bus.data?.connections?.some((c) => c.slow) ?? false;
  return (
    <div class="screen bus">
      <h1>Bus</h1>
      {link.state === "lost" && (
        <p class="problem" role="status">
          The messages are halted, trying again. {reasonOf(link.why)}
        </p>
      )}
      {isSlow && connections}
      <div class="bus-pair">
        <Subjects rates={feed.rates} chosen={subject} onChoose={setSubject} />
        <MessageList feed={feed} subject={subject} onSubject={setSubject} />
      </div>
      {!isSlow && connections}
    </div>
  );
}

interface SubjectsProps {
  rates: Rates;
  chosen: string;
  onChoose(subject: string): void;
}

const mostLines = 200;

/** The tree of subjects with their rates. */
function Subjects({ rates, chosen, onChoose }: SubjectsProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const lines = rates.lines((s) => open.has(s));
  const total = rates.total();
  const fold = (subject: string) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(subject)) next.add(subject);
      return next;
    });
  return (
    <section class="card panel" aria-labelledby="subjects-title">
      <div class="panel-head">
        <h2 id="subjects-title">Rates by subject</h2>
        <span class="quiet number">
          {rate(total.messages)} messages/s, {bytes(total.bytes)}/s
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="bus-box" tabIndex={0} aria-label="Subjects">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Subject</th>
              <th scope="col">Last minute</th>
              <th scope="col" class="number">
                Messages/s
              </th>
              <th scope="col" class="number wide">
                Bytes/s
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.slice(0, mostLines).map((flow) => (
              <SubjectRow
                key={flow.subject}
                flow={flow}
                isOpen={open.has(flow.subject)}
                isChosen={chosen === patternOf(flow)}
                onFold={() => fold(flow.subject)}
                onChoose={() => onChoose(patternOf(flow))}
              />
            ))}
          </tbody>
        </table>
        {lines.length === 0 && <p class="empty">Listening…</p>}
      </section>
      {(lines.length > mostLines || rates.left > 0) && (
        <p class="quiet">Not all subjects are shown; fold branches to see others.</p>
      )}
    </section>
  );
}

/** The pattern that selects a subject and all below it. */
const patternOf = (flow: Flow) => (flow.children > 0 ? `${flow.subject}.>` : flow.subject);

interface RowProps {
  flow: Flow;
  isOpen: boolean;
  isChosen: boolean;
  onFold(): void;
  onChoose(): void;
}

function SubjectRow({ flow, isOpen, isChosen, onFold, onChoose }: RowProps) {
  const name = plain(flow.name);
  return (
    <tr class={isChosen ? "is-chosen" : ""}>
      <th scope="row">
        <span class="subject" style={{ paddingLeft: `${flow.level * 16}px` }}>
          {flow.children > 0 ? (
            <button
              type="button"
              class="subject-fold"
              aria-expanded={isOpen}
              aria-label={`Unfold ${flow.subject}`}
              onClick={onFold}
            >
              <span class={`twisty ${isOpen ? "open" : "shut"}`} aria-hidden="true" />
            </button>
          ) : (
            <span class="subject-fold" />
          )}
          <button
            type="button"
            class="link"
            title={`Show the messages of ${flow.subject}`}
            aria-pressed={isChosen}
            onClick={onChoose}
          >
            {name}
          </button>
          {flow.children > 0 && <span class="quiet">{flow.children}</span>}
        </span>
      </th>
      <td>
        <Spark past={flow.past} label={`Messages of ${flow.subject} in the last minute`} />
      </td>
      <td class="number">{rate(flow.messages)}</td>
      <td class="number wide">{bytes(flow.bytes)}</td>
    </tr>
  );
}
