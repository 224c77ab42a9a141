import { inSentence } from "../language/codes";
import { numeral, wrongNumber } from "../language/number";
import { language } from "../language/words";
// What is written in the form of a rule.

import type { AlarmRule } from "../generated/api";
import { ruleName } from "./words";

type NumberField =
  | "limit"
  | "deadband"
  | "on_delay"
  | "off_delay"
  | "change"
  | "per"
  | "longest"
  | "tolerance";

/** The fields of the form, as text. */
export interface Draft extends Record<NumberField, string> {
  points: string;
  name: string;
  check: AlarmRule["check"];
  priority: NonNullable<AlarmRule["priority"]>;
  values: string;
  feedback: string;
  expression: string;
  /** One in a line: a name, = and the path of a point. */
  inputs: string;
  message: string;
  response: string;
}

/** An empty form. */
export const draftOf = (path: string): Draft => ({
  points: path,
  name: "",
  check: "high",
  priority: "medium",
  limit: "",
  deadband: "",
  on_delay: "",
  off_delay: "",
  change: "",
  per: "",
  longest: "",
  tolerance: "",
  values: "",
  feedback: "",
  expression: "",
  inputs: "",
  message: "",
  response: "",
});

/** A field of the form that only some checks have. */
export interface FormField {
  name: NumberField | "values" | "feedback" | "expression" | "inputs";
  words: string;
  hint: string;
  required?: boolean;
  /** It has several lines. */
  lines?: boolean;
}

const limit: FormField = { name: "limit", words: "Limit", hint: "80", required: true };
const deadband: FormField = { name: "deadband", words: "Deadband", hint: "0" };
const delays: readonly FormField[] = [
  { name: "on_delay", words: "After, seconds", hint: "0" },
  { name: "off_delay", words: "Over after, seconds", hint: "0" },
];

const fields: Record<AlarmRule["check"], readonly FormField[]> = {
  high: [limit, deadband, ...delays],
  low: [limit, deadband, ...delays],
  rate: [
    { name: "change", words: "Change by more than", hint: "5", required: true },
    { name: "per", words: "Within, seconds", hint: "60" },
    deadband,
    ...delays,
  ],
  stuck: [
    { name: "longest", words: "For, seconds", hint: "3600", required: true },
    { name: "tolerance", words: "Within", hint: "0" },
  ],
  stale: [{ name: "longest", words: "For, seconds", hint: "Three intervals" }],
  state: [
    { name: "values", words: "Values, with commas", hint: "true, fault", required: true },
    ...delays,
  ],
  discrepancy: [
    { name: "feedback", words: "Point of the feedback", hint: "{1}/{2}/status", required: true },
    { name: "tolerance", words: "By more than", hint: "0" },
    ...delays,
  ],
  expression: [
    {
      name: "expression",
      words: "Condition",
      hint: "supply - return < 2 and pump == 1",
      required: true,
      lines: true,
    },
    {
      name: "inputs",
      words: "Its points, one in a line",
      hint: "supply = b1/ahu1/supply_temp",
      lines: true,
    },
    {
      name: "longest",
      words: "Not judged with readings older than, seconds",
      hint: "Three intervals",
    },
    ...delays,
  ],
};

/** The fields that a check has. */
export const fieldsOf = (check: AlarmRule["check"]) => fields[check];

/** The points by name; undefined if a line is none. */
export function readInputs(text: string): Record<string, string> | undefined {
  const inputs: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [, name, path] = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(\S.*?)\s*$/.exec(line) ?? [];
    if (!name || !path) return undefined;
    inputs[name] = path;
  }
  return inputs;
}

/** Reads a field into the rule; returns what is wrong with it, "" if nothing is. */
function readField(rule: AlarmRule, f: FormField, text: string): string {
  if (text === "") return f.required ? `Write: ${inSentence(f.words, language)}.` : "";
  if (f.name === "values") rule.values = text.split(",").map((v) => v.trim());
  else if (f.name === "feedback") rule.feedback = text;
  else if (f.name === "expression") rule.expression = text;
  else if (f.name === "inputs") {
    const inputs = readInputs(text);
    if (!inputs) return `${f.words}: write a name, = and the path of a point.`;
    rule.inputs = inputs;
  } else {
    const n = numeral(text);
    if (!Number.isFinite(n)) return wrongNumber(text, `${f.words}: write a number.`);
    rule[f.name] = n;
  }
  return "";
}

/** The rule that is written, or what is missing. */
export function readDraft(d: Draft, path: string): { rule: AlarmRule } | { problem: string } {
  const points = d.points.trim();
  if (points === "") return { problem: "Write which points the rule is for." };
  const name = d.name.trim() || (path ? ruleName(path, d.check) : "");
  if (name === "") return { problem: "Write a name for the rule." };
  const rule: AlarmRule = { name, points: [points], check: d.check, priority: d.priority };
  for (const f of fieldsOf(d.check)) {
    const problem = readField(rule, f, d[f.name].trim());
    if (problem) return { problem };
  }
  if (d.message.trim()) rule.message = d.message.trim();
  if (d.response.trim()) rule.response = d.response.trim();
  return { rule };
}
