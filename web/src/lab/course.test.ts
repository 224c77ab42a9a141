import { expect, test } from "vitest";
import { Course } from "./course";

const at = (s: number) => new Date(1e12 + s * 1000).toISOString();

test("a course begins without charts, and draws what it is told in the units of people", () => {
  const course = new Course();
  expect(course.charts()).toEqual([]);
  course.add({ time: at(0), phase: "warming up", done: 0, rate: 100, clients: 7 });
  course.add({ time: at(1), phase: "measuring", done: 0.1, p99: 0.0123, memory: 5e6, cpu: 0.5 });
  expect(course.charts().map((c) => c.title)).toEqual([
    "Clients",
    "Operations a second",
    "Latency",
    "Processor and memory",
  ]);
  expect(course.p99.values).toEqual([12.3]);
  expect(course.clients.values).toEqual([7]);
  expect(course.memory.values).toEqual([5]);
  expect(course.span()).toEqual([1e12, 1e12 + 5000]);
  expect(course.now?.phase).toBe("measuring");
});

test("a course of many hours forgets its beginning", () => {
  const course = new Course();
  for (let s = 0; s < 5000; s++) course.add({ time: at(s), phase: "", done: 0, rate: s });
  expect(course.rate.times.length).toBeLessThanOrEqual(3600);
  expect(course.rate.values.at(-1)).toBe(4999);
});
