import { useCallback, useMemo } from "preact/hooks";
import type { MeterConcentrators } from "../generated/api";
import { meterAt } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Concentrator } from "./concentrator";
import { MeterPage } from "./meter";
import { MeteringOverview } from "./overview";
import "./metering.css";

/** Meters: at a metering data system what arrived and each meter with its readings, at a concentrator what it took and sent. */
export function MeteringScreen(props: ScreenProps) {
  const { api, epoch, place } = props;
  const meter = useMemo(() => meterAt(place), [place]);
  const ask = useCallback(() => api.get<MeterConcentrators>("metering/concentrators"), [api]);
  const { data, problem } = usePoll(ask, 5000, epoch);
  if (!data && !problem) return <p class="asking">Asking the node…</p>;
  const concentrators = data?.concentrators ?? [];
  if (data && !data.system && concentrators.length === 0) return <NoMetering />;
  if (concentrators.length > 0) {
    return (
      <div class="screen metering-screen">
        <h1>Meters</h1>
        {concentrators.map((c, i) => (
          <Concentrator key={i} concentrator={c} now={api.now()} />
        ))}
      </div>
    );
  }
  return (
    <div class="screen metering-screen">
      {meter ? <MeterPage key={meter} meter={meter} {...props} /> : <MeteringOverview {...props} />}
    </div>
  );
}

const NoMetering = () => (
  <div class="card nothing">
    <h1>This node collects no readings of meters</h1>
    <p>
      Give it the role of a metering data system or a concentrator: <code>role</code> in the section{" "}
      <code>metering</code> of its configuration.
    </p>
  </div>
);
