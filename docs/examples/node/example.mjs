// An agent in JavaScript: it does once everything that an agent can, and prints it.
//
//   VOLTBUS_BUS=host:port VOLTBUS_CA=data/tls/ca.pem VOLTBUS_KEY=example.nk node example.mjs
//
// With "stay" it goes on answering calls until it is stopped.
import { Bus } from "./bus.mjs";

const { VOLTBUS_BUS: address, VOLTBUS_CA: ca, VOLTBUS_KEY: key, VOLTBUS_AGENT: name = "example" } = process.env;
if (!address || !ca || !key) {
  console.error("set VOLTBUS_BUS to host:port of the node's bus, VOLTBUS_CA to its tls/ca.pem, VOLTBUS_KEY to the agent's key file");
  process.exit(2);
}

const bus = await Bus.open({ name, address, ca, key, version: "1.0" });
console.log(`hello: ${bus.nodeName} knows ${name}`);

// Answer calls of others, and call a method: here the own one.
bus.answer({
  double: ([value], { value: named = value }, from) => {
    if (typeof named !== "number") throw new TypeError("value must be a number");
    console.log(`answer: double ${named} for ${from}`);
    return 2 * named;
  },
});
await bus.conn.flush();
console.log(`call: ${await bus.call(name, "double", [21])}`);
console.log(`failed: ${await failure(bus.call(name, "double", { value: "warm" }))}`);

// Hear what is said, and say it.
const heard = [];
let both;
const all = new Promise((resolve) => { both = resolve; });
await bus.subscribe("analysis", (subject, body) => {
  heard.push(`heard: ${subject} ${JSON.stringify(body.points ?? body)}`);
  if (heard.length === 2) both();
});
await bus.send("analysis/note", { text: "the boiler is warm" });
await bus.publish("analysis/boiler", { mean: 71.5 });
await all;
heard.sort().forEach((line) => console.log(line));

// Keep samples: when the answer is there, they are on disk. The key makes a repeat harmless.
const samples = [{ point: "analysis/boiler/mean", time: "2026-01-31T12:00:00Z", value: 71.5 }];
console.log(`record: ${JSON.stringify(await bus.node("record", { samples, key: "first" }))}`);
console.log(`again: ${JSON.stringify(await bus.node("record", { samples, key: "first" }))}`);

// What is not granted is refused by name, whoever finds it out: the server, or the node.
console.log(`refused: ${await failure(bus.call("boiler", "set_limit", [80]))}`);
console.log(`refused: ${await failure(bus.publish("campus/ahu", { supply: 1 }))}`);
console.log(`refused: ${await failure(bus.node("record", { samples: [{ point: "campus/ahu/supply", value: 1 }] }))}`);

if (process.argv[2] === "stay") {
  console.log("ready");
  await bus.conn.closed();
} else {
  await bus.close();
}

/** Return what goes wrong, in words. */
async function failure(work) {
  try {
    await work;
  } catch (e) {
    return `${e.kind ?? e.name} (${e.missing ?? e.message})`;
  }
  throw new Error("that should have failed");
}
