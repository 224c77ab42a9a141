import { describe, expect, test } from "vitest";
import { deviceAddress, deviceAt, oldAddress, pointAddress, pointAt } from "./place";

const placeOf = (address: string) => {
  const url = new URL(address, "http://node");
  return { path: url.pathname, search: url.search };
};

describe("the address of a device", () => {
  test.each([
    ["stays readable", "campus/boiler 1", "/device/campus/boiler%201"],
    ["carries what looks like a query", "a?b=c#d/e&f", "/device/a%3Fb%3Dc%23d/e%26f"],
    ["carries percent signs", "50%/100%25", "/device/50%25/100%2525"],
    ["carries other scripts", "温度/ünï", "/device/%E6%B8%A9%E5%BA%A6/%C3%BCn%C3%AF"],
    ["carries markup", "<img src=x>", "/device/%3Cimg%20src%3Dx%3E"],
    ["keeps dots out of the path", "a/../b", "/device?path=a%2F..%2Fb"],
    ["keeps empty segments out of the path", "/a//", "/device?path=%2Fa%2F%2F"],
  ])("%s", (_, path, address) => {
    expect(deviceAddress(path)).toBe(address);
    expect(deviceAt(placeOf(address))).toBe(path);
  });

  test("that is cut within a character names none", () => {
    expect(deviceAt({ path: "/device/a%E6%B", search: "" })).toBe("");
  });
});

describe("an address from before there were screens", () => {
  test.each([
    ["with a branch leads to the site", "/?branch=a%2Fb", "/site?branch=a%2Fb"],
    [
      "with points leads to the site",
      "/?point=a&point=b&range=1d",
      "/site?point=a&point=b&range=1d",
    ],
    [
      "with a list of points is taken apart",
      "/?branch=&points=a,b",
      "/site?branch=&point=a&point=b",
    ],
    ["without either is the overview", "/", undefined],
    ["of another screen stays", "/explore?point=a", undefined],
  ])("%s", (_, address, now) => {
    expect(oldAddress(placeOf(address))).toBe(now);
  });
});

test("the address of a point is read again", () => {
  const path = "campus/floor 1/zone/../setpoint";
  expect(pointAt(placeOf(pointAddress(path)))).toBe(path);
  expect(pointAt(placeOf(pointAddress("a/b c")))).toBe("a/b c");
  expect(pointAddress("a/b c")).toBe("/point/a/b%20c");
});
