/** The drawings, each as the path of a line on a field of 24 by 24. */
const drawings = {
  overview: "M3 12h4l3-8 4 16 3-8h4",
  site: "M4 5h6v5H4zM14 14h6v5h-6zM7 10v6.5h7",
  explore: "M3 4v16h18M7 15l4-5 4 3 5-7",
  control: "M6 4v7M6 15v5M12 4v3M12 11v9M18 4v10M18 18v2M4 13h4M10 9h4M16 16h4",
  bus: "M3 12h18M7 12V6M12 12v6M17 12V6M5.5 4h3M10.5 20h3M15.5 4h3",
  nodes: "M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4",
  ledger: "M5 3h14v18H5zM9 8h6M9 12h6M9 16.5l1.5 1.5 3.5-3.5",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  lab: "M9 3h6M10 3v6l-5 9.5A1.7 1.7 0 0 0 6.5 21h11a1.7 1.7 0 0 0 1.5-2.5L14 9V3M7.5 15h9",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M2.5 20c0-3.5 2.5-6 6.5-6s6.5 2.5 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5c2.200.8 3.5 2.800 3.5 5.5",
  agents: "M7 8h10v9H7zM12 8V4M9.5 12v1M14.5 12v1M4 11v4M20 11v4M9 20v-3M15 20v-3",
  alert: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  audit: "M6 3h9l4 4v14H6zM9 12l2.500 2.500L15.500 10",
  documents: "M4 6h6l2 2h8v11H4zM8 12h8M8 15.500h5",
  meter: "M5 4h14v16H5zM8 8h8v4H8zM8 16h2M12 16h4",
  mqtt: "M4 19h.01M4 13a6 6 0 0 1 6 6M4 7a12 12 0 0 1 12 12M15 5h5v5",
  cluster: "M5 4h14v5H5zM5 13h14v5H5zM8 6.5h.01M8 15.5h.01M12 18v3",
  destinations:
    "M3 12h6M9 12l5-7h6M9 12h11M9 12l5 7h6M17.5 2.5 20 5l-2.5 2.500M17.5 9.5 20 12l-2.5 2.500M17.5 16.5 20 19l-2.5 2.500",
  regulation: "M3 12c2-8 4-8 6 0s4 8 6 0 4-8 6 0M3 20h18",
  dashboards: "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.600 17.600 19 19M5 19l1.4-1.4M17.600 6.4 19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5",
  system: "M3 5h18v11H3zM8 20h8M12 16v4",
  leave: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
  close: "M6 6l12 12M18 6 6 18",
  schedule: "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5M12 13v3l2 1",
  timeline: "M6 3v18M6 6h.01M6 12h.01M6 18h.01M10 6h10M10 12h7M10 18h9",
  handover: "M4 8h13l-3-3M20 16H7l3 3",
  report: "M5 3h10l4 4v14H5zM15 3v4h4M8 17v-3M12 17v-6M16 17v-4",
  find: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
  plus: "M12 5v14M5 12h14",
} as const;

/** The name of a drawing. */
export type IconName = keyof typeof drawings;

/** A drawing in the colour of the text around it. It says nothing: put words beside it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  );
}
