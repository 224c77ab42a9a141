// Series that are computed of others: a formula is read with its units, and evaluated over curves.

import {
  differenceOf,
  integralOf,
  isAlike,
  none,
  parseUnit,
  productOf,
  rootOf,
  type Unit,
} from "./units";

/** What is wrong with a formula, and where. */
export class FormulaError extends Error {
  constructor(
    /** The first character that is meant, from 0. */
    readonly at: number,
    readonly length: number,
    text: string,
  ) {
    super(text);
  }
}

/** A moment of the inputs that is computed: values of the points, null where one is missing. */
export type Row = (number | null)[];

/** A step of the evaluation; state is its own, so that it may look back. */
export type Evaluate = (row: Row, time: number) => number | null;

/** A part of a formula with its unit. evaluate makes a fresh evaluation. */
interface Part {
  at: number;
  length: number;
  unit: Unit;
  evaluate(): Evaluate;
}

/** A formula that is right. */
export interface Formula {
  text: string;
  /** Paths of the points that it needs, each once. */
  points: readonly string[];
  unit: Unit;
  evaluate(): Evaluate;
}

/** What a formula may name. */
export interface Known {
  /** The path that a letter stands for. */
  letter(name: string): string | undefined;
  /** The unit of a point; undefined if it is not shown. */
  unitOf(path: string): string | undefined;
}

interface Token {
  kind: "number" | "name" | "point" | "unit" | "sign" | "end";
  text: string;
  at: number;
  length: number;
}

const patterns: readonly (readonly [Token["kind"], RegExp])[] = [
  ["number", /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["name", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["point", /'[^']*'|"[^"]*"/y],
  ["unit", /\[[^\]]*\]/y],
  ["sign", /[-+*/(),×÷−]/y],
];

const signs: Record<string, string> = { "×": "*", "÷": "/", "−": "-" };
const longest = 1000;
const deepest = 50;

function tokensOf(text: string): Token[] {
  if (text.length > longest)
    throw new FormulaError(longest, 1, `A formula has at most ${longest} characters.`);
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    const token = tokenAt(text, at);
    tokens.push(token);
    at += token.length;
  }
  return [...tokens, { kind: "end", text: "", at: text.length, length: 1 }];
}

function tokenAt(text: string, at: number): Token {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    const inner = kind === "point" || kind === "unit" ? found.slice(1, -1) : found;
    return { kind, text: signs[inner] ?? inner, at, length: found.length };
  }
  const sign = text.charAt(at);
  const why =
    sign === "'" || sign === '"'
      ? "This quotation mark is not closed."
      : sign === "["
        ? "This bracket is not closed; write a unit such as [kW]."
        : `"${sign}" means nothing here.`;
  throw new FormulaError(at, 1, why);
}

/** Reads a formula. Throws a FormulaError that says what is wrong, and where. */
export function parseFormula(text: string, known: Known): Formula {
  const reader = new Reader(tokensOf(text), known);
  const part = reader.whole();
  return { text, points: reader.points, unit: part.unit, evaluate: part.evaluate };
}

/** A formula in which letters are replaced by the paths that they stand for, so that it stays true. */
export function withPaths(text: string, known: Known): string {
  let out = "";
  let end = 0;
  for (const token of tokensOf(text)) {
    const path = token.kind === "name" ? known.letter(token.text) : undefined;
    out += text.slice(end, token.at);
    const quote = path?.includes("'") ? '"' : "'";
    out +=
      path === undefined ? text.slice(token.at, token.at + token.length) : quote + path + quote;
    end = token.at + token.length;
  }
  return out.trim();
}

