import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { isPackage, nameFor, pack, tar } from "./pack";

describe("an upload", () => {
  test("is a tar that another program reads", async () => {
    const source = new File(["x".repeat(700)], "boiler_watch-1.0-py3-none-any.whl");
    const wheel = new File([""], "dependency-2.0-py3-none-any.whl");
    const packed = Buffer.from(await (await pack(source, [wheel])).arrayBuffer());
    const list = execFileSync("tar", ["-tzvf", "-"], { input: packed }).toString();
    expect(list).toMatch(/700 .*source\/boiler_watch-1\.0-py3-none-any\.whl/);
    expect(list).toMatch(/ 0 .*wheels\/dependency-2\.0-py3-none-any\.whl/);
    const name = "source/boiler_watch-1.0-py3-none-any.whl";
    const content = execFileSync("tar", ["-xzO", "-f", "-", name], { input: packed });
    expect(content.toString()).toBe("x".repeat(700));
  });

  test("does not take a name that a header cannot hold", () => {
    expect(() => tar([{ name: "x".repeat(101), content: new Blob() }])).toThrow("too long");
  });

  test.each([
    ["boiler_watch-1.0-py3-none-any.whl", "boiler-watch"],
    ["flow-watch-0.1.0.tar.gz", "flow-watch"],
    ["project.zip", "project"],
    ["<img>.zip", "img"],
    ["--.zip", ""],
  ])("of %s suggests the name %s", (file, name) => expect(nameFor(file)).toBe(name));

  test("is a wheel or an archive", () => {
    expect(["a.whl", "a.tar.gz", "a.zip", "a.tar", "whl"].map(isPackage)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
