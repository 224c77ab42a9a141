import { expect, test } from "vitest";
import { withOrder } from "./order";

test("a register of a list gets an order in a column of its own", () => {
  const list = "name,address,type\r\nsupply,0,float32\r\nreturn,2,float32\r\n";
  expect(withOrder(list, "return", "CDAB")).toBe(
    "name,address,type,byte_order\nsupply,0,float32\nreturn,2,float32,CDAB\n",
  );
});

test("a register of a list gets another order in the column that is there", () => {
  const list = '# ours\nByte Order,Volttron Point Name,Mixed\nABCD,"a, b",TRUE\n,c,TRUE\n';
  expect(withOrder(list, "a, b", "DCBA")).toBe(
    '# ours\nByte Order,Volttron Point Name,Mixed\nDCBA,"a, b",\n,c,TRUE\n',
  );
});

test("a list that is none, or lacks the register, is changed by hand", () => {
  expect(withOrder("- {name: a}\n", "a", "CDAB")).toBeUndefined();
  expect(withOrder("name,address\na,0\n", "b", "CDAB")).toBeUndefined();
  expect(withOrder('name,description\na,"two\nlines"\n', "a", "CDAB")).toBeUndefined();
  expect(withOrder("", "a", "CDAB")).toBeUndefined();
});
