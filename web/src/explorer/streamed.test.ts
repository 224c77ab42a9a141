import { describe, expect, test } from "vitest";
import { streamed } from "./streamed";

const many = (n: number, path: (i: number) => string) =>
  Array.from({ length: n }, (_, i) => path(i));

describe("what is streamed", () => {
  test("is nothing without points", () => expect(streamed([])).toEqual([]));
  test("are a few points themselves", () =>
    expect(streamed(["a/x/1", "b/y/1"])).toEqual(["a/x/1", "b/y/1"]));
  test("are the devices of more points", () =>
    expect(streamed(many(40, (i) => `a/d${i % 2}/p${i}`))).toEqual(["a/d0", "a/d1"]));
  test("is the branch of many devices", () =>
    expect(streamed(many(40, (i) => `site/hall/d${i}/p`))).toEqual(["site/hall"]));
  test("is everything if nothing holds all", () =>
    expect(streamed(many(40, (i) => `d${i}/p`))).toEqual([""]));
});
