import { expect, test } from "vitest";
import { inNaturalOrder } from "./natural-order";

test("things stand in the order in which people count, whatever their letters", () => {
  const ordered = (...names: string[]) =>
    inNaturalOrder(
      names.map((name) => ({ name })),
      (b) => b.name,
    ).map((b) => b.name);
  const plain = ["zone10", "Zone2", "zone1", "ahu", "9", "10", "ahu2b", "ahu2a", "a", "zone"];
  const english = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  expect(ordered(...plain)).toEqual([...plain].sort(english.compare));
  expect(ordered("Büro 10", "Buro", "Büro 2", "Bz")).toEqual(["Buro", "Büro 2", "Büro 10", "Bz"]);
});
