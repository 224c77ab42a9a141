// Paths name points and branches of the site: segments separated by "/". A segment may hold any
// printable text, so nothing here looks into one.

/** The last segment. */
export const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The path without its last segment, "" for a single one. */
export const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Whether path is branch itself or lies below it; everything lies below "". */
export const isUnder = (path: string, branch: string) =>
  branch === "" ||
  (path.startsWith(branch) && (path.length === branch.length || path[branch.length] === "/"));

/** What is left of path below branch; the path itself if it lies elsewhere. */
export const relativeTo = (path: string, branch: string) =>
  branch !== "" && path !== branch && isUnder(path, branch) ? path.slice(branch.length + 1) : path;

/** All branches on the way to path, the shortest first, without path itself. */
export function ancestorsOf(path: string): string[] {
  const found: string[] = [];
  for (let i = path.indexOf("/"); i >= 0; i = path.indexOf("/", i + 1))
    found.push(path.slice(0, i));
  return found;
}

/**
 * A pattern that selects at least everything under branch. A star within a name would be a
 * wildcard, so such a branch asks for a little more: filter the answer with isUnder.
 */
export const patternFor = (branch: string) => (branch.includes("*") ? `${branch}/**` : branch);
