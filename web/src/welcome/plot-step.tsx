import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Api, PointPage } from "../api";
import { plain } from "../format";
import { LiveValues } from "../live";
import { isUnder, patternFor } from "../path";
import { PlotPanel } from "../plot-panel";
import { branchAddress, deviceAddress } from "../shell/place";
import { firstCurves } from "../site/choose";
import { usePoll } from "../use-poll";
import { useStream } from "../use-stream";
import { ranges, type View } from "../view";

interface Props {
  api: Api;
  epoch: number;
  /** The path of the device that was added. */
  device: string;
  onAnother(): void;
}

/** The curve of the new device, as soon as it has points. */
export function PlotStep({ api, epoch, device, onAnother }: Props) {
  const live = useMemo(() => new LiveValues(), []);
  useStream(api, [device], live);
  const ask = useCallback(async () => {
    const page = await api.get<PointPage>("points", { pattern: patternFor(device), limit: 1000 });
    return page.points.filter((p) => isUnder(p.path, device));
  }, [api, device]);
  const [found, setFound] = useState(false);
  const { data: points } = usePoll(ask, found ? 60_000 : 1000, epoch);
  useEffect(() => setFound((points?.length ?? 0) > 0), [points]);
  const [chosen, setChosen] = useState<View>();
  const catalogue = useMemo(() => new Map((points ?? []).map((p) => [p.path, p])), [points]);
  const first = useMemo(
    () => ({ branch: device, points: firstCurves(points ?? []), range: { last: ranges[0].ms } }),
    [device, points],
  );
  return (
    <>
      <section class="card panel" aria-label="Done">
        <p class="done">
          <strong>{plain(device)} is added.</strong> Its readings are recorded from now on.
        </p>
        <p class="actions">
          <a class="button primary" href={deviceAddress(device)}>
            Open the device
          </a>
          <a class="button" href={branchAddress("")}>
            Look at the site
          </a>
          <button type="button" onClick={onAnother}>
            Add another device
          </button>
        </p>
      </section>
      {found ? (
        <PlotPanel
          source={{ api, live, catalogue, epoch }}
          view={chosen ?? first}
          onShow={setChosen}
        />
      ) : (
        <p class="asking" role="status">
          Waiting for the first values…
        </p>
      )}
    </>
  );
}
