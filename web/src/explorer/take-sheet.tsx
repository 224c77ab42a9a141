import { useState } from "preact/hooks";
import { plural } from "../format";
import { wordsOf } from "../use-poll";
import type { Frame } from "./frame";
import type { About, Numbers } from "./sheet";

interface Props {
  frame(): Frame;
  about: About;
}

/** Files of exactly what is shown. What makes them is loaded when somebody asks. */
export function TakeSheet({ frame, about }: Props) {
  const [numbers, setNumbers] = useState<Numbers>(
    (1.5).toLocaleString(navigator.language).includes(",") ? "comma" : "point",
  );
  const [said, setSaid] = useState("");
  const take = async (kind: "csv" | "xlsx") => {
    try {
      const sheet = await import("./sheet");
      const shown = frame();
      const blob =
        kind === "csv"
          ? new Blob([sheet.csvOf(shown, about, numbers)], { type: "text/csv;charset=utf-8" })
          : await sheet.xlsxOf(shown, about);
      save(blob, `voltbus.${kind}`);
      setSaid(`${plural(shown.times.length, "row")} of ${plural(shown.columns.length, "column")}.`);
    } catch (err) {
      setSaid(wordsOf(err));
    }
  };
  return (
    <section aria-labelledby="sheet-title" class="data-sheet">
      <h2 id="sheet-title">What is shown, as one table</h2>
      <p class="quiet">
        A column for each point and formula, with what it is compared with. Times in {about.zone}.
        Curves of measured values are as drawn: choose steps for even rows.
      </p>
      <div class="sheet-ways">
        <button type="button" onClick={() => void take("xlsx")}>
          Download XLSX
        </button>
        <button type="button" onClick={() => void take("csv")}>
          Download table as CSV
        </button>
        <label>
          <span class="unseen">Numbers in CSV</span>
          <select
            value={numbers}
            onChange={(e) => setNumbers(e.currentTarget.value === "comma" ? "comma" : "point")}
          >
            <option value="point">1.5, separated by commas</option>
            <option value="comma">1,5 separated by semicolons</option>
          </select>
        </label>
        <span role="status" class="quiet">
          {said}
        </span>
      </div>
    </section>
  );
}

/** Hands a file to the person. */
function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
