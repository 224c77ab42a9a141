// The files of the page, as the program serves them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { extname, join } from "node:path";

const root = join(import.meta.dirname, "..");

/** The policy that the program sends, read from where it stands, so that both cannot differ. */
const policy = [
  ...(/policy = (.*?)\n\n/s.exec(readFileSync(join(root, "web.go"), "utf8"))?.[1] ?? "").matchAll(
    /"([^"]+)"/g,
  ),
]
  .map((piece) => piece[1])
  .join("");
if (!policy.includes("script-src 'self'")) throw new Error("web.go no longer says its policy");

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

const publicFiles = new Set(readdirSync(join(root, "public")).map((name) => `/${name}`));

/** The page with the files of the screen of a path, if it is one. */
function pageOf(path: string): string {
  const page = `/pages/${path.split("/")[1] || "overview"}.html`;
  return existsSync(join(root, "dist", page)) ? page : "/index.html";
}

/** Like the program: an asset, which the build keeps in codings, or else the page. */
export function serveFile(path: string, response: ServerResponse): void {
  const isFile = path.startsWith("/assets/") || publicFiles.has(path);
  const name = isFile ? path : pageOf(path);
  response.setHeader("Content-Security-Policy", policy);
  try {
    const packed = path.startsWith("/assets/");
    const content = readFileSync(join(root, "dist", packed ? `${name}.gz` : name));
    if (packed) response.setHeader("Content-Encoding", "gzip");
    response.writeHead(200, { "Content-Type": types[extname(name)] ?? "text/plain" });
    response.end(content);
  } catch {
    response.writeHead(404).end();
  }
}
