import { once } from "./language/once";

const byLanguage = once(
  () => new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare,
);

const isPlain = /^[a-z0-9/_-]*$/i;

/** Things by their names or paths, in the order in which people count: "zone2" before "zone10". */
export function inNaturalOrder<T>(things: readonly T[], nameOf: (thing: T) => string): T[] {
  // A browser takes long to read the order of languages, which few sites need
  const compare = things.every((t) => isPlain.test(nameOf(t))) ? byNumbers : byLanguage();
  return [...things].sort((a, b) => compare(nameOf(a), nameOf(b)));
}

/** The order of names of letters and digits of ASCII. */
function byNumbers(a: string, b: string): number {
  const [ours, theirs] = [piecesOf(a), piecesOf(b)];
  for (const [i, own] of ours.entries()) {
    const other = theirs[i];
    if (other === undefined) return 1;
    const apart = Number(own) - Number(other); // NaN if one is no number
    if (apart) return apart;
    if (own !== other && Number.isNaN(apart)) return own < other ? -1 : 1;
  }
  return ours.length - theirs.length;
}

const piecesOf = (name: string) => name.toLowerCase().match(/\d+|\D+/g) ?? [];
