// What the palette offers, and in which order.

/** Something to go to or to do. */
export interface Item {
  /** Unique among all. */
  key: string;
  group: Group;
  /** What it is: the text that is searched first. */
  text: string;
  /** Where it is, or what else tells it apart; searched, too. */
  more: string;
  /** Whether more is a path, which is cut at its left. */
  isPath?: boolean;
  /** Further words that find it and are not shown. */
  also?: string;
  /** Whether it goes on in the palette. */
  stays?: boolean;
  run(): void;
}

/** The groups of the palette, in the order of their equals. */
export const groups = ["Screens", "Actions", "Devices", "Points", "Saved"] as const;
export type Group = (typeof groups)[number];

/** The words of a search, in lower case. */
export const wordsIn = (search: string): string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w !== "");

/** How well a text has a word: as its beginning, as that of one of its words, within one, or not at all. */
function closeness(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return text.length === word.length ? 8 : 6;
  for (let i = at; i >= 0; i = text.indexOf(word, i + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[i - 1] ?? "")) return 4;
  }
  return 2;
}

/** How well an item has all words; 0 if it lacks one. */
export function score(item: Item, words: readonly string[]): number {
  const [text, more, also] = [item.text, item.more, item.also ?? ""].map((t) => t.toLowerCase());
  const name = item.isPath ? (more?.slice(more.lastIndexOf("/") + 1) ?? "") : "";
  let sum = 0;
  for (const word of words) {
    const best = Math.max(
      closeness(text ?? "", word) * 2,
      closeness(name, word) * 2 - 1,
      closeness(more ?? "", word),
      closeness(also ?? "", word),
    );
    if (best <= 0) return 0;
    sum += best;
  }
  return sum;
}

/** How many of a group are shown. */
export const mostOfGroup = 8;

/** The items that have all words, the best of each group, and the group of the best first. */
export function choose(items: readonly Item[], search: string): Item[] {
  const words = wordsIn(search);
  const found = items
    .map((item, at) => ({ item, at, is: words.length === 0 ? 1 : score(item, words) }))
    .filter((f) => f.is > 0)
    .sort((a, b) => b.is - a.is || a.item.text.length - b.item.text.length || a.at - b.at);
  const by = new Map<Group, Item[]>();
  for (const { item } of words.length === 0 ? found.sort((a, b) => a.at - b.at) : found) {
    const list = by.get(item.group) ?? [];
    if (list.length < mostOfGroup) list.push(item);
    by.set(item.group, list);
  }
  const order = words.length === 0 ? groups : [...by.keys()];
  return order.flatMap((g) => by.get(g) ?? []);
}