class Reader {
  readonly points: string[] = [];
  private next = 0;
  private depth = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly known: Known,
  ) {}

  whole(): Part {
    const part = this.sum();
    const rest = this.peek();
    if (rest.kind !== "end")
      throw wrong(rest, `"${rest.text}" is not expected here; an operator such as + is missing.`);
    return part;
  }

  private peek(): Token {
    return this.tokens[Math.min(this.next, this.tokens.length - 1)] as Token;
  }

  private take(): Token {
    const token = this.peek();
    this.next++;
    return token;
  }

  private isSign(...wanted: string[]): boolean {
    const { kind, text } = this.peek();
    return kind === "sign" && wanted.includes(text);
  }

  private sum(): Part {
    let left = this.product();
    while (this.isSign("+", "-")) {
      const sign = this.take().text === "+" ? 1 : -1;
      left = sumOf(left, this.product(), sign);
    }
    return left;
  }

  private product(): Part {
    let left = this.factor();
    while (this.isSign("*", "/")) {
      const sign = this.take().text === "*" ? 1 : -1;
      left = productPart(left, this.factor(), sign);
    }
    return left;
  }

  private factor(): Part {
    if (++this.depth > deepest) throw wrong(this.peek(), "The formula is nested too deeply.");
    const part = this.isSign("-") ? this.negated() : this.atom();
    this.depth--;
    return part;
  }

  private negated(): Part {
    const sign = this.take();
    const part = this.factor();
    isNoScale(part);
    const { evaluate } = part;
    return {
      ...spanning(sign, part),
      unit: part.unit,
      evaluate: () => mapped(evaluate(), (v) => -v),
    };
  }

  private atom(): Part {
    const token = this.take();
    if (token.kind === "number") return this.number(token);
    if (token.kind === "point") return this.point(token, token.text);
    if (token.kind === "name") return this.named(token);
    if (token.kind === "sign" && token.text === "(") {
      const inner = this.sum();
      this.close(token);
      return inner;
    }
    throw wrong(
      token,
      token.kind === "end"
        ? "The formula ends here, and a point, a number or a function is missing."
        : `"${token.text}" is not expected here; write a point, a number or a function.`,
    );
  }

  private close(opened: Token): void {
    if (!this.isSign(")")) throw wrong(opened, "This parenthesis is not closed.");
    this.take();
  }

  private number(token: Token): Part {
    const value = Number(token.text);
    const { at, length } = token;
    if (this.peek().kind !== "unit") return { at, length, unit: none, evaluate: () => () => value };
    const unit = this.take();
    const parsed = parseUnit(unit.text);
    return { at, length: unit.at + unit.length - at, unit: parsed, evaluate: () => () => value };
  }

  private point(token: Token, path: string): Part {
    const unit = this.known.unitOf(path);
    if (unit === undefined)
      throw wrong(token, `${path || "This"} is not among the shown points; add it to them.`);
    let index = this.points.indexOf(path);
    if (index < 0) index = this.points.push(path) - 1;
    const { at, length } = token;
    return { at, length, unit: parseUnit(unit), evaluate: () => (row) => row[index] ?? null };
  }

  private named(token: Token): Part {
    if (this.isSign("(")) return this.call(token);
    const path = this.known.letter(token.text);
    if (path !== undefined) return this.point(token, path);
    const hint = isFunction(token.text)
      ? `write ${token.text}(A)`
      : "write the letter of a shown point, or its path in quotation marks";
    throw wrong(token, `${token.text} is not known here; ${hint}.`);
  }

  private call(name: Token): Part {
    const opened = this.take();
    const list: Part[] = [];
    while (!this.isSign(")")) {
      list.push(this.sum());
      if (this.isSign(",")) this.take();
      else if (!this.isSign(")")) throw wrong(opened, "This parenthesis is not closed.");
    }
    const end = this.take();
    const whole = { at: name.at, length: end.at + end.length - name.at };
    return { ...applied(name, list), ...whole };
  }
}

const wrong = ({ at, length }: { at: number; length: number }, text: string) =>
  new FormulaError(at, Math.max(1, length), text);

const spanning = (a: { at: number }, b: { at: number; length: number }) => ({
  at: a.at,
  length: b.at + b.length - a.at,
});

const nameFor = (u: Unit) => u.name || "a number without a unit";

/** Refuses temperatures of a scale such as °C, whose 0 is an agreement. */
function isNoScale(part: Part): void {
  if (part.unit.zero === undefined) return;
  throw wrong(
    part,
    `This is not possible with a temperature in ${part.unit.name}; subtract another temperature first, which gives K.`,
  );
}

const mapped =
  (inner: Evaluate, how: (v: number) => number): Evaluate =>
  (row, time) => {
    const v = inner(row, time);
    return v === null ? null : how(v);
  };

function both(a: Part, b: Part, how: (x: number, y: number) => number): () => Evaluate {
  return () => {
    const [left, right] = [a.evaluate(), b.evaluate()];
    return (row, time) => {
      const [x, y] = [left(row, time), right(row, time)];
      return x === null || y === null ? null : how(x, y);
    };
  };
}

/** The factor that brings values of one unit into another one that measures the same. */
function factorBetween(from: Part, to: Part): number {
  if (isAlike(from.unit, to.unit)) return from.unit.scale / to.unit.scale;
  const hint =
    from.unit.name === "" || to.unit.name === ""
      ? `; write the unit of a number in brackets, such as 5[${from.unit.name || to.unit.name}]`
      : "";
  throw wrong(
    from,
    `${nameFor(to.unit)} and ${nameFor(from.unit)} cannot be added, subtracted or compared${hint}.`,
  );
}

function sumOf(a: Part, b: Part, sign: 1 | -1): Part {
  const place = spanning(a, b);
  const factor = factorBetween(b, a);
  const [s, t] = [a.unit, b.unit];
  if (s.zero !== undefined && t.zero !== undefined) {
    if (sign === 1)
      throw wrong(b, `Temperatures in ${t.name} cannot be added; use mean(…), or subtract one.`);
    const shift = (s.zero - t.zero) / s.scale;
    return {
      ...place,
      unit: differenceOf(s),
      evaluate: both(a, b, (x, y) => x - y * factor + shift),
    };
  }
  if (t.zero !== undefined)
    throw wrong(
      b,
      `A temperature in ${t.name} cannot be added to or subtracted from ${nameFor(s)}.`,
    );
  return { ...place, unit: s, evaluate: both(a, b, (x, y) => x + sign * y * factor) };
}

