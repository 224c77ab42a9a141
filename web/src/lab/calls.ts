// The lab's part of the HTTP API.

import type { Api } from "../api";
import { withReasons } from "../language/said";

/** What a run may change. */
export interface Setting {
  name: string;
  default: string;
  /** The default of a quick run, "" for the same. */
  quick: string;
  doc: string;
}

/** A published or measured figure with where it comes from. */
export interface Figure {
  label: string;
  value: number;
}

/** A question with the way to answer it. */
export interface Experiment {
  name: string;
  title: string;
  question: string;
  source: string;
  method: string[] | null;
  limits: string[] | null;
  metric: string;
  unit: string;
  higher_is_better: boolean;
  settings: Setting[] | null;
  published: { case: string; figures: Figure[] | null }[] | null;
  peers: string[] | null;
}

/** How a run goes at one moment; what is not known is left out. */
export interface Progress {
  time: string;
  phase: string;
  subject?: string;
  case?: string;
  repeat?: number;
  repeats?: number;
  /** Share of the work. */
  done: number;
  /** Operations a second. */
  rate?: number;
  /** The figure of the repeat that has just ended. */
  value?: number;
  /** Seconds. */
  p50?: number;
  p99?: number;
  /** Simulated clients that are connected. */
  clients?: number;
  /** Cores. */
  cpu?: number;
  /** Bytes. */
  memory?: number;
  message?: string;
}

/** What one subject reached in one case. */
export interface Measured {
  case: { name: string };
  /** "voltbus", or a peer that ran in the same run. */
  subject: string;
  median: number;
  least: number;
  most: number;
  published: Figure[] | null;
  peer?: Figure;
  ratios: { against: string; times: number; same_run: boolean }[] | null;
}

/** All that a run found. */
export interface Result {
  metric: { name: string; unit: string; higher_is_better: boolean };
  cases: Measured[] | null;
  skipped: { peer: string; reason: string }[] | null;
}

/** A run of an experiment. */
export interface Run {
  id: string;
  experiment: string;
  title: string;
  state: "running" | "finished" | "stopped" | "failed";
  started: string;
  finished: string | null;
  quick: boolean;
  repeats: number;
  verdict: string[] | null;
  error: string;
  progress?: Progress;
  result?: Result;
}

/** What a run is asked to do. */
export interface Order {
  experiment: string;
  settings: Record<string, string>;
  repeats: number;
  quick: boolean;
  with_peers: boolean;
}

/** The address of a run below /api/v1/. */
export const runResource = (id: string, part = "") => `lab/runs/${encodeURIComponent(id)}${part}`;

/** All experiments. */
export async function askExperiments(api: Api): Promise<Experiment[]> {
  const { experiments } = await api.get<{ experiments: Experiment[] | null }>("lab/experiments");
  await withReasons; // it is them that have the titles in other languages
  return experiments ?? [];
}

/** The runs, the newest first. */
export const askRuns = async (api: Api): Promise<Run[]> =>
  (await api.get<{ runs: Run[] | null }>("lab/runs")).runs ?? [];
