import { defineConfig } from "vite";

// The page must work under the policy "default-src 'self'": no inlined assets, no inline script.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: {
    proxy: { "/api": { target: process.env.VOLTBUS_URL ?? "http://127.0.0.1:8080" } },
  },
});
