import { plain } from "../format";
import type { WorldMarket, WorldMoment } from "../generated/api";
import { bound, line } from "./draw";

interface Props {
  market: WorldMarket;
  course: readonly WorldMoment[];
}

/** The double auction of the sites: its price, what is traded, and by whom. */
export function Market({ market, course }: Props) {
  const top = bound(course.map((m) => m.price));
  return (
    <section class="card panel" aria-label="Market of the sites">
      <h2>Market of the sites</h2>
      <p class="quiet">
        Each site is allotted its part of the power. Who wants to run more buys from those that want
        to least.
      </p>
      <dl class="regulation-facts">
        <div>
          <dt>Price</dt>
          <dd>{market.price.toFixed(2)} / kWh</dd>
        </div>
        <div>
          <dt>Traded</dt>
          <dd>{market.traded.toFixed(1)} kW</dd>
        </div>
      </dl>
      {course.length > 1 && (
        <svg
          class="regulation-course regulation-price"
          viewBox="0 0 1000 240"
          preserveAspectRatio="none"
          role="img"
          aria-label={`Price over the last hour, from ${-top} to ${top}`}
        >
          <line x1="0" x2="1000" y1="120" y2="120" class="zero" />
          <polyline
            class="market"
            points={line(
              course.map((m) => m.price),
              top,
            )}
          />
        </svg>
      )}
      <div class="scroll-x">
        <table class="data-table regulation-sites">
          <thead>
            <tr>
              <th scope="col">Site</th>
              <th scope="col">Allotted, kW</th>
              <th scope="col">Power, kW</th>
              <th scope="col">Bought, kW</th>
              <th scope="col">Sold, kW</th>
              <th scope="col">Paid</th>
            </tr>
          </thead>
          <tbody>
            {market.sites.map((s) => (
              <tr key={s.site} class={s.runs ? "" : "quiet"}>
                <th scope="row">{plain(s.site)}</th>
                <td class="number">{s.allotted.toFixed(1)}</td>
                <td class="number">{s.power.toFixed(1)}</td>
                <td class="number">{s.bought.toFixed(1)}</td>
                <td class="number">{s.sold.toFixed(1)}</td>
                <td class="number">{s.paid.toFixed(2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
