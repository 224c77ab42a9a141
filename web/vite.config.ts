import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { codeSplitting, entries, firstAsked, screenPages } from "./delivery";
import { shortened, wording } from "./languages/plugin";

// compressed keeps the assets as they go over the wire, in both codings that browsers know. The node unpacks one
// for a client that knows neither.
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      const dir = join(import.meta.dirname, "dist", "assets");
      for (const name of readdirSync(dir)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(dir, name));
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(content));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }));
        rmSync(join(dir, name));
      }
    },
  };
}

// stamped names the offline page in the service worker after its content, so that a browser gets it anew when it changes.
function stamped(): Plugin {
  return {
    name: "stamped",
    apply: "build",
    closeBundle() {
      const dir = join(import.meta.dirname, "dist");
      const hash = createHash("sha256");
      for (const name of ["offline.html", "offline.css", "offline.js", "icon.svg"])
        hash.update(readFileSync(join(dir, name)));
      const worker = join(dir, "sw.js");
      const text = readFileSync(worker, "utf8");
      writeFileSync(worker, text.replace("__OFFLINE__", hash.digest("hex").slice(0, 12)));
    },
  };
}

// The page must work under the policy "default-src 'self'": no inlined assets, no inline script.
export default defineConfig({
  plugins: [shortened(), wording(), firstAsked(), screenPages(), compressed(), stamped()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: { input: entries, output: { codeSplitting } },
  },
  server: {
    proxy: { "/api": { target: process.env.VOLTBUS_URL ?? "http://127.0.0.1:8080" } },
  },
});
