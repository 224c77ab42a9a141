// Finds the English words of the page in its sources: text between tags, attributes that people read or hear, and
// sentences in literals. The build turns them into lookups (plugin.ts); the test of the languages compares them with
// the files of the languages (words.test.ts). The sources themselves stay plain English.

import { parseSync } from "vite";

/** A node of the parser's tree (ESTree with JSX and TypeScript), of which only some fields are used here. */
export interface Node {
  type: string;
  start: number;
  end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the parser's tree has some hundred shapes
  [field: string]: any;
}

/** A piece of source that is replaced. Pieces never overlap. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A message: an English text with placeholders, and how the source calls for it in another language. */
export interface Message {
  key: string;
  line: number;
  edits: Edit[];
}

/** How readily a literal counts as words: never, if it reads like a sentence, or always. */
type Mode = "never" | "sentence" | "word";

/** Attributes of elements that people read or hear. */
const heard = new Set(
  "title aria-label placeholder alt label aria-description aria-valuetext aria-roledescription".split(
    " ",
  ),
);

/** Attributes of components that are never words, whatever they look like. */
const technical = new Set(
  "class href id key icon type path role for d style url address method verb field src viewBox level severity tone".split(
    " ",
  ),
);

/** Fields of objects whose values are always words. */
const worded = new Set(
  "label title word words text hint advice caption heading does says what why says".split(" "),
);

/** Functions whose arguments are always words. */
const marks = new Set(["word", "coded"]);

/** Functions and methods whose arguments are never words. */
const quiet = new Set(
  (
    "includes startsWith endsWith get has split replace replaceAll match matchAll test exec indexOf addEventListener " +
    "removeEventListener querySelector querySelectorAll createElement matchMedia closest getItem setItem removeItem " +
    "setAttribute RegExp URL URLSearchParams getPropertyValue createElementNS execCommand postMessage"
  ).split(" "),
);

const speaking = /(words?|name|title|label|text|sentence|hint|says?|said|why|means?)$/i;