function productPart(a: Part, b: Part, sign: 1 | -1): Part {
  isNoScale(a);
  isNoScale(b);
  const { unit, factor } = productOf(a.unit, b.unit, sign);
  const how = (x: number, y: number) => (sign === 1 ? x * y : x / y) * factor;
  return { ...spanning(a, b), unit, evaluate: both(a, b, how) };
}

type Made = Pick<Part, "unit" | "evaluate">;

const functions: Record<string, (name: Token, list: readonly Part[]) => Made> = {
  min: (name, list) => ofAll(name, list, (v) => Math.min(...v)),
  max: (name, list) => ofAll(name, list, (v) => Math.max(...v)),
  mean: (name, list) => ofAll(name, list, (v) => v.reduce((s, x) => s + x, 0) / v.length),
  abs: (name, list) => {
    const part = only(name, list);
    isNoScale(part);
    return { unit: part.unit, evaluate: () => mapped(part.evaluate(), Math.abs) };
  },
  sqrt: (name, list) => {
    const part = only(name, list);
    const unit = rootOf(part.unit);
    if (!unit) throw wrong(part, `${nameFor(part.unit)} has no square root.`);
    return {
      unit,
      evaluate: () => mapped(part.evaluate(), (v) => (v < 0 ? Number.NaN : Math.sqrt(v))),
    };
  },
  delta: (name, list) => {
    const part = only(name, list);
    return {
      unit: differenceOf(part.unit),
      evaluate: () => lookingBack(part.evaluate(), (v, before) => v - before),
    };
  },
  rate: (name, list) => {
    const part = only(name, list);
    const { unit, factor } = productOf(differenceOf(part.unit), parseUnit("h"), -1);
    const how = (v: number, before: number, ms: number) => ((v - before) / (ms / hourMs)) * factor;
    return { unit, evaluate: () => lookingBack(part.evaluate(), how) };
  },
  integral: (name, list) => {
    const part = only(name, list);
    isNoScale(part);
    const { unit, factor } = integralOf(part.unit);
    return { unit, evaluate: () => integrating(part.evaluate(), factor) };
  },
};

/** The names of the functions, in the order in which they are explained. */
export const functionNames = Object.keys(functions);

const isFunction = (name: string) => Object.hasOwn(functions, name);

const hourMs = 3_600_000;

function applied(name: Token, list: readonly Part[]): Made {
  const make = isFunction(name.text) ? functions[name.text] : undefined;
  if (!make)
    throw wrong(name, `${name.text} is not a function; there are ${functionNames.join(", ")}.`);
  return make(name, list);
}

function only(name: Token, [part, more]: readonly Part[]): Part {
  if (!part) throw wrong(name, `${name.text} needs a value, such as ${name.text}(A).`);
  if (more) throw wrong(more, `${name.text} takes one value.`);
  return part;
}

/** A function of any number of values in the unit of the first; where one is missing, there is none. */
function ofAll(name: Token, list: readonly Part[], how: (values: number[]) => number): Made {
  const [first] = list;
  if (!first) throw wrong(name, `${name.text} needs values, such as ${name.text}(A, B).`);
  const convert = list.map((part) => converter(part, first));
  const evaluate = () => {
    const inner = list.map((part) => part.evaluate());
    return (row: Row, time: number) => {
      const values: number[] = [];
      let isWhole = true;
      inner.forEach((one, i) => {
        const v = one(row, time);
        if (v === null) isWhole = false;
        else values.push((convert[i] as (v: number) => number)(v));
      });
      return isWhole ? how(values) : null;
    };
  };
  return { unit: first.unit, evaluate };
}

function converter(from: Part, to: Part): (v: number) => number {
  const factor = factorBetween(from, to);
  const [a, b] = [from.unit.zero, to.unit.zero];
  if ((a === undefined) !== (b === undefined)) {
    throw wrong(
      from,
      `${nameFor(to.unit)} and ${nameFor(from.unit)} cannot be compared: one is a temperature, the other a difference.`,
    );
  }
  const shift = a === undefined || b === undefined ? 0 : (a - b) / to.unit.scale;
  return (v) => v * factor + shift;
}

/** A function of a value and of the one before; after a gap it begins anew. */
function lookingBack(
  inner: Evaluate,
  how: (v: number, before: number, ms: number) => number,
): Evaluate {
  let before: { v: number; time: number } | undefined;
  return (row, time) => {
    const v = inner(row, time);
    const last = before;
    before = v === null ? undefined : { v, time };
    return v === null || last === undefined || time <= last.time
      ? null
      : how(v, last.v, time - last.time);
  };
}

/** The sum of values times hours so far; each value holds until the next one, and gaps add nothing. */
function integrating(inner: Evaluate, factor: number): Evaluate {
  let sum = 0;
  let before: { v: number; time: number } | undefined;
  return (row, time) => {
    const v = inner(row, time);
    if (before) sum += ((before.v * (time - before.time)) / hourMs) * factor;
    before = v === null ? undefined : { v, time };
    return v === null ? null : sum;
  };
}
