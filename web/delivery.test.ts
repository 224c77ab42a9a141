import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { screensOf } from "./delivery";

test("each screen of the table is found with its module", () => {
  const table = readFileSync(join(import.meta.dirname, "src/shell/screens.ts"), "utf8");
  const found = screensOf(table);
  expect(found.length).toBe(table.match(/import\("/g)?.length);
  expect(found).toContainEqual({ path: "", module: "overview/overview" });
  expect(found).toContainEqual({ path: "site", module: "site/site" });
});
