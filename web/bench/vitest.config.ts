import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["bench/screens.ts", "bench/dashboards.ts"],
    fileParallelism: false,
    environment: "node",
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
