import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { plural } from "../format";
import {
  curl,
  fileAddress,
  formats,
  mostReported,
  python,
  reportAddress,
  type Taken,
} from "./snippets";

/** The shown data for elsewhere: files, a link, and commands that ask for the same. */
export function TakeAlong({ children, ...taken }: Taken & { children?: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const show = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" disabled={taken.points.length === 0} onClick={show}>
        Download or copy…
      </button>
      <dialog
        ref={dialog}
        class="take"
        aria-label="Download or copy"
        onClose={() => setOpen(false)}
      >
        {open && children}
        {open && <Ways {...taken} />}
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function Ways(taken: Taken) {
  const node = location.origin;
  const [plain, setPlain] = useState(false);
  return (
    <>
      <h2>All samples of {plural(taken.points.length, "point")}</h2>
      <ul class="files">
        {formats.map((f) => (
          <li key={f.format}>
            <a
              class="button"
              href={fileAddress(taken, f.format, plain)}
              download={`voltbus.${f.format}`}
            >
              Download {f.label}
            </a>
            <span class="quiet">for {f.for}</span>
          </li>
        ))}
      </ul>
      <p>
        <a class="button" href={reportAddress(taken)} download="report.pdf">
          Download a report as PDF
        </a>{" "}
        <span class="quiet">of the first {mostReported} points, to print</span>
      </p>
      <label>
        <input type="checkbox" checked={plain} onChange={() => setPlain(!plain)} /> CSV without
        formulas
      </label>
      <Copied name="Link to this view" text={location.href} />
      <Copied name="curl" text={curl(taken, node)} />
      <Copied name="Python" text={python(taken, node)} />
      <p class="quiet">
        Programs log in with a token: put it into the variable VOLTBUS_TOKEN, never into a link.
      </p>
    </>
  );
}

/** A text with a button that copies it; where a browser does not allow that, it is selected instead. */
function Copied({ name, text }: { name: string; text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [said, setSaid] = useState("");
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied.");
    } catch {
      setSaid("Selected: copy it with the keyboard.");
    }
  };
  return (
    <div class="copied">
      <p class="copied-head">
        <strong>{name}</strong>
        <span role="status" class="quiet">
          {said}
        </span>
        <button type="button" aria-label={`Copy ${name}`} onClick={() => void copy()}>
          Copy
        </button>
      </p>
      <textarea
        ref={field}
        aria-label={name}
        readOnly
        spellcheck={false}
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        value={text}
      />
    </div>
  );
}
