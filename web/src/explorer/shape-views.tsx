import type { Curve } from "../series";
import { DurationView } from "./duration";
import { HeatView } from "./heat";
import { ScatterView } from "./scatter";
import type { StageProps } from "./stage";

/** A series that a picture can show: a point or a formula. */
export interface Choosable {
  name: string;
  curve: Curve;
}

/** The pictures beside plot and table. */
export function ShapeView(props: StageProps) {
  const { shown, view } = props;
  const list = [...shown.loaded.filter((c) => !c.ghost), ...shown.computed.filter((c) => !c.ghost)];
  if (list.length === 0) {
    return (
      <p class="empty">{view.points.length === 0 ? "Add points to see them here." : "Loading."}</p>
    );
  }
  if (view.show === "heat") return <HeatView {...props} list={list} />;
  if (view.show === "scatter") return <ScatterView {...props} list={list} />;
  return <DurationView {...props} list={list} />;
}
