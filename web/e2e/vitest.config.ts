import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    environment: "node",
    // Each file has a browser and nodes of its own, and waits more than it works. A node that is given from outside is
    // shared by all.
    maxWorkers: 3,
    fileParallelism: !process.env.VOLTBUS_URL,
    // Each wait has a limit of its own, which says what did not come; a test of many waits takes 25 s on an idle machine
    testTimeout: 180_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
});
