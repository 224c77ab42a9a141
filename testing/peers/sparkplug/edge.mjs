// An edge node of sparkplug-client with a boiler as its device: edge.mjs URL USER PASSWORD [CA.pem].
//
// It prints "ready 0" when it has published its births. Lines on standard input have it do things:
//   data N   publishes the temperature of the boiler
//   node N   publishes the load of the edge node
//   old N T  publishes a stored temperature of the time T in milliseconds
//   gap N    the same as data, with a message before it that was lost
//   ddeath   the boiler is gone
//   stop     ends the connection in order
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import sparkplug from "sparkplug-client";

const [url, username, password, ca] = process.argv.slice(2);
const client = sparkplug.newClient({
  serverUrl: url,
  username,
  password,
  groupId: "plant",
  edgeNode: "edge1",
  clientId: "edge1",
  keepalive: 30,
  version: "spBv1.0",
  mqttOptions: ca ? { ca: readFileSync(ca), servername: "localhost" } : {},
});

const state = { temperature: 60.5, setpoint: 70, pump: false };
const device = () => [
  { name: "temperature", alias: 1, type: "Double", value: state.temperature, properties: { engUnit: { type: "String", value: "degC" } } },
  { name: "setpoint", alias: 2, type: "Float", value: state.setpoint, properties: { engUnit: { type: "String", value: "degC" }, readOnly: { type: "Boolean", value: false } } },
  { name: "outputs/pump", alias: 3, type: "Boolean", value: state.pump },
  { name: "starts", alias: 4, type: "Int16", value: -3 },
  { name: "model", alias: 5, type: "String", value: "B-1" },
];
let born = false;

function births() {
  client.publishNodeBirth({
    timestamp: Date.now(),
    metrics: [
      { name: "Node Control/Rebirth", type: "Boolean", value: false },
      { name: "load", alias: 10, type: "UInt32", value: 7 },
    ],
  });
  client.publishDeviceBirth("boiler", { timestamp: Date.now(), metrics: device() });
  console.log(born ? "born" : "ready 0");
  born = true;
}

client.on("birth", births);
client.on("ncmd", (payload) => {
  if (payload.metrics?.some((m) => m.name === "Node Control/Rebirth" && m.value)) births();
});
client.on("dcmd", (deviceId, payload) => {
  for (const m of payload.metrics ?? []) {
    const key = m.name.split("/").pop();
    if (key in state) state[key] = m.value;
  }
  client.publishDeviceData(deviceId, { timestamp: Date.now(), metrics: device() });
});
client.on("error", (e) => console.error(e));

const temperature = (value, rest = {}) => [{ name: "", alias: 1, type: "Double", value: Number(value), ...rest }];
const doing = {
  data: (v) => client.publishDeviceData("boiler", { timestamp: Date.now(), metrics: temperature(v) }),
  node: (v) => client.publishNodeData({ timestamp: Date.now(), metrics: [{ name: "load", type: "UInt32", value: Number(v) }] }),
  old: (v, t) => client.publishDeviceData("boiler", { timestamp: Date.now(), metrics: temperature(v, { timestamp: Number(t), isHistorical: true }) }),
  gap: (v) => {
    client.incrementSeqNum();
    doing.data(v);
  },
  ddeath: () => client.publishDeviceDeath("boiler", { timestamp: Date.now() }),
  stop: () => client.stop(),
};
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [word, ...rest] = line.split(" ");
  doing[word](...rest);
});
lines.on("close", () => process.exit(0));
