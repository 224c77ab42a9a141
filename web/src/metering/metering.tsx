import { useMemo } from "preact/hooks";
import { meterAt } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { MeterPage } from "./meter";
import { MeteringOverview } from "./overview";
import "./metering.css";

/** Meters: what arrived and what is missing of a day, and each meter with its readings. */
export function MeteringScreen(props: ScreenProps) {
  const meter = useMemo(() => meterAt(props.place), [props.place]);
  return (
    <div class="screen metering-screen">
      {meter ? <MeterPage key={meter} meter={meter} {...props} /> : <MeteringOverview {...props} />}
    </div>
  );
}
