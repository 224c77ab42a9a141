// How the choices of the explorer are called.

import type { Comparison, ExplorerView, Figure, Show, Step } from "./view";

export const comparisonNames: Record<Comparison, string> = {
  "": "Compare with nothing",
  day: "With the day before",
  week: "With the week before",
  month: "With the month before",
  year: "With the year before",
};

export const stepNames: Record<Step, string> = {
  "": "Measured values",
  "15m": "Each 15 minutes",
  "1h": "Each hour",
  "1d": "Each day",
  "1w": "Each week",
  "1mo": "Each month",
  "1y": "Each year",
};

export const figureNames: Record<Figure, string> = {
  mean: "Mean",
  timeweighted: "Mean weighted by time",
  min: "Least",
  max: "Greatest",
  median: "Median",
  p95: "95th percentile",
  stddev: "Standard deviation",
  sum: "Sum",
  count: "Number of samples",
  first: "First",
  last: "Last",
};

export const showNames: Record<Show, string> = {
  plot: "Plot",
  table: "Table",
  heat: "Heat map",
  scatter: "Scatter",
  duration: "Duration",
};

const eachNames: Record<Step, string> = {
  "": "",
  "15m": "15 minutes",
  "1h": "hour",
  "1d": "day",
  "1w": "week",
  "1mo": "month",
  "1y": "year",
};

/** What the columns of a table hold, in words. */
export function wordsOf({ comparison, figure }: ExplorerView, step: Step) {
  return {
    figure: step ? `${figureNames[figure].toLowerCase()} of each ${eachNames[step]}` : "measured",
    comparison: comparison ? `the ${comparison} before` : "",
  };
}
