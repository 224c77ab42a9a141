"""A Modbus server made of pymodbus, as the other side of the interop tests.

Prints "ready <port>" when it accepts requests and ends when its standard input closes.

Units 1, 2 and 3 hold the same layout and tell their own id; unit 4 has no coils and no discrete
inputs; unit 7 is there but never answers; unit 9 is absent.

Holding and input registers (input registers hold the same values):
    0   float32 x 3   21.5, -40.25, 1013.25
    10  float64       -123456.789
    20  string[10]    "Voltbus\\0\\0\\0"
    30  uint16        the unit id
    40  int32         -123456
    42  gap
    50  int32         -123456, each of the four byte orders: ABCD, BADC, CDAB, DCBA
    60  float64       2.5, each of the four byte orders
    80  uint64        18446744073709551615
    84  int64         -9007199254740993
    88  int16         -5
    89  uint16        0xA5C3
    90  uint32        4000000000
    92  gap
    100 registers     writable, 0
    200 uint16 x 4    with a temper when they are written over TCP, one at a time (function 6):
                      200 holds 500 at most: a larger value is cut; 201 refuses a value above 1000,
                      exception 2; 202 is busy for the first two writes, exception 6; 203
                      answers a value of 1 to 6 with the exception of this number
    204 uint32        takes its upper half; the lower one, 205, has the temper of 203, and after a
                      value of 7 both refuse every value, exception 4, until 200 is written
    300 registers x 400, value = address
Coils and discrete inputs: 0..31, the odd ones are on.
"""

import argparse
import asyncio
import socket
import struct
import sys

from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

SILENT_UNIT = 7
ORDERS = ("ABCD", "BADC", "CDAB", "DCBA")


def in_order(big: bytes, order: str) -> list[int]:
    """Return the registers of a big-endian value in one of the four byte orders."""
    words = [big[i : i + 2] for i in range(0, len(big), 2)]
    if order in ("CDAB", "DCBA"):
        words.reverse()
    if order in ("BADC", "DCBA"):
        words = [word[::-1] for word in words]
    return [int.from_bytes(word, "big") for word in words]


def registers(unit: int) -> list[SimData]:
    """Return the register blocks of one unit."""
    int32 = [r for o in ORDERS for r in in_order(struct.pack(">i", -123456), o)]
    float64 = [r for o in ORDERS for r in in_order(struct.pack(">d", 2.5), o)]
    return [
        SimData(0, values=[21.5, -40.25, 1013.25], datatype=DataType.FLOAT32),
        SimData(10, values=-123456.789, datatype=DataType.FLOAT64),
        SimData(20, values="Voltbus\0\0\0", datatype=DataType.STRING),
        SimData(30, values=unit, datatype=DataType.UINT16),
        SimData(40, values=-123456, datatype=DataType.INT32),
        SimData(50, values=int32, datatype=DataType.REGISTERS),
        SimData(60, values=float64, datatype=DataType.REGISTERS),
        SimData(80, values=0xFFFFFFFFFFFFFFFF, datatype=DataType.UINT64),
        SimData(84, values=-9007199254740993, datatype=DataType.INT64),
        SimData(88, values=-5, datatype=DataType.INT16),
        SimData(89, values=0xA5C3, datatype=DataType.UINT16),
        SimData(90, values=4000000000, datatype=DataType.UINT32),
        SimData(100, count=40, values=0, datatype=DataType.REGISTERS),
        SimData(200, count=6, values=0, datatype=DataType.REGISTERS),
        SimData(300, values=list(range(300, 700)), datatype=DataType.REGISTERS),
    ]


def bits() -> list[SimData]:
    """Return 32 bits of which the odd ones are on."""
    return [SimData(0, values=[bool(i % 2) for i in range(32)], datatype=DataType.BITS)]


def devices() -> list[SimDevice]:
    """Return every unit of the line."""
    full = [
        SimDevice(id=unit, simdata=(bits(), bits(), registers(unit), registers(unit)))
        for unit in (1, 2, 3, SILENT_UNIT)
    ]
    return [*full, SimDevice(id=4, simdata=registers(4))]


WRITE_ONE = 6
FAILURE = 4
STUCK = 7
NOWHERE = b"\xff\xff"  # an address that no unit has
BUSY = 6
FRAME = struct.Struct(">HHHBBHH")  # transaction, protocol, length, unit, function, address, value


class Temper:
    """Registers that do not do as they are told, as a packet filter of Modbus TCP."""

    def __init__(self) -> None:
        """Begin with a device that is busy."""
        self.busy = 2
        self.stuck = False
        self.exception = 0
        self.asked = 0

    def request(self, data: bytes) -> bytes:
        """Change a request on its way to the server."""
        if len(data) != FRAME.size:
            return data
        *head, function, address, value = FRAME.unpack(data)
        if function != WRITE_ONE:
            return data
        if address == 200:
            self.asked, self.stuck = value, False
            return FRAME.pack(*head, function, address, min(value, 500))
        if address == 201 and value > 1000:
            return data[:8] + NOWHERE + data[10:]
        if address == 202 and self.busy > 0:
            self.busy -= 1
            self.exception = BUSY
        elif address in {204, 205} and self.stuck or address == 205 and value == STUCK:
            self.stuck, self.exception = True, FAILURE
        elif address in {203, 205} and 0 < value <= BUSY:
            self.exception = value
        return data[:8] + NOWHERE + data[10:] if self.exception else data

    def answer(self, data: bytes) -> bytes:
        """Change an answer on its way to the client."""
        if len(data) == FRAME.size and data[7:10] == bytes([WRITE_ONE, 0, 200]):
            return data[:10] + self.asked.to_bytes(2, "big")  # the answer repeats the request
        if not self.exception:
            return data
        code, self.exception = self.exception, 0
        return data[:8] + bytes([code])


def mute(unit_offset: int, temper: Temper | None = None):
    """Return a packet filter that swallows the answers of the silent unit."""

    def trace(sending: bool, data: bytes) -> bytes:
        if sending and len(data) > unit_offset and data[unit_offset] == SILENT_UNIT:
            return b""
        if temper is None:
            return data
        return temper.answer(data) if sending else temper.request(data)

    return trace


def free_port() -> int:
    """Return a TCP port that was free a moment ago."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


async def until_stdin_closes() -> None:
    """Return when the parent closed our standard input, or died."""
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.buffer.read)


async def main() -> None:
    """Serve until standard input closes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framer", choices=("tcp", "rtu"), default="tcp")
    parser.add_argument("--port", type=int, default=0, help="TCP port, 0 for any")
    parser.add_argument("--serial", help="serial port or pty instead of TCP")
    args = parser.parse_args()

    port = args.port or free_port()
    if args.serial:
        server = ModbusSerialServer(
            devices(), port=args.serial, baudrate=19200, framer=FramerType.RTU, trace_packet=mute(0)
        )
    else:
        rtu = args.framer == "rtu"
        server = ModbusTcpServer(
            devices(),
            address=("127.0.0.1", port),
            framer=FramerType.RTU if rtu else FramerType.SOCKET,
            trace_packet=mute(0) if rtu else mute(6, Temper()),
        )
    await server.serve_forever(background=True)
    print("ready", port, flush=True)
    await until_stdin_closes()
    await server.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
