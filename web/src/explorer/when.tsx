import { useRef, useState } from "preact/hooks";
import type { Span } from "../span";
import { minuteIn, readTime } from "../zone";
import { presets } from "./calendar";
import { Month } from "./month";

interface Props {
  window: Span;
  zone: string;
  now: number;
  onChoose(span: Span): void;
}

/** A button that opens the choice of a stretch of time: by name, on a calendar, or written. */
export function When(props: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const show = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  const choose = (span: Span) => {
    dialog.current?.close();
    props.onChoose(span);
  };
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={show}>
        Dates…
      </button>
      <dialog
        ref={dialog}
        class="take when"
        aria-labelledby="when-title"
        onClose={() => setOpen(false)}
      >
        {open && <Choice {...props} onChoose={choose} onCancel={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

function Choice({ window, zone, now, onChoose, onCancel }: Props & { onCancel(): void }) {
  const [from, setFrom] = useState(minuteIn(window[0], zone));
  const [to, setTo] = useState(minuteIn(window[1], zone));
  const [tried, setTried] = useState(false);
  const span: [number | undefined, number | undefined] = [readTime(from, zone), readTime(to, zone)];
  const wrong = problemOf(span, from, to);
  const submit = (e: Event) => {
    e.preventDefault();
    setTried(true);
    if (wrong === "") onChoose(span as Span);
  };
  const onDays = ([a, b]: Span) => {
    setFrom(minuteIn(a, zone));
    setTo(minuteIn(b, zone));
  };
  return (
    <>
      <h2 id="when-title">Dates and times</h2>
      <p class="quiet">Times in {zone}</p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Usual stretches of time" class="presets">
        {presets(now, zone).map(({ label, span: named }) => (
          <button key={label} type="button" onClick={() => onChoose(named)}>
            {label}
          </button>
        ))}
      </div>
      <Month zone={zone} now={now} span={span} onDays={onDays} />
      <form onSubmit={submit} class="when-written">
        <label>
          From
          <input
            type="text"
            value={from}
            placeholder="2026-03-09 14:00"
            aria-invalid={tried && wrong !== ""}
            onInput={(e) => setFrom(e.currentTarget.value)}
          />
        </label>
        <label>
          To
          <input
            type="text"
            value={to}
            placeholder="2026-03-10 14:00"
            aria-invalid={tried && wrong !== ""}
            onInput={(e) => setTo(e.currentTarget.value)}
          />
        </label>
        {tried && wrong && (
          <p class="problem" role="alert">
            {wrong}
          </p>
        )}
        <p class="when-foot">
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Show
          </button>
        </p>
      </form>
    </>
  );
}

function problemOf(
  [from, to]: [number | undefined, number | undefined],
  ...texts: [string, string]
): string {
  if (from === undefined)
    return `From: ${texts[0] || "nothing"} is no time; write 2026-03-09 14:00.`;
  if (to === undefined) return `To: ${texts[1] || "nothing"} is no time; write 2026-03-10 14:00.`;
  if (to - from < 1000) return "To must be after From.";
  return to - from > 20 * 366 * 86_400_000 ? "Choose at most 20 years." : "";
}
