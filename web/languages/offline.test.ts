import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { names } from "./plugin";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../public", name), "utf8");

interface Element {
  textContent: string;
  hidden?: boolean;
}

/** What the offline page shows in a browser that prefers a language, by the names of its elements. */
function shown(languages: string[], kept: Record<string, string> | "refused") {
  const html = read("offline.html");
  const said: Element[] = [...html.matchAll(/class="said">([^<]+)</g)].map(([, text = ""]) => ({
    textContent: text,
  }));
  const named: Record<string, Element> = {};
  const document = {
    title: "",
    documentElement: { lang: "en" },
    querySelectorAll: () => said,
    createElement: () => ({ textContent: "" }),
    getElementById: (id: string) => {
      named[id] ??= {
        textContent: "",
        ...{ append: () => undefined, addEventListener: () => undefined },
      };
      return named[id];
    },
  };
  runInNewContext(read("offline.js"), {
    document,
    navigator: { languages },
    localStorage: {
      getItem(key: string) {
        if (kept === "refused") throw new Error("storage is refused");
        return kept[key] ?? null;
      },
    },
    setInterval: () => 0,
  });
  return { document, said: said.map((e) => e.textContent), named };
}

const heard = JSON.stringify({ at: 0, sentence: "All is well", alarms: [] });

test("the offline page is English without another language", () => {
  const { document, said } = shown(["it"], {});
  expect(document.title).toBe("Not reachable · Voltbus");
  expect(said).toContain("Ask again now");
});

test.each(names())("the offline page speaks %s wherever it has words", (name) => {
  const english = shown(["en"], { "voltbus:last": heard });
  const other = shown([name.toUpperCase(), "en"], { "voltbus:last": heard });
  expect(other.document.documentElement.lang).toBe(name);
  expect(other.document.title).not.toBe(english.document.title);
  expect(english.said).toHaveLength(4);
  for (const [i, text] of english.said.entries()) expect(other.said[i]).not.toBe(text);
  for (const id of ["since", "sentence"])
    expect(other.named[id]?.textContent).not.toBe(english.named[id]?.textContent);
  expect(other.named.sentence?.textContent).toContain("All is well");
  const unheard = shown([name], {}).named.since?.textContent;
  expect(unheard).not.toBe(shown([], {}).named.since?.textContent);
});

test("the offline page speaks what was chosen in this browser", () => {
  expect(shown(["en"], { "voltbus-language": "fr" }).document.documentElement.lang).toBe("fr");
});

test("the offline page speaks what the browser prefers where storage is refused", () => {
  const { document, named } = shown(["de"], "refused");
  expect(document.documentElement.lang).toBe("de");
  expect(named.since?.textContent).not.toBe("");
});

interface Note {
  title: string;
  body: string;
}

/** What the service worker shows of a push in a browser that prefers a language. */
function noted(languages: string[], sent: unknown): Note | undefined {
  const events: Record<string, (event: unknown) => void> = {};
  let note: Note | undefined;
  runInNewContext(read("sw.js"), {
    addEventListener: (name: string, then: (event: unknown) => void) => {
      events[name] = then;
    },
    navigator: { languages },
    registration: {
      showNotification: (title: string, { body }: { body: string }) => {
        note = { title, body };
      },
    },
  });
  events.push?.({ data: { json: () => sent }, waitUntil: () => undefined });
  return note;
}

test("a push that says nothing is English without another language", () =>
  expect(noted(["it"], {})).toEqual({ title: "Alarm", body: "Open the page to see the alarms." }));

test.each(names())("a push that says nothing speaks %s", (name) => {
  const note = noted([`${name}-XX`, "en"], {});
  expect(note?.title).toMatch(/^Alarm/);
  expect(note?.body).not.toBe(noted(["en"], {})?.body);
});

test("a push says what it brings", () =>
  expect(noted(["de"], { title: "a", text: "b" })).toEqual({ title: "a", body: "b" }));
