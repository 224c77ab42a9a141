import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { plain } from "../format";
import type { Alarms, DashboardTile } from "../generated/api";
import { pointAddress } from "../shell/place";
import { type Source, useReadings } from "./board-values";
import { BarTile, GaugeTile, StateTile, TableTile, ValueTile } from "./figures";
import { AlarmTile, TextTile } from "./lists";
import { MapTile, PictureTile } from "./pictures";
import { titleOf } from "./words";

interface Props {
  tile: DashboardTile;
  source: Source;
  alarms: Alarms | undefined;
}

const none: readonly string[] = [];

/** The heading of a tile; that of one point leads to its page. */
export function TileTitle({ tile, source }: Omit<Props, "alarms">) {
  const points = tile.points ?? none;
  const readings = useReadings(source, points.length === 1 ? points : none);
  const title = titleOf(tile, readings);
  if (tile.kind === "text" && !tile.title) return null;
  const only = points.length === 1 ? points[0] : undefined;
  return (
    <h3 title={only ? plain(only) : title}>
      {only ? <a href={pointAddress(only)}>{title}</a> : title}
    </h3>
  );
}

/** What a tile shows. */
export function TileContent({ tile, source, alarms }: Props) {
  switch (tile.kind) {
    case "value":
      return <ValueTile tile={tile} source={source} />;
    case "gauge":
      return <GaugeTile tile={tile} source={source} />;
    case "bar":
      return <BarTile tile={tile} source={source} />;
    case "state":
      return <StateTile tile={tile} source={source} />;
    case "table":
      return <TableTile tile={tile} source={source} />;
    case "trend":
      return <Trend tile={tile} source={source} />;
    case "alarms":
      return <AlarmTile tile={tile} alarms={alarms} now={source.api.now()} />;
    case "text":
      return <TextTile tile={tile} />;
    case "picture":
      return <PictureTile tile={tile} source={source} />;
    case "map":
      return <MapTile tile={tile} source={source} alarms={alarms} />;
    default:
      return <p class="quiet">This browser's page does not know tiles of this kind yet.</p>;
  }
}

type TrendTile = ComponentType<{ tile: DashboardTile; source: Source }>;
let trend: TrendTile | undefined;

/** A trend, whose code is loaded when one is shown. */
function Trend({ tile, source }: { tile: DashboardTile; source: Source }) {
  const [Loaded, setLoaded] = useState<{ show: TrendTile } | undefined>(trend && { show: trend });
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (Loaded) return;
    import("./trend").then(
      (module) => {
        trend = module.default;
        setLoaded({ show: module.default });
      },
      (err: Error) => setProblem(err.message),
    );
  }, [Loaded]);
  if (problem) return <p class="problem">The trend could not be loaded: {problem}</p>;
  return Loaded ? <Loaded.show tile={tile} source={source} /> : null;
}
