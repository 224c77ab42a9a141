import { defineConfig } from "vitest/config";
import { shortened } from "./languages/plugin";

export default defineConfig({
  plugins: [shortened()],
  test: { include: ["src/**/*.test.ts", "languages/*.test.ts", "*.test.ts"], environment: "node" },
});
