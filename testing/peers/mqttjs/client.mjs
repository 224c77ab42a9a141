// A client of mqtt.js: client.mjs HOST PORT VERSION NAME. It publishes with each quality of service, and gets what it subscribed to.
import assert from "node:assert/strict";
import { once } from "node:events";
import mqtt from "mqtt";

const [host, port, version, name] = process.argv.slice(2);
const connect = (suffix) =>
  mqtt.connectAsync(`mqtt://${host}:${port}`, { clientId: name + suffix, protocolVersion: version === "5" ? 5 : 4, reconnectPeriod: 0 });

const client = await connect("");
const granted = await client.subscribeAsync(`n/${name}`, { qos: 2 });
assert.equal(granted[0].qos, 2);
for (const qos of [0, 1, 2]) {
  const message = once(client, "message");
  await client.publishAsync(`n/${name}`, String(qos + 1), { qos });
  const [topic, payload, packet] = await message;
  assert.deepEqual([topic, payload.toString(), packet.qos, packet.retain], [`n/${name}`, String(qos + 1), qos, false]);
}
await client.publishAsync(`kept/${name}`, "kept", { qos: 1, retain: true });
await client.unsubscribeAsync(`n/${name}`);
await client.endAsync();

const late = await connect("-late");
const kept = once(late, "message");
await late.subscribeAsync(`kept/${name}`, { qos: 1 });
const [, payload, packet] = await kept;
assert.deepEqual([payload.toString(), packet.retain], ["kept", true]);
await late.endAsync();
