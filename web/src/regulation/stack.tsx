import { plain } from "../format";
import type { WorldUnit } from "../generated/api";

type StackUnit = Pick<WorldUnit, "unit" | "temperature" | "position" | "runs" | "locked">;

/** The units as a stack of priorities: who would switch off first is at one end, on at the other. */
export function Stack({ units }: { units: readonly StackUnit[] }) {
  const running = units.filter((u) => u.runs).length;
  const lost = units.filter((u) => u.position < 0 || u.position > 1).length;
  return (
    <section class="card panel" aria-label="Units by temperature">
      <h2>Units by temperature</h2>
      <p class="quiet">
        {running} of {units.length} run, {lost} outside of their band. The coolest is first: it
        would go off next; the last would go on next.
      </p>
      <ol class="regulation-stack">
        {units.map((u) => (
          <li
            key={u.unit}
            class={`${u.runs ? "on" : "off"}${u.locked ? " locked" : ""}`}
            style={{ "--position": String(Math.min(1, Math.max(0, u.position))) }}
            title={words(u)}
          >
            <span class="unseen">{words(u)}</span>
          </li>
        ))}
      </ol>
      <p class="quiet">Filled: it runs. Hatched: locked out after a change.</p>
    </section>
  );
}

const words = (u: StackUnit) =>
  `${plain(u.unit)}: ${u.temperature.toFixed(1)} °C, ${u.runs ? "runs" : "is off"}${u.locked ? ", locked out" : ""}`;
