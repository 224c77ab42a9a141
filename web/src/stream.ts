import { type Api, address, type Scan } from "./api";
import { Events, type Link } from "./events";
import { patternFor } from "./path";

export type { Link } from "./events";

/** Who is told what the stream brings. */
export interface StreamListener {
  scan(scan: Scan): void;
  link(link: Link): void;
}

/** Stream brings the live values of branches and points, for as long as it is open. */
export class Stream extends Events {
  constructor(api: Api, branches: readonly string[], listener: StreamListener) {
    const target = address("stream", { pattern: branches.map(patternFor) });
    super(api, target, { scan: (data) => listener.scan(data as Scan) }, (link) =>
      listener.link(link),
    );
  }
}
