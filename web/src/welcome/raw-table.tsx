import { plain, qualityName, reasonFor, unit, value } from "../format";
import type { TriedPoint } from "./setup";

interface Props {
  points: readonly TriedPoint[];
  /** Is told the order of the bytes that was chosen for a register, or for all if it is "". */
  onOrder(register: string, order: string): void;
}

const orders = ["ABCD", "CDAB", "BADC", "DCBA"] as const;
const mostRows = 500;

/** What the device sent for each register, and its value in each order of the bytes, of which one is chosen. */
export function RawTable({ points, onOrder }: Props) {
  const several = points.some((p) => p.orders);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll-x raw-table" tabIndex={0} aria-label="What the device sent">
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">Register</th>
            <th scope="col">At</th>
            <th scope="col">Raw words</th>
            <th scope="col" class="number">
              Value
            </th>
            {several &&
              orders.map((order) => (
                <th key={order} scope="col" class="number">
                  <button
                    type="button"
                    title="Read all registers of several words so, unless the list says otherwise"
                    aria-label={`${order} for all registers`}
                    onClick={() => onOrder("", order)}
                  >
                    {order}
                  </button>
                </th>
              ))}
          </tr>
        </thead>
        <tbody>
          {points.slice(0, mostRows).map((p) => (
            <Row key={p.name} point={p} several={several} onOrder={onOrder} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  point: TriedPoint;
  several: boolean;
  onOrder(register: string, order: string): void;
}

function Row({ point: p, several, onOrder }: RowProps) {
  const isGood = p.quality === "good";
  return (
    <tr class={isGood ? "is-good" : "is-bad"}>
      <th scope="row">{plain(p.name)}</th>
      <td>{p.at ?? ""}</td>
      <td class="raw-words">{(p.raw ?? []).map(hex).join(" ")}</td>
      <td class="number">
        <strong>{value(p.value)}</strong> {plain(unit(p.unit))}
        {!isGood && (
          <span class="problem">{plain(reasonFor(p.quality) || qualityName(p.quality))}</span>
        )}
      </td>
      {several &&
        orders.map((order) => {
          const o = p.orders?.find((known) => known.order === order);
          return (
            <td key={order} class="number">
              {o && (
                <button
                  type="button"
                  aria-pressed={o.used}
                  aria-label={`${order} for ${plain(p.name)}: ${value(o.value)}`}
                  onClick={() => onOrder(p.name, order)}
                >
                  {value(o.value)}
                </button>
              )}
            </td>
          );
        })}
    </tr>
  );
}

const hex = (word: number) => word.toString(16).toUpperCase().padStart(4, "0");