/** Whether a text, with \ufffc for each placeholder, is words. */
function isWords(text: string, mode: Mode): boolean {
  if (mode === "never" || !/\p{L}{2,}/u.test(text) || text.includes("://")) return false;
  if (mode === "word") return /\p{Ll}/u.test(text);
  if (/^[./?#&]|[{}=<>;]|^[a-z]+-[a-z-]+$/.test(text.trim())) return false;
  return /\p{L}[,.:;…]? | \p{L}/u.test(text) || /^[“(]?\p{Lu}\p{Ll}+[.…!?:)”]*$/u.test(text);
}

/** All messages of a source, in the order of their beginnings; a caller may name them otherwise than by their text. */
export function messages(
  file: string,
  code: string,
  named: (english: string) => string = (english) => english,
): Message[] {
  const parsed = parseSync(file, code);
  if (parsed.errors.length > 0) throw new Error(`${file}: ${parsed.errors[0]?.message}`);
  const finder = new Finder(code, named);
  finder.visit(parsed.program as unknown as Node, "sentence");
  return finder.found;
}

/** A part of a message: text, or a piece of source that is its value. */
type Piece =
  | { text: string; start: number; end: number }
  | { form?: string; source: Node; call?: Node; start: number; end: number; element?: boolean };

const isText = (p: Piece): p is Extract<Piece, { text: string }> => "text" in p;

class Finder {
  readonly found: Message[] = [];
  readonly code: string;
  private readonly named: (english: string) => string;

  constructor(code: string, named: (english: string) => string) {
    this.code = code;
    this.named = named;
  }

  visit(node: Node | null | undefined, mode: Mode): void {
    if (!node) return;
    const handler = handlers[node.type];
    if (handler) handler(this, node, mode);
    else if (!node.type.startsWith("TS")) this.inside(node, "sentence");
  }

  /** Visits all that a node holds. */
  inside(node: Node, mode: Mode): void {
    for (const [name, held] of Object.entries(node)) {
      if (name === "typeAnnotation" || name === "typeArguments") continue;
      for (const n of Array.isArray(held) ? held : [held])
        if (n && typeof n === "object" && typeof n.type === "string") this.visit(n, mode);
    }
  }

  /** A literal, a template, or several of them with + between: one message if it is words. */
  literal(node: Node, mode: Mode): unknown {
    const pieces = piecesOf(node);
    if (!pieces) return this.inside(node, mode === "never" ? "never" : "sentence");
    const words = isWords(pieces.map((p) => (isText(p) ? p.text : "\ufffc")).join(""), mode);
    if (words) this.add(pieces, node.start, node.end, "say", ["", ""]);
    // What stands alone in a template without words of its own is a message by itself
    for (const p of pieces)
      if (!isText(p)) this.value(words ? p.source : (p.call ?? p.source), mode);
  }

  /** What stands in a placeholder: it may hold messages of its own. */
  value(node: Node, mode: Mode): void {
    this.visit(node, mode);
  }

  /** A call of plural with a literal. */
  plural(node: Node, word: string): void {
    const n: Node = node.arguments[0];
    this.add(
      [{ source: n, form: `#${word}`, start: node.start, end: node.end }],
      node.start,
      node.end,
      "say",
      ["", ""],
    );
    this.visit(n, "sentence");
  }

  /** The children of an element: the stretch with text in it is one message. */
  children(node: Node): void {
    const pieces = trim(jsxPieces(node.children));
    const bare = pieces.some((p) => isText(p) && /\p{L}{2,}/u.test(p.text));
    const words = pieces.map((p) => (isText(p) ? p.text : "\ufffc")).join("");
    if (bare && isWords(words, "word")) this.stretch(pieces);
    for (const child of node.children as Node[])
      if (child.type !== "JSXText") this.child(child, bare ? pieces : []);
  }

  /** Keeps the stretch of an element's children, with the blanks at its ends outside. */
  private stretch(pieces: Piece[]): void {
    const first = pieces[0] as Piece;
    const last = pieces[pieces.length - 1] as Piece;
    const before = isText(first) && /^\s/.test(first.text) ? '{" "}' : "";
    const after = isText(last) && /\s$/.test(last.text) ? '{" "}' : "";
    const call = pieces.every(isText) ? "say" : "show";
    this.add(pieces, first.start, last.end, call, [`${before}{`, `}${after}`]);
  }

  /** A child of an element: of what is a part of the stretch, only the values are left to visit. */
  private child(child: Node, stretch: Piece[]): void {
    if (child.type !== "JSXExpressionContainer") return void this.visit(child, "sentence");
    const mine = stretch.filter((p) => p.start >= child.start && p.end <= child.end);
    if (mine.length === 0) return void this.visit(child.expression, "word");
    for (const p of mine) if (!isText(p)) this.value(p.source, "word");
  }

  /** Keeps a message, with the pieces of source that a lookup replaces. */
  add(pieces: Piece[], start: number, end: number, call: string, around: [string, string]): void {
    let key = "";
    let at = start;
    let n = 0;
    const edits: Edit[] = [];
    const values: { start: number; end: number }[] = [];
    for (const p of pieces) {
      if (isText(p)) key += p.text.replace(/[{}]/g, "'");
      else {
        key += `{${n}${p.form ?? ""}}`;
        n++;
        values.push(p.source);
      }
    }
    const shown = this.named(around[0] === "" ? key : key.trim());
    let lead = `${around[0]}__${call}(${JSON.stringify(shown)}`;
    for (const v of values) {
      edits.push({ start: at, end: v.start, text: `${lead}, (` });
      lead = ")";
      at = v.end;
    }
    edits.push({ start: at, end, text: `${lead})${around[1]}` });
    const line = this.code.slice(0, start).split("\n").length;
    this.found.push({ key: shown, line, edits });
  }
}

const isString = (n: Node) => n.type === "Literal" && typeof n.value === "string";

/** The word of a call plural(n, "word"); undefined if it is none. */
function pluralOf(n: Node): string | undefined {
  const word: Node | undefined = n.arguments?.[1];
  const named = n.type === "CallExpression" && n.callee.name === "plural" && word && isString(word);
  return named ? (word.value as string) : undefined;
}

/** A literal, a template or a sum of them as pieces; undefined if it is none. */
function piecesOf(node: Node): Piece[] | undefined {
  if (isString(node)) return [{ text: node.value, start: node.start, end: node.end }];
  if (node.type === "BinaryExpression" && node.operator === "+") {
    const [left, right] = [piecesOf(node.left), piecesOf(node.right)];
    return left && right ? [...left, ...right] : undefined;
  }
  if (node.type !== "TemplateLiteral") return undefined;
  const pieces: Piece[] = [];
  (node.quasis as Node[]).forEach((q, i) => {
    if (q.value.cooked) pieces.push({ text: q.value.cooked, start: q.start, end: q.end });
    const e: Node | undefined = node.expressions[i];
    if (e) pieces.push(valuePiece(e, e));
  });
  return pieces;
}

/** A value of a message: of plural(n, "word") and n === 1 ? "is" : "are" the number n, with the forms in the key. */
function valuePiece(e: Node, place: Node): Piece {
  const { start, end } = place;
  const word = pluralOf(e);
  if (word !== undefined) return { source: e.arguments[0], call: e, form: `#${word}`, start, end };
  const { test, consequent: one, alternate: other } = e;
  const agrees =
    e.type === "ConditionalExpression" && test.operator === "===" && test.right.value === 1;
  if (agrees && isString(one) && isString(other))
    return { source: test.left, call: e, form: `?${one.value}|${other.value}`, start, end };
  return { source: e, start, end };
}

/** The children of an element as pieces. */
const jsxPieces = (children: Node[]): Piece[] => children.flatMap(childPieces);

function childPieces(c: Node): Piece[] {
  const { start, end } = c;
  if (c.type === "JSXText") {
    const text = jsxText(c.value);
    return text ? [{ text, start, end }] : [];
  }
  if (c.type !== "JSXExpressionContainer") return [{ source: c, element: true, start, end }];
  const e: Node = c.expression;
  if (e.type === "JSXEmptyExpression") return [];
  const inner = piecesOf(e);
  if (!inner) {
    const element = /^(JSX|Logical|ArrowF)/.test(e.type);
    return [{ ...valuePiece(e, c), ...(element ? { element } : {}) }];
  }
  // The braces belong to the first and the last piece
  const [first, last] = [inner[0], inner[inner.length - 1]];
  if (first) first.start = start;
  if (last) last.end = end;
  return inner;
}

/** Leaves out the elements at both ends that stand without text beside them. */
function trim(pieces: Piece[]): Piece[] {
  const apart = (p: Piece | undefined, next: Piece | undefined, near: RegExp) =>
    p !== undefined &&
    (isText(p)
      ? !/\p{L}/u.test(p.text) && next !== undefined && !isText(next) && next.element
      : p.element &&
        (!next || !isText(next) || !near.test(next.text) || p.source.openingElement?.selfClosing));
  let [from, to] = [0, pieces.length];
  while (from < to && apart(pieces[from], pieces[from + 1], /^\s/)) from++;
  while (to > from && apart(pieces[to - 1], pieces[to - 2], /\s$/)) to--;
  return pieces.slice(from, to);
}

const entities: Record<string, string> = { nbsp: "\u00a0", amp: "&", lt: "<", gt: ">", quot: '"' };

/** Text between tags as JSX reads it: line breaks and the blanks around them are one blank at most. */
function jsxText(raw: string): string {
  const lines = raw.split(/\r?\n/);
  return lines
    .map((line, i) => {
      let t = line.replace(/\t/g, " ");
      if (i > 0) t = t.replace(/^ +/, "");
      if (i < lines.length - 1) t = t.replace(/ +$/, "");
      return t;
    })
    .filter((t) => t !== "")
    .join(" ")
    .replace(/&(\w+);/g, (all, name: string) => entities[name] ?? all);
}

type Handler = (f: Finder, node: Node, mode: Mode) => unknown;

const comparing = new Set(["===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"]);

/** Whether a declared type is a record or a map of plain strings. */
const holdsStrings = (id: Node, code: string) =>
  /Record<.*, string>|: string(\[\])?$/.test(
    code.slice(id.typeAnnotation?.start ?? 0, id.typeAnnotation?.end ?? 0),
  );

const through: Handler = (f, n, mode) => f.visit(n.expression, mode);

const func: Handler = (f, n) => {
  const mode = speaking.test(n.id?.name ?? n.named ?? "") ? "word" : "sentence";
  for (const p of n.params) f.visit(p, "sentence");
  if (n.body?.type === "BlockStatement") {
    for (const s of n.body.body) returning(f, s, mode);
  } else if (n.body) f.visit(n.body, mode);
};

/** A statement of a function whose returned literals have a mode. */
function returning(f: Finder, s: Node, mode: Mode): void {
  if (s.type === "ReturnStatement") f.visit(s.argument, mode);
  else if (s.type === "IfStatement") {
    f.visit(s.test, "sentence");
    returning(f, s.consequent, mode);
    if (s.alternate) returning(f, s.alternate, mode);
  } else if (s.type === "BlockStatement") for (const inner of s.body) returning(f, inner, mode);
  else if (s.type === "SwitchStatement") {
    for (const c of s.cases) for (const inner of c.consequent) returning(f, inner, mode);
  } else f.visit(s, "sentence");
}

const handlers: Record<string, Handler> = {
  Literal: (f, n, mode) => isString(n) && f.literal(n, mode),
  TemplateLiteral: (f, n, mode) => f.literal(n, mode),
  TaggedTemplateExpression: () => {},
  ImportDeclaration: () => {},
  ImportExpression: () => {},
  ExportAllDeclaration: () => {},
  ParenthesizedExpression: through,
  TSAsExpression: through,
  TSSatisfiesExpression: through,
  TSNonNullExpression: through,
  ConditionalExpression: (f, n, mode) => {
    f.visit(n.test, "sentence");
    f.visit(n.consequent, mode);
    f.visit(n.alternate, mode);
  },
  LogicalExpression: (f, n, mode) => {
    f.visit(n.left, n.operator === "&&" ? "sentence" : mode);
    f.visit(n.right, mode);
  },
  BinaryExpression: (f, n, mode) => {
    if (n.operator === "+") return f.literal(n, mode);
    const literal = comparing.has(n.operator) ? "never" : "sentence";
    f.visit(n.left, literal);
    f.visit(n.right, literal);
  },
  SwitchCase: (f, n) => {
    for (const s of n.consequent) f.visit(s, "sentence");
  },
  MemberExpression: (f, n) => {
    f.visit(n.object, "sentence");
    if (n.computed) f.visit(n.property, "never");
  },
  Property: (f, n, mode) => {
    if (n.computed) f.visit(n.key, "never");
    const name: string = n.key.name ?? n.key.value ?? "";
    if (technical.has(name)) return f.visit(n.value, "never");
    if (isFunction(n.value)) n.value.named = name;
    f.visit(n.value, worded.has(name) || mode === "word" ? "word" : "sentence");
  },
  ObjectExpression: (f, n, mode) => f.inside(n, mode === "word" ? "word" : "sentence"),
  ArrayExpression: (f, n, mode) => f.inside(n, mode === "never" ? "never" : "sentence"),
  VariableDeclarator: (f, n) => {
    f.visit(n.id, "sentence");
    if (!n.init) return;
    const name: string = n.id.name ?? "";
    if (isFunction(n.init)) n.init.named = name;
    const holder = /Expression$/.test(n.init.type) && !isFunction(n.init);
    const words = holder && n.init.type === "ObjectExpression" && holdsStrings(n.id, f.code);
    f.visit(n.init, words || speaking.test(name) ? "word" : "sentence");
  },
  FunctionDeclaration: func,
  FunctionExpression: func,
  ArrowFunctionExpression: func,
  NewExpression: (f, n, mode) => handlers.CallExpression?.(f, n, mode),
  CallExpression: (f, n, mode) => {
    const word = pluralOf(n);
    if (word !== undefined) return f.plural(n, word);
    f.visit(n.callee, "sentence");
    const name: string = n.callee.property?.name ?? n.callee.name ?? "";
    const args: Mode = marks.has(name)
      ? "word"
      : quiet.has(name) || mode === "never"
        ? "never"
        : "sentence";
    for (const a of n.arguments) f.visit(a, args);
  },
  JSXFragment: (f, n) => f.children(n),
  JSXElement: (f, n) => {
    const tag: string = n.openingElement.name.name ?? "Component";
    const component = /^[A-Z]/.test(tag);
    for (const a of n.openingElement.attributes) attribute(f, a, component);
    if (/^(code|pre|kbd|samp|style)$/.test(tag)) return quietly(f, n);
    f.children(n);
  },
};

/** The children of an element whose text is no words, such as code: only what its expressions hold. */
function quietly(f: Finder, n: Node): void {
  for (const c of n.children)
    if (c.type === "JSXExpressionContainer") f.visit(c.expression, "never");
    else if (c.type === "JSXElement") f.visit(c, "sentence");
}

const isFunction = (n: Node) => /Function/.test(n.type);

function attribute(f: Finder, a: Node, component: boolean): unknown {
  if (a.type !== "JSXAttribute") return f.visit(a.argument, "sentence");
  if (!a.value) return;
  const name: string = a.name.name?.name ?? a.name.name ?? "";
  const words = heard.has(name) || (component && worded.has(name));
  const mode: Mode = words ? "word" : component && !technical.has(name) ? "sentence" : "never";
  if (a.value.type !== "Literal") return f.visit(a.value.expression, mode);
  const before = f.found.length;
  f.literal(a.value, mode);
  // A literal in an attribute has no braces of its own
  for (const m of f.found.slice(before)) for (const e of m.edits) e.text = `{${e.text}}`;
}

/** A source with its words turned into lookups, and an import of them; the source as it is if it has none. */
export function rewrite(code: string, found: readonly Message[], runtime: string): string {
  const edits = found.flatMap((m) => m.edits).sort((a, b) => a.start - b.start || a.end - b.end);
  if (edits.length === 0) return code;
  let out = "";
  let at = 0;
  for (const e of edits) {
    if (e.start < at) throw new Error(`two messages overlap at ${e.start}`);
    out += code.slice(at, e.start) + e.text;
    at = e.end;
  }
  return `import { say as __say, show as __show } from ${JSON.stringify(runtime)};${out}${code.slice(at)}`;
}
