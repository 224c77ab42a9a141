// Titles of the dashboards that a node proposes, which nobody has written.

import { plain } from "../format";

const titles: Record<string, string> = {
  Alarms: "Alarms",
  "All points": "All points",
  Comfort: "Comfort",
  "Dampers and valves": "Dampers and valves",
  Equipment: "Equipment",
  Home: "Home",
  Power: "Power",
  States: "States",
  "Supply and return": "Supply and return",
  Switchgear: "Switchgear",
  Temperatures: "Temperatures",
};

/** A title in the page's language if a node proposed it, else as somebody wrote it. */
export const titleWords = (title: string) =>
  Object.hasOwn(titles, title) ? (titles[title] ?? title) : plain(title);
