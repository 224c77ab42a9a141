// The part of the build that decides in which files the page comes, and when a browser asks for them. A browser has six
// connections to a node without TLS, and each file costs one of them a round trip.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin, Rolldown } from "vite";

const here = import.meta.dirname;
const firstScript = join(here, "src/first.ts");

type Bundle = Rolldown.OutputBundle;
type Chunk = Rolldown.OutputChunk;

/** The entries of the page: its document, and the script that asks for the first answers. */
export const entries = { index: join(here, "index.html"), first: firstScript };

/** With all that these import: what every screen needs. */
const shell = /\/src\/(app|path|control\/(ask|use-act|calls))\.tsx?$/;

/** The modules that most screens with values share. */
const values =
  /\/src\/((live|series|events|stream|last-known|late-plot|plot-axes|plot-paths|view|span|zone|filled|point-name|plot-panel|use-(?!site|poll|act)[a-z]+|control\/shadow|site\/(tree|choose|coverage|points-table|devices-panel|strip))\.tsx?$)|\/preact\/compat/;

/**
 * What all screens need comes in one file, and what several screens need in another, instead of one for each set of
 * screens that share a module.
 */
export const codeSplitting = {
  groups: [
    { name: "shell", test: shell, priority: 2 },
    { name: "values", test: values, priority: 1 },
  ],
};

/** Loads the first script before anything else. */
export const firstAsked = (): Plugin => ({
  name: "first-asked",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle }) {
      const first = chunks(bundle ?? {}).find((c) => c.facadeModuleId === firstScript);
      if (!first) throw new Error("the build made no script of src/first.ts");
      const tag = `<script type="module" async fetchpriority="high" src="/${first.fileName}"></script>`;
      return html.replace("<title>", `${tag}\n    <title>`);
    },
  },
});

/**
 * Writes a document for each screen into dist/pages, named after the first segment of its addresses: the page with
 * the files of that screen, so that a browser asks for them together with those of every screen.
 */
export function screenPages(): Plugin {
  let files = new Map<string, string[]>();
  return {
    name: "screen-pages",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post", // chunks of styles alone are gone by then
      handler(_, bundle) {
        const table = readFileSync(join(here, "src/shell/screens.ts"), "utf8");
        files = new Map(
          screensOf(table).map(({ path, module }) => [
            path,
            filesOf(bundle, join(here, "src", module)),
          ]),
        );
      },
    },
    closeBundle() {
      const dist = join(here, "dist");
      const html = readFileSync(join(dist, "index.html"), "utf8");
      mkdirSync(join(dist, "pages"), { recursive: true });
      for (const [path, names] of files) {
        const links = names.filter((name) => !html.includes(name)).map(link);
        writeFileSync(
          join(dist, "pages", `${path || "overview"}.html`),
          html.replace("  </head>", `${links.join("")}  </head>`),
        );
      }
    },
  };
}

const link = (name: string) =>
  name.endsWith(".css")
    ? `    <link rel="stylesheet" crossorigin href="/${name}">\n`
    : `    <link rel="modulepreload" crossorigin href="/${name}">\n`;

/** The screens of the table of screens, with the modules that draw them. */
export function screensOf(table: string): { path: string; module: string }[] {
  const found = [
    ...table.matchAll(/path: "([^"]*)",(?:(?!path: ")[\s\S])*?import\("\.\.\/([^"]+)"\)/g),
  ];
  return found.map(([, path = "", module = ""]) => ({ path, module }));
}

const chunks = (bundle: Bundle) =>
  Object.values(bundle).filter((c): c is Chunk => c.type === "chunk");

/** The files of a module: its chunk, all that this imports statically, and their styles. */
function filesOf(bundle: Bundle, module: string): string[] {
  const own = chunks(bundle).find((c) => c.facadeModuleId?.replace(/\.tsx?$/, "") === module);
  if (!own)
    throw new Error(`the build made no chunk of ${module}, which src/shell/screens.ts names`);
  const names = new Set<string>();
  const styles = new Set<string>();
  const visit = (chunk: Chunk) => {
    if (names.has(chunk.fileName)) return;
    names.add(chunk.fileName);
    for (const name of chunk.imports) {
      const imported = bundle[name];
      if (imported?.type === "chunk") visit(imported);
    }
    for (const style of chunk.viteMetadata?.importedCss ?? []) styles.add(style);
  };
  visit(own);
  return [...styles, ...names];
}
