import { beforeAll, describe, expect, test, vi } from "vitest";

type Said = typeof import("./said").said;

async function inLanguage(name: string): Promise<Said> {
  vi.resetModules();
  vi.stubGlobal("localStorage", { getItem: () => name });
  const { said, withReasons } = await import("./said");
  await withReasons;
  return said;
}

describe("a sentence of a node in German", () => {
  let said: Said;
  beforeAll(async () => {
    said = await inLanguage("de");
  });

  test.each([
    ["The node started", "Der Knoten startete"],
    [
      "ann set hq/ahu1/setpoint to 21.5 (a guest is cold)",
      "ann setzte hq/ahu1/setpoint auf 21.5 (a guest is cold)",
    ],
    [
      "The agent night could not set a/b to 3: is read-only",
      "Der Agent night konnte a/b nicht auf 3 setzen: ist nur lesbar",
    ],
    [
      "The node started, version 0.5.0; before, it never ran",
      "Der Knoten startete, Version 0.5.0; davor: lief nie",
    ],
    [
      "Both devices answer; 3,200 samples recorded, none lost",
      "Beide Geräte antworten; 3.200 Messwerte aufgezeichnet, keiner verloren",
    ],
    [
      "2 alarms are open (1 critical, 1 low); 1 of 10 devices does not answer (zone 4); 1 sample recorded, none lost",
      "2 Alarme sind offen (1 kritisch, 1 niedrig); 1 von 10 Geräten antwortet nicht (zone 4); 1 Messwert aufgezeichnet, keiner verloren",
    ],
    [
      "the node b1 is away; what it records waits on its disk",
      "der Knoten b1 ist fort; was er aufzeichnet, wartet auf seiner Platte",
    ],
    ["tiles.3: is read-only", "tiles.3: ist nur lesbar"],
    [
      "tiles.3: must be one of a, b; leave it out",
      "tiles.3: muss eines von a, b sein; lassen Sie es weg",
    ],
    ["is read-only; write to another", "ist nur lesbar; write to another"],
    [
      "tcp://h:1: not connected: dial tcp h:1: connect: connection refused; check the address and that the device is on",
      "tcp://h:1: nicht verbunden: Verbindung zu h:1: Verbindung abgelehnt; prüfen Sie die Adresse und ob das Gerät eingeschaltet ist",
    ],
    [
      'devices.a/b.interval: "x" is not a duration; write one of path, driver, interval',
      'devices.a/b.interval: "x" ist keine Dauer; schreiben Sie eines von path, driver, interval',
    ],
    [
      "not YAML: did not find expected key; align the key with the ones beside it, and put quotes around text that contains a colon",
      "kein YAML: ein Schlüssel fehlt; richten Sie den Schlüssel an denen daneben aus, und setzen Sie Text mit einem Doppelpunkt in Anführungszeichen",
    ],
    ["unit: is read-only", "unit: ist nur lesbar"],
    [
      "The agent stopped could not set a/b to 3: is read-only",
      "Der Agent stopped konnte a/b nicht auf 3 setzen: ist nur lesbar",
    ],
    ["an error of a device that nobody translated", "an error of a device that nobody translated"],
  ])("%s", (english, german) => expect(said(english)).toBe(german));
});

test("is left alone in English", async () => {
  const said = await inLanguage("en");
  expect(said("The node started")).toBe("The node started");
});
