"""An OPC UA server of a plant, made of asyncua.

It serves a free port or --port, prints "ready <port>", and ends when its standard input closes. A line "set NAME JSON" on standard
input sets a variable of the plant, "status NAME CODE" its status code. With --certificate and --key it offers security, and with
--user also a user name with the password "secret". --shift registers another namespace first, so that the plant's has another index;
--items adds so many variables that change each second.
"""

import argparse
import asyncio
import datetime
import json
import pathlib
import sys

from asyncua import Server, ua
from asyncua.crypto.truststore import TrustStore
from asyncua.server.user_managers import User, UserRole
from asyncua.crypto.validator import CertificateValidator, CertificateValidatorOptions
from modbus_server import free_port

PLANT = "urn:plant"
POLICIES = [
    ua.SecurityPolicyType.NoSecurity,
    ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt,
    ua.SecurityPolicyType.Basic256Sha256_Sign,
    ua.SecurityPolicyType.Aes128Sha256RsaOaep_SignAndEncrypt,
    ua.SecurityPolicyType.Aes128Sha256RsaOaep_Sign,
    ua.SecurityPolicyType.Aes256Sha256RsaPss_SignAndEncrypt,
    ua.SecurityPolicyType.Aes256Sha256RsaPss_Sign,
]


class Users:
    """Knows one user."""

    def get_user(self, iserver, username=None, password=None, certificate=None):
        """Return the user, or None for a stranger."""
        if username == "operator" and password == "secret":
            return User(role=UserRole.User)
        return None


def variables() -> dict[str, tuple[object, ua.VariantType, bool]]:
    """Return the plant's variables: value, type, and whether they may be written."""
    return {
        "Temperature": (21.5, ua.VariantType.Double, False),
        "Pressure": (1.25, ua.VariantType.Float, False),
        "Count": (7, ua.VariantType.UInt32, False),
        "Running": (True, ua.VariantType.Boolean, False),
        "Label": ("north", ua.VariantType.String, False),
        "Levels": ([10.0, 20.0, 30.0], ua.VariantType.Double, False),
        "Setpoint": (20.0, ua.VariantType.Double, True),
        "Small": (5, ua.VariantType.Int16, True),
        "Locked": (1, ua.VariantType.Int32, False),
        "Wrong": ("text", ua.VariantType.String, True),
    }


async def plant(server: Server, items: int) -> tuple[dict, list]:
    """Build the plant's nodes."""
    index = await server.register_namespace(PLANT)
    root = await server.nodes.objects.add_object(ua.NodeId("Plant", index), f"{index}:Plant")
    nodes = {}
    for name, (value, kind, writable) in variables().items():
        node = await root.add_variable(ua.NodeId(name, index), f"{index}:{name}", value, kind)
        if writable:
            await node.set_writable()
        nodes[name] = node
    mode = await root.add_variable(ua.NodeId("Mode", index), f"{index}:Mode", 1, ua.VariantType.Int32)
    await mode.set_writable()
    texts = [ua.LocalizedText("Off"), ua.LocalizedText("Auto"), ua.LocalizedText("Hand")]
    await mode.add_property(ua.NodeId("Mode.EnumStrings", index), "0:EnumStrings", texts)
    nodes["Mode"] = mode
    unit = ua.EUInformation("http://www.opcfoundation.org/UA/units/un/cefact", 4408652, ua.LocalizedText("°C"), ua.LocalizedText("degree Celsius"))
    await nodes["Temperature"].add_property(ua.NodeId("Temperature.EngineeringUnits", index), "0:EngineeringUnits", unit)
    many = await server.nodes.objects.add_object(ua.NodeId("Many", index), f"{index}:Many") if items else None
    return nodes, [await many.add_variable(ua.NodeId(f"v{i}", index), f"{index}:v{i}", 0.0) for i in range(items)]


async def obey(nodes: dict) -> None:
    """Do what standard input says until it closes."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        verb, name, rest = line.strip().split(" ", 2)
        kind = variables()[name][1] if name != "Mode" else ua.VariantType.Int32
        if verb == "set":
            await nodes[name].write_value(ua.DataValue(ua.Variant(json.loads(rest), kind)))
        else:
            await nodes[name].write_value(ua.DataValue(ua.Variant(None, ua.VariantType.Null), StatusCode=ua.StatusCode(int(rest, 0))))


async def change(server: Server, many: list) -> None:
    """Change many variables once a second, spread over it, and say on standard error how far behind it is after 10 s."""
    loop = asyncio.get_running_loop()
    steps = 20
    began = loop.time()
    for n in range(1 << 62 if many else 0):
        value = ua.DataValue(ua.Variant(float(n), ua.VariantType.Double), SourceTimestamp=datetime.datetime.now(datetime.timezone.utc))
        for node in many[n % steps :: steps]:
            await server.write_attribute_value(node.nodeid, value)
        late = loop.time() - began - (n + 1) / steps
        if n == 10 * steps:
            print(f"late by {late:.2f} s after 10 s", file=sys.stderr, flush=True)
        await asyncio.sleep(max(0, -late))


async def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--trust")
    parser.add_argument("--user", action="store_true")
    parser.add_argument("--shift", action="store_true")
    parser.add_argument("--items", type=int, default=0)
    args = parser.parse_args()
    port = args.port or free_port()
    server = Server(user_manager=Users() if args.user else None)
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/plant")
    server.set_server_name("The plant")
    if args.certificate:
        server.set_security_policy(POLICIES)
        await server.load_certificate(args.certificate)
        await server.load_private_key(args.key)
        if args.trust:
            store = TrustStore([pathlib.Path(args.trust)], [])
            await store.load()
            server.set_certificate_validator(CertificateValidator(CertificateValidatorOptions.TRUSTED, store))
    else:
        server.set_security_policy(POLICIES[:1])
    if args.user:
        server.set_identity_tokens([ua.UserNameIdentityToken])
    if args.shift:
        await server.register_namespace("urn:another")
    nodes, many = await plant(server, args.items)
    async with server:
        print("ready", port, flush=True)
        task = asyncio.create_task(change(server, many))
        await obey(nodes)
        task.cancel()


asyncio.run(main())
