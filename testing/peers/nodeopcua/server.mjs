// An OPC UA server of a plant, made of node-opcua, with security and its own certificate.
//
// It serves a free port, prints "ready <port>", and ends when its standard input closes. Arguments: --certificates FOLDER for what it
// makes, --user to take the user "operator" with the password "secret" and nobody else, --items to add so many variables that change once a second.
import { createServer } from "node:net";
import { parseArgs } from "node:util";

console.log = console.warn = console.error; // the library tells its news where the test expects "ready"
const { DataType, MessageSecurityMode, OPCUACertificateManager, OPCUAServer, SecurityPolicy, StatusCodes, Variant, VariantArrayType, standardUnits } = await import("node-opcua");

const { values: args } = parseArgs({ options: { certificates: { type: "string" }, user: { type: "boolean" }, port: { type: "string" }, items: { type: "string", default: "0" } } });

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const port = args.port ? Number(args.port) : await freePort();
const manager = new OPCUACertificateManager({ rootFolder: args.certificates, automaticallyAcceptUnknownCertificate: true });
await manager.initialize();
const server = new OPCUAServer({
  port,
  host: "127.0.0.1",
  hostname: "127.0.0.1",
  resourcePath: "/plant",
  serverCertificateManager: manager,
  allowAnonymous: !args.user,
  userManager: { isValidUser: (name, password) => name === "operator" && password === "secret" },
  securityModes: [MessageSecurityMode.None, MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt],
  securityPolicies: [SecurityPolicy.None, SecurityPolicy.Basic256Sha256, SecurityPolicy.Aes128_Sha256_RsaOaep, SecurityPolicy.Aes256_Sha256_RsaPss],
  serverCapabilities: { maxSessions: 500 }, // the tests leave many behind
  maxConnectionsPerEndpoint: 500,
  buildInfo: { productName: "plant" },
});
await server.initialize();
const space = server.engine.addressSpace;
const names = space.registerNamespace("urn:plant");
const plant = names.addObject({ organizedBy: space.rootFolder.objects, browseName: "Plant", nodeId: "s=Plant" });
const nodes = {};
const types = { Temperature: DataType.Double, Mode: DataType.UInt32 };

function variable(name, dataType, value, access = "CurrentRead", more = {}) {
  const array = Array.isArray(value) ? { arrayType: VariantArrayType.Array } : {};
  const node = names.addVariable({
    componentOf: plant,
    browseName: name,
    nodeId: `s=${name}`,
    dataType,
    accessLevel: access,
    userAccessLevel: access,
    valueRank: Array.isArray(value) ? 1 : -1,
    arrayDimensions: Array.isArray(value) ? [value.length] : undefined,
    ...more,
  });
  node.setValueFromSource({ dataType, value, ...array });
  nodes[name] = node;
  types[name] = dataType;
}

variable("Pressure", DataType.Float, 1.25);
variable("Count", DataType.UInt32, 7);
variable("Running", DataType.Boolean, true);
variable("Label", DataType.String, "north");
variable("Levels", DataType.Double, [10, 20, 30], "CurrentRead | CurrentWrite");
variable("Setpoint", DataType.Double, 20, "CurrentRead | CurrentWrite");
variable("Small", DataType.Int16, 5, "CurrentRead | CurrentWrite");
variable("Locked", DataType.Int32, 1);
nodes.Temperature = names.addAnalogDataItem({
  componentOf: plant,
  browseName: "Temperature",
  nodeId: "s=Temperature",
  dataType: DataType.Double,
  engineeringUnits: standardUnits.degree_celsius,
  engineeringUnitsRange: { low: -50, high: 150 },
});
nodes.Temperature.setValueFromSource({ dataType: DataType.Double, value: 21.5 });
nodes.Mode = names.addMultiStateDiscrete({ componentOf: plant, browseName: "Mode", nodeId: "s=Mode", enumStrings: ["Off", "Auto", "Hand"], value: 1 });
nodes.Mode.setValueFromSource(new Variant({ dataType: DataType.UInt32, value: 1 }));

const many = [];
for (let i = 0; i < Number(args.items); i++) {
  const node = names.addVariable({ componentOf: plant, browseName: `v${i}`, nodeId: `s=v${i}`, dataType: DataType.Double, minimumSamplingInterval: 0 });
  node.setValueFromSource({ dataType: DataType.Double, value: 0 });
  many.push(node);
}

await server.start();
process.stdout.write(`ready ${port}\n`);
let timer;
if (many.length > 0) {
  const steps = 20;
  const began = performance.now();
  let n = 0;
  const step = () => {
    for (let i = n % steps; i < many.length; i += steps) many[i].setValueFromSource({ dataType: DataType.Double, value: n });
    n++;
    const late = performance.now() - began - (n * 1000) / steps;
    if (n === 10 * steps) console.error(`late by ${(late / 1000).toFixed(2)} s after 10 s`);
    timer = setTimeout(step, Math.max(0, -late));
  };
  step();
}
let line = "";
process.stdin.on("data", (data) => {
  line += data;
  for (let end = line.indexOf("\n"); end >= 0; end = line.indexOf("\n")) {
    const [verb, name, rest] = line.slice(0, end).split(" ");
    line = line.slice(end + 1);
    const node = nodes[name];
    if (verb === "set") node.setValueFromSource({ dataType: types[name], value: JSON.parse(rest) }, StatusCodes.Good);
  }
});
process.stdin.on("end", () => {
  clearTimeout(timer);
  server.shutdown(0).then(() => process.exit(0));
});
