import { type Api, address, type Scan } from "./api";
import { Events, type Link } from "./events";
import { patternFor } from "./path";

export type { Link } from "./events";

/** Who is told what the stream brings. */
export interface StreamListener {
  scan(scan: Scan): void;
  link(link: Link): void;
  /** Something happened in control to the points; without it that is not asked for. */
  control?(): void;
}

/** Stream brings the live values of branches and points, for as long as it is open. */
export class Stream extends Events {
  constructor(api: Api, branches: readonly string[], listener: StreamListener) {
    const target = address("stream", {
      pattern: branches.map(patternFor),
      ...(listener.control ? { control: "true" } : {}),
    });
    const handlers = {
      scan: (data: unknown) => listener.scan(data as Scan),
      control: () => listener.control?.(),
    };
    super(api, target, handlers, (link) => listener.link(link));
  }
}
