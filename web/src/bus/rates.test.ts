import { describe, expect, test } from "vitest";
import { Rates } from "./rates";

const rate = (subject: string, messages: number, bytes = messages * 100) => ({
  subject,
  messages,
  bytes,
});

const second = (...subjects: ReturnType<typeof rate>[]) => ({ subjects, seconds: 1, more: 0 });

const lines = (rates: Rates, ...open: string[]) =>
  rates.lines((s) => open.includes(s)).map((f) => [f.level, f.name, f.messages]);

describe("rates of subjects", () => {
  test("are added up along the tree, the busiest first", () => {
    const rates = new Rates();
    rates.add(
      second(rate("live.a.x", 1), rate("live.b.y", 5), rate("live.b.z", 2), rate("ping", 3)),
    );
    expect(lines(rates)).toEqual([
      [0, "live", 8],
      [0, "ping", 3],
    ]);
    expect(lines(rates, "live", "live.b")).toEqual([
      [0, "live", 8],
      [1, "b", 7],
      [2, "y", 5],
      [2, "z", 2],
      [1, "a", 1],
      [0, "ping", 3],
    ]);
  });

  test("are those of a second, however long was counted", () => {
    const rates = new Rates();
    rates.add({ subjects: [rate("a", 10, 500)], seconds: 2, more: 3 });
    expect(rates.total()).toEqual({ messages: 5, bytes: 250, past: [5] });
    expect(rates.left).toBe(3);
  });

  test("show silence as nought, and the past of a minute", () => {
    const rates = new Rates();
    for (let i = 0; i < 70; i++) rates.add(i < 65 ? second(rate("a", i)) : second());
    const [flow] = rates.lines(() => false);
    expect(flow?.past).toHaveLength(60);
    expect(flow?.past.slice(-6)).toEqual([64, 0, 0, 0, 0, 0]);
    expect(flow?.messages).toBe(0);
  });

  test("of a subject that came later end at the same second", () => {
    const rates = new Rates();
    rates.add(second(rate("a.x", 1)));
    rates.add(second(rate("a.x", 1), rate("a.y", 10)));
    expect(rates.lines(() => false)[0]?.past).toEqual([1, 11]);
    expect(rates.total()).toEqual({ messages: 11, bytes: 1100, past: [1, 11] });
  });

  test("are forgotten after two minutes of silence", () => {
    const rates = new Rates();
    rates.add(second(rate("a", 1)));
    for (let i = 0; i < 130; i++) rates.add(second(rate("b", 1)));
    expect(lines(rates)).toEqual([[0, "b", 1]]);
  });

  test("are kept for a bounded number of subjects, and say how many were left out", () => {
    const rates = new Rates();
    rates.add(second(...Array.from({ length: 5100 }, (_, i) => rate(`s${i}`, 1))));
    expect(rates.left).toBe(100);
    expect(rates.lines(() => false)).toHaveLength(5000);
  });
});
