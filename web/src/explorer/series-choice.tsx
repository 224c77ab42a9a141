import { plain, unit } from "../format";
import type { Curve } from "../series";

interface Props {
  label: string;
  list: readonly Curve[];
  chosen: Curve | undefined;
  onChoose(name: string): void;
}

/** The choice of a series of those that are shown. */
export function SeriesChoice({ label, list, chosen, onChoose }: Props) {
  return (
    <label class="series-choice">
      {label}{" "}
      <select
        value={chosen?.point ?? ""}
        onChange={(e) => onChoose(list[e.currentTarget.selectedIndex]?.point ?? "")}
      >
        {list.map((c) => (
          <option key={c.point} value={c.point}>
            {nameWithUnit(c)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A series for people: "campus/boiler/power [kW]". */
export const nameWithUnit = (c: Curve) => `${plain(c.point)}${c.unit ? ` [${unit(c.unit)}]` : ""}`;
