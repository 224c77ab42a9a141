// The shown data for use elsewhere: links to files, and commands that ask for the same.

import { address, type Query } from "../api";
import { iso } from "./iso";

/** The points and the range that are taken along. */
export interface Taken {
  points: readonly string[];
  from: number;
  to: number;
}

/** The kinds of files that the node makes. */
export const formats = [
  { format: "csv", label: "CSV", for: "spreadsheets" },
  { format: "parquet", label: "Parquet", for: "pandas, Spark, DuckDB" },
  { format: "arrow", label: "Arrow", for: "pandas, Polars, R" },
] as const;

const queryOf = ({ points, from, to }: Taken): Query => ({
  point: points,
  from: iso(from),
  to: iso(to),
});

/** The address of a file with all samples. With plain, texts in CSV are none that a spreadsheet takes for a formula. */
export const fileAddress = (taken: Taken, format: string, plain = false) =>
  address("export", {
    ...queryOf(taken),
    format,
    ...(plain && format === "csv" ? { cells: "text" } : {}),
  });

/** A report has no more points. */
export const mostReported = 50;

/** The address of a report to print. */
export const reportAddress = (taken: Taken) =>
  address("report", queryOf({ ...taken, points: taken.points.slice(0, mostReported) }));

/** A text as one word of a POSIX shell. */
const word = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A command line that asks the node for all samples as CSV. */
export function curl(taken: Taken, node: string): string {
  const data = [
    ...taken.points.map((p) => `point=${p}`),
    `from=${iso(taken.from)}`,
    `to=${iso(taken.to)}`,
    "format=csv",
  ];
  return [
    `curl --get ${word(`${node}/api/v1/export`)}`,
    `--header "Authorization: Bearer $VOLTBUS_TOKEN"`,
    ...data.map((d) => `--data-urlencode ${word(d)}`),
  ].join(" \\\n  ");
}

/** A Python program that makes a pandas frame with a column for each point. */
export function python(taken: Taken, node: string): string {
  const text = (s: string) => JSON.stringify(s).replaceAll("\u2028", "\\u2028");
  return `import io, os, pandas as pd, requests

points = [
${taken.points.map((p) => `    ${text(p)},`).join("\n")}
]
answer = requests.get(
    ${text(`${node}/api/v1/export`)},
    params={"point": points, "from": "${iso(taken.from)}", "to": "${iso(taken.to)}"},
    headers={"Authorization": "Bearer " + os.environ["VOLTBUS_TOKEN"]},
)
answer.raise_for_status()
rows = pd.read_csv(io.StringIO(answer.text), parse_dates=["time"])
frame = rows.pivot_table(index="time", columns="point", values="value", aggfunc="last")
print(frame.describe())`;
}
