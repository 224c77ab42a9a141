import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/screenshots.ts"],
    environment: "node",
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
