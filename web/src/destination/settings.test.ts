import { expect, test } from "vitest";
import type { SinkForm } from "../generated/api";
import { draftOf, requestOf, settingsOf } from "./settings";

const form: SinkForm = {
  kind: "kafka",
  title: "Kafka",
  address: "kafkas://k:9093",
  into: "Topic",
  fields: [
    { key: "url", type: "text", doc: "" },
    { key: "password_file", type: "file", doc: "" },
    { key: "points", type: "list", doc: "" },
    { key: "tags", type: "map", doc: "" },
    { key: "batch", type: "number", doc: "" },
  ],
};

test("settings come back from the form as they were", () => {
  const settings = {
    kind: "kafka",
    url: "kafka://a:1",
    points: ["plant/**", "roof/*"],
    tags: { building: "{1}", owner: "a: b" },
    batch: 500,
  };
  expect(settingsOf("kafka", draftOf(settings, form), form)).toEqual(settings);
});

test("what is left empty is left out, and the name of a secret's file is not sent back", () => {
  const draft = draftOf({ url: "kafka://a:1", password_file: "secrets/x" }, form);
  expect(requestOf("kafka", { ...draft, tags: " " }, form)).toEqual({
    settings: { kind: "kafka", url: "kafka://a:1" },
  });
  expect(requestOf("kafka", { password_file: "secret" }, form)).toEqual({
    settings: { kind: "kafka" },
    password: "secret",
  });
});

test("a line that means nothing is told with its field", () => {
  expect(() => settingsOf("kafka", { tags: "building" }, form)).toThrow("Tags: write “building”");
  expect(() => settingsOf("kafka", { batch: "many" }, form)).toThrow("is not a number");
});
