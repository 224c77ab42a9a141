import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PlotProps } from "./plot";

type Loaded = { show: ComponentType<PlotProps> } | { problem: unknown };

let known: ComponentType<PlotProps> | undefined;

/** Brings the code of the plot, which is larger than that of most screens. */
export async function loadPlot(): Promise<ComponentType<PlotProps>> {
  known = (await import("./plot")).Plot;
  return known;
}

/** The plot, as soon as its code is there. What stands around it is shown before. */
export function LatePlot(props: PlotProps) {
  const [loaded, setLoaded] = useState<Loaded | undefined>(known && { show: known });
  useEffect(() => {
    if (loaded) return;
    loadPlot().then(
      (show) => setLoaded({ show }),
      (problem: unknown) => setLoaded({ problem }),
    );
  }, [loaded]);
  if (!loaded) return null;
  if ("problem" in loaded) throw loaded.problem; // the screen says it
  return <loaded.show {...props} />;
}
