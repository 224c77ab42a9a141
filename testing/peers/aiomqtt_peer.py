"""A client of aiomqtt: HOST PORT VERSION NAME. It publishes with each quality of service, and gets what it subscribed to."""

import asyncio
import sys

import aiomqtt

VERSIONS = {"5": aiomqtt.ProtocolVersion.V5, "3.1.1": aiomqtt.ProtocolVersion.V311}


async def run(host: str, port: int, version: str, name: str) -> None:
    def client(suffix: str) -> aiomqtt.Client:
        return aiomqtt.Client(host, port, identifier=name + suffix, protocol=VERSIONS[version], timeout=30)

    async with client("") as c:
        await c.subscribe(f"n/{name}", qos=2)
        got = []
        for qos in (0, 1, 2):
            await c.publish(f"n/{name}", str(qos + 1), qos=qos)
            message = await anext(aiter(c.messages))
            assert message.qos == qos and not message.retain, message
            got.append(message.payload)
        assert got == [b"1", b"2", b"3"], got
        await c.publish(f"kept/{name}", "kept", qos=1, retain=True)
        await c.unsubscribe(f"n/{name}")
    async with client("-late") as c:
        await c.subscribe(f"kept/{name}", qos=1)
        message = await anext(aiter(c.messages))
        assert message.payload == b"kept" and message.retain, message


asyncio.run(asyncio.wait_for(run(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]), 60))
