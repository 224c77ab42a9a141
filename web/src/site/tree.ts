import type { Point } from "../api";
import { count } from "../format";
import { inNaturalOrder } from "../natural-order";
import { ancestorsOf, nameOf, parentOf } from "../path";

/** A branch of the site: everything that has points or branches below it. */
export interface Branch {
  path: string;
  name: string;
  /** 1 for the top. */
  level: number;
  branches: Branch[];
  /** The points directly below it. */
  points: Point[];
  /** All points at any depth. */
  total: number;
}

/** How the points below a branch do. */
export interface Counts {
  bad: number;
  stale: number;
}

/** One line of the tree on screen. */
export interface Row {
  branch: Branch;
  open: boolean;
  /** Place among its siblings, from 1, and how many they are. */
  position: number;
  siblings: number;
}

/** The places below which a node records what points are commanded. */
const records = /(^|\/)control(-level)?(\/|$)/;

/** The points of the site as the tree shows them: those that a node makes of commands only where somebody asks for them. */
export const shownPoints = (points: readonly Point[], branch: string): readonly Point[] =>
  records.test(branch) ? points : points.filter((p) => p.tags?.source !== "control");

/** Builds the tree; the root has the path "" and stands for the whole site. */
export function buildTree(points: readonly Point[]): Branch {
  const root: Branch = { path: "", name: "", level: 0, branches: [], points: [], total: 0 };
  const known = new Map<string, Branch>([["", root]]);
  for (const point of points) {
    root.total++;
    const home = parentOf(point.path);
    for (const path of home === "" ? [] : [...ancestorsOf(home), home]) {
      branchAt(known, path).total++;
    }
    known.get(home)?.points.push(point);
  }
  for (const branch of known.values())
    branch.branches = inNaturalOrder(branch.branches, (b) => b.name);
  return root;
}

/** The branch at a path whose parent is known. */
function branchAt(known: Map<string, Branch>, path: string): Branch {
  const old = known.get(path);
  if (old) return old;
  const parent = path.includes("/") ? known.get(parentOf(path)) : known.get("");
  const level = (parent?.level ?? 0) + 1;
  const made = { path, name: nameOf(path), level, branches: [], points: [], total: 0 };
  parent?.branches.push(made);
  known.set(path, made);
  return made;
}

/** The branch with the path, if the site has one. */
export function findBranch(root: Branch, path: string): Branch | undefined {
  let at: Branch | undefined = root;
  for (const step of path === "" ? [] : [...ancestorsOf(path), path]) {
    at = at?.branches.find((b) => b.path === step);
  }
  return at;
}

/** All points at any depth below a branch, in the order of the tree. */
export function pointsBelow(branch: Branch, into: Point[] = []): Point[] {
  for (const point of branch.points) into.push(point);
  for (const child of branch.branches) pointsBelow(child, into);
  return into;
}

/** The points that a table of a branch lists. */
export interface Listed {
  /** The branch below which they are. */
  branch: string;
  points: readonly Point[];
  /** What to know about the list; "" for nothing. */
  note: string;
}

/**
 * The points below a branch. Where a search has none there but has some elsewhere, it is those: the tree beside
 * the table shows them, too.
 */
export function listedBelow(root: Branch, branch: string, search: string): Listed {
  const below = findBranch(root, branch);
  const points = below ? pointsBelow(below) : [];
  if (search === "" || branch === "") return { branch, points, note: "" };
  if (points.length > 0 || root.total === 0) {
    const more = root.total - points.length;
    return { branch, points, note: more > 0 ? `${count(more)} more in other branches` : "" };
  }
  return {
    branch: "",
    points: pointsBelow(root),
    note: `Nothing below ${branch}; these are elsewhere.`,
  };
}

/** The lines to show, where isOpen says which branches are unfolded. */
export function visibleRows(root: Branch, isOpen: (b: Branch) => boolean, into: Row[] = []): Row[] {
  root.branches.forEach((branch, i) => {
    const open = branch.branches.length > 0 && isOpen(branch);
    into.push({ branch, open, position: i + 1, siblings: root.branches.length });
    if (open) visibleRows(branch, isOpen, into);
  });
  return into;
}

/** Whether a point has all words of a search in its path, description, unit or tags. */
export function matches(point: Point, search: string): boolean {
  const text =
    `${point.path} ${point.description} ${point.unit} ${Object.values(point.tags ?? {}).join(" ")}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A sample is stale when three of its intervals, and at least five seconds, went by without one. */
export function isStale(ageMs: number, intervalMs: number): boolean {
  return intervalMs > 0 && ageMs > Math.max(3 * intervalMs, intervalMs + 5000);
}

/** What a reader of the live values must give. */
export interface Reading {
  time: number;
  quality: string;
}

/** Counts bad and stale points for each branch that has any, by path; now says up to when a point is known. */
export function countTrouble(
  root: Branch,
  read: (path: string) => Reading | undefined,
  now: (path: string) => number,
): Map<string, Counts> {
  const found = new Map<string, Counts>();
  const walk = (branch: Branch): Counts => {
    const sum = { bad: 0, stale: 0 };
    for (const point of branch.points) {
      const last = read(point.path);
      if (last?.quality.startsWith("bad")) sum.bad++;
      else if (last && isStale(now(point.path) - last.time, point.interval * 1000)) sum.stale++;
    }
    for (const child of branch.branches) {
      const below = walk(child);
      sum.bad += below.bad;
      sum.stale += below.stale;
    }
    if (sum.bad + sum.stale > 0) found.set(branch.path, sum);
    return sum;
  };
  walk(root);
  return found;
}
