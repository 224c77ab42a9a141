"""BACnet/SC made of rusty-bacnet, for the interop tests, on loopback.

    bacnet_sc_peer.py hub FOLDER
        a hub; prints "ready PORT"
    bacnet_sc_peer.py device FOLDER URL INSTANCE
        a device of the network of the hub at the URL, with analog input 1, which is 21.5, analog value 1 and multi-state value 1, which
        can be commanded, and analog value 2, which cannot
    bacnet_sc_peer.py client FOLDER URL INSTANCE
        looks for the device and prints its analog input 1

FOLDER has the certificates NAME.pem, NAME.key and that of the authority, ca.pem. It ends when its standard input does; the client
ends by itself.
"""

import asyncio
import sys
import uuid

from rusty_bacnet import BACnetClient, BACnetServer, ObjectIdentifier, ObjectType, PropertyIdentifier, ScHub


def certificates(folder: str, name: str) -> tuple[str, str, str]:
    return f"{folder}/{name}.pem", f"{folder}/{name}.key", f"{folder}/ca.pem"


async def wait_for_end() -> None:
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def hub(folder: str) -> None:
    cert, key, ca = certificates(folder, "hub")
    async with ScHub(
        listen="127.0.0.1:0", cert=cert, key=key, ca_cert=ca, vmac=bytes([2, 0, 0, 0, 0, 0xF0]), device_uuid=uuid.uuid4().bytes
    ) as running:
        url = await running.url()
        print("ready", url.rstrip("/").rsplit(":", 1)[1], flush=True)
        await wait_for_end()


def node(folder: str, name: str, url: str, vmac: int) -> dict[str, object]:
    cert, key, ca = certificates(folder, name)
    return {
        "transport": "sc",
        "sc_hub": url,
        "sc_vmac": bytes([2, 0, 0, 0, 0, vmac]),
        "sc_ca_cert": ca,
        "sc_client_cert": cert,
        "sc_client_key": key,
        "sc_device_uuid": uuid.uuid4().bytes,
    }


async def device(folder: str, url: str, instance: str) -> None:
    server = BACnetServer(int(instance), **node(folder, "device", url, 0xD0))
    server.add_analog_input(1, "temperature", units=62, present_value=21.5)
    server.add_analog_value(1, "setpoint", units=62)
    server.add_analog_value(2, "locked", units=62, present_value_access="read_only")
    server.add_multistate_value(1, "speed", 3)
    await server.start()
    print("ready 1", flush=True)
    await wait_for_end()
    await server.stop()


async def client(folder: str, url: str, instance: str) -> None:
    print("ready 1", flush=True)
    async with BACnetClient(**node(folder, "client", url, 0xC0)) as asking:
        await asking.who_is()
        for _ in range(100):
            if await asking.get_device(int(instance)):
                break
            await asyncio.sleep(0.05)
        value = await asking.read_property_from_device(
            int(instance), ObjectIdentifier(ObjectType.ANALOG_INPUT, 1), PropertyIdentifier.PRESENT_VALUE
        )
        print("value", value.value, flush=True)


asyncio.run({"hub": hub, "device": device, "client": client}[sys.argv[1]](*sys.argv[2:]))
