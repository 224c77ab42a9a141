"""A DNP3 outstation or master made of dnp3py, for the interop tests.

    dnp3py_peer.py outstation      serves outstation 10 on loopback, with some points; latches below
                                   index 3 switch the binary input of that index
    dnp3py_peer.py master PORT     is master 1 of outstation 10 on that port: whoever connects to
                                   the port that it prints gets what an integrity poll gave, as
                                   lines "KIND INDEX VALUE"
    dnp3py_peer.py commander PORT  likewise, but it enables reports, selects and operates latch 1,
                                   sets analog output 2 to 7, and gives what is reported then

It prints "ready PORT" and ends when its standard input does.

What the library cannot do: its outstation builds unsolicited reports, but the TCP runner never sends
them; its master does not read the statuses in the answer to a command, and sets analog outputs to whole
numbers only.
"""

import asyncio
import contextlib
import os
import sys
import threading

from dnp3.core.enums import ControlCode
from dnp3.database import Database
from dnp3.master import DefaultSOEHandler, Master, MasterConfig
from dnp3.master.tcp_runner import MasterTcpRunner
from dnp3.outstation import CommandResult, DefaultCommandHandler, Outstation, OutstationConfig
from dnp3.outstation.tcp_runner import OutstationTcpRunner


class Relays(DefaultCommandHandler):
    """Latches that show in binary inputs, and analog outputs."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def select_binary_output(self, index, code, count, on_time, off_time):
        if index >= 3:
            return CommandResult.local()
        known = code in (ControlCode.LATCH_ON, ControlCode.LATCH_OFF)
        return CommandResult.success() if known else CommandResult.not_supported()

    def operate_binary_output(self, index, code, count, on_time, off_time, select_sequence):
        return self.direct_operate_binary_output(index, code, count, on_time, off_time)

    def direct_operate_binary_output(self, index, code, count, on_time, off_time):
        result = self.select_binary_output(index, code, count, on_time, off_time)
        if result.is_success:
            self.database.update_binary_input(index, value=code == ControlCode.LATCH_ON)
        return result

    def direct_operate_analog_output(self, index, value):
        self.database.update_analog_input(index, value=value)
        return CommandResult.success()


async def outstation() -> None:
    database = Database()
    for index in range(4):
        database.add_binary_input(index)
        database.add_analog_input(index)
        database.add_counter(index)
        database.add_binary_output(index)
        database.add_analog_output(index)
    database.update_binary_input(2, value=True)
    database.update_analog_input(1, value=1234)
    database.update_counter(3, value=77)
    runner = OutstationTcpRunner(
        Outstation(database=database, config=OutstationConfig(address=10), handler=Relays(database)),
        "127.0.0.1",
        0,
    )
    serving = asyncio.create_task(runner.run())
    while runner.local_address is None and not serving.done():
        await asyncio.sleep(0.01)
    print("ready", runner.local_address[1], flush=True)
    await serving


async def poll(runner: MasterTcpRunner) -> None:
    await runner.integrity_poll()


async def command(runner: MasterTcpRunner) -> None:
    await runner.enable_unsolicited()
    build = runner.master
    latch = build.command_builder().latch_on(1)
    for request in (build.build_select(latch.build_select()), build.build_operate(latch.build_operate())):
        await runner.request(request)
    setpoint = build.command_builder().add_analog(2, 7)
    await runner.request(build.build_direct_operate(setpoint.build_direct_operate()))
    while 1 not in build.handler.analog_inputs:
        if await runner.listen_unsolicited() is None:
            raise TimeoutError("nothing was reported")


async def master(port: int, work) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = DefaultSOEHandler()
        config = MasterConfig(address=1, outstation_address=10)
        try:
            async with MasterTcpRunner(Master(handler=handler, config=config), "127.0.0.1", port) as runner:
                await work(runner)
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
    works = {"master": poll, "commander": command}
    asyncio.run(outstation() if sys.argv[1] == "outstation" else master(int(sys.argv[2]), works[sys.argv[1]]))
