import { plain } from "./format";

interface Props {
  path: string;
  /** What the point is; "" if nobody said. */
  description?: string | undefined;
  /** The path as it is shown, if a part of it is known from around it. */
  shown?: string;
  /** Whether the path stands below the description. */
  stacked?: boolean;
}

/**
 * The name of a point as people read it: what it is before where it is. What has no room is cut at the left
 * of the path, whose end tells the points apart.
 */
export function PointName({ path, description = "", shown = path, stacked = false }: Props) {
  const what = plain(description.trim());
  return (
    <span class={`point-name${stacked ? " is-stacked" : ""}`} title={plain(path)}>
      {what !== "" && <span class="point-what">{what}</span>}{" "}
      <span class="point-where">
        <bdi dir="ltr">{plain(shown) || "(no name)"}</bdi>
      </span>
    </span>
  );
}
