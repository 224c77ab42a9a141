import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { dateTime, plain } from "../format";
import type { AlarmPeople } from "../generated/api";
import { begin, end, nameOf, type Standing, standing } from "./push";

interface Props {
  api: Api;
  people: AlarmPeople;
  onDone(): void;
}

/** Pushes to this browser, and the others of the person that take them. Nothing while pushes are off. */
export function PushHere({ api, people, onDone }: Props) {
  const [now, setNow] = useState<Standing>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let left = false;
    standing(people)
      .then((s) => !left && setNow(s))
      .catch((err: Error) => !left && setNow({ is: "without", why: err.message }));
    return () => {
      left = true;
    };
  }, [people, asked]);
  const act = useAct();
  if (!people.push_key) return null;
  const perform = async (work: () => Promise<void>) => {
    await act.perform(work);
    setAsked((n) => n + 1);
    onDone();
  };
  const here = now?.is === "on" ? now.browser.id : "";
  return (
    <section class="alarm-push" aria-labelledby="push-title">
      <h3 id="push-title">Pushes to your browsers</h3>
      <p role="status">{now && words(now)}</p>
      {!people.pushed && (
        <p class="quiet">
          The plan has no contact that is told by pushes to your account, so that your browsers are
          told of nothing yet. An engineer adds one.
        </p>
      )}
      {now?.is === "off" && (
        <button
          type="button"
          disabled={act.busy}
          onClick={() => void perform(() => begin(api, people, nameOf(navigator.userAgent)))}
        >
          Push alarms to this browser
        </button>
      )}
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      <ul class="alarm-rules">
        {people.browsers.map((b) => (
          <li key={b.id}>
            <span class="alarm-text">
              <strong>{plain(b.name)}</strong>
              {b.id === here && ", this browser"}, since {dateTime(Date.parse(b.since))}, by{" "}
              {plain(b.service)}
            </span>
            <button
              type="button"
              aria-label={`End pushes to ${plain(b.name)}`}
              disabled={act.busy}
              onClick={() => void perform(() => end(api, b.id))}
            >
              End
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function words(now: Standing): string {
  switch (now.is) {
    case "without":
      return now.why;
    case "denied":
      return "This browser blocks notifications of this page. Allow them in the settings of the browser for this page, then load it anew.";
    case "off":
      return "This browser is not told of alarms while the page is closed.";
    case "on":
      return "Alarms are pushed to this browser, also while the page is closed.";
  }
}
