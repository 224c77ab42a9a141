// Arguments of a method as they are typed, and as JSON.

/** An argument of a method. */
export interface Param {
  name: string;
  type: string;
  default?: unknown;
  kind: string;
}

/** Whether the argument takes any more of them, which one field cannot say. */
export const isRest = ({ kind }: Pick<Param, "kind">) =>
  kind === "rest" || kind === "args" || kind === "kwargs";

const isText = (type: string) => /^(str|string|text)\b/i.test(type) && !/[[|]/.test(type);

/** The value that was typed: JSON, or the text itself where one is wanted or JSON is not what it is. */
export function parsed(typed: string, type: string): unknown {
  if (isText(type)) return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** The arguments that were typed: by name as far as they may, else by place. Empty ones are left out. */
export function argumentsOf(
  params: readonly Param[],
  typed: Readonly<Record<string, string>>,
): { args: unknown[]; kwargs: Record<string, unknown> } {
  const args: unknown[] = [];
  const kwargs: Record<string, unknown> = Object.create(null);
  for (const p of params) {
    const text = typed[p.name] ?? "";
    if (isRest(p) || (text === "" && (p.default !== undefined || !isText(p.type)))) continue;
    if (p.kind === "positional") args.push(parsed(text, p.type));
    else kwargs[p.name] = parsed(text, p.type);
  }
  return { args, kwargs };
}
