"""A DNP3 outstation or master made of dnp3py, for the interop tests.

    dnp3py_peer.py outstation      serves outstation 10 on loopback, with some points
    dnp3py_peer.py master PORT     is master 1 of outstation 10 on that port: whoever connects to
                                   the port that it prints gets what an integrity poll gave, as
                                   lines "KIND INDEX VALUE"

It prints "ready PORT" and ends when its standard input does.
"""

import asyncio
import contextlib
import os
import sys
import threading

from dnp3.database import Database
from dnp3.master import DefaultSOEHandler, Master, MasterConfig
from dnp3.master.tcp_runner import MasterTcpRunner
from dnp3.outstation import Outstation, OutstationConfig
from dnp3.outstation.tcp_runner import OutstationTcpRunner


async def outstation() -> None:
    database = Database()
    for index in range(4):
        database.add_binary_input(index)
        database.add_analog_input(index)
        database.add_counter(index)
    database.update_binary_input(2, value=True)
    database.update_analog_input(1, value=1234)
    database.update_counter(3, value=77)
    runner = OutstationTcpRunner(
        Outstation(database=database, config=OutstationConfig(address=10)), "127.0.0.1", 0
    )
    serving = asyncio.create_task(runner.run())
    while runner.local_address is None and not serving.done():
        await asyncio.sleep(0.01)
    print("ready", runner.local_address[1], flush=True)
    await serving


async def master(port: int) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = DefaultSOEHandler()
        config = MasterConfig(address=1, outstation_address=10)
        try:
            async with MasterTcpRunner(Master(handler=handler, config=config), "127.0.0.1", port) as runner:
                await runner.integrity_poll()
            for kind, values in (
                ("binary", handler.binary_inputs),
                ("analog", handler.analog_inputs),
                ("counter", handler.counters),
            ):
                for index, item in values.items():
                    writer.write(f"{kind} {index} {float(item.value):g}\n".encode())
        except Exception as problem:  # the test shows it
            writer.write(f"error {problem!r}\n".encode())
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def watch_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=watch_stdin, daemon=True).start()
    asyncio.run(outstation() if sys.argv[1] == "outstation" else master(int(sys.argv[2])))
