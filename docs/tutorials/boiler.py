"""A small Modbus TCP device for the tutorial: a boiler, played by pymodbus.

    python boiler.py [port]        5020 if left out; ends with Ctrl-C

Holding registers, addresses as on the wire:

    0-1    float32, the most significant word first (ABCD)   supply temperature, degC, moving
    2-3    float32, the words swapped (CDAB)                 return temperature, degC, moving
    4      int16, in hundredths of a bar                     pressure
    5-6    uint32                                            energy, kWh
    10-17  string[16]                                        model
    20     int16, writable                                   set point, degC
Discrete input 0: the burner is on.
"""

import asyncio
import math
import struct
import sys
import time

from pymodbus.server import StartAsyncTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

READ_HOLDING = 3


def words(big_endian: bytes) -> list[int]:
    """Return bytes as registers, the first two bytes first."""
    return [int.from_bytes(big_endian[i : i + 2], "big") for i in range(0, len(big_endian), 2)]


async def move(function, start, address, count, registers, new_values):
    """Let the temperatures swing, just before they are read."""
    if function != READ_HOLDING:
        return
    supply = 65 + 5 * math.sin(time.time() / 20)
    registers[0 - start : 2 - start] = words(struct.pack(">f", supply))
    registers[2 - start : 4 - start] = words(struct.pack(">f", supply - 15))[::-1]


def boiler() -> SimDevice:
    """Return the device: unit 1 with bits and registers of its own."""
    bits = [SimData(0, values=[True] * 8, datatype=DataType.BITS)]
    holding = [
        SimData(0, count=4, values=0, datatype=DataType.REGISTERS),
        SimData(4, values=162, datatype=DataType.INT16),
        SimData(5, values=48210, datatype=DataType.UINT32),
        SimData(10, values="VB-250 Condens\0\0", datatype=DataType.STRING),
        SimData(20, values=70, datatype=DataType.INT16),
    ]
    return SimDevice(id=1, simdata=(bits, bits, holding, holding), action=move)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 5020
    print(f"the boiler listens at 127.0.0.1:{port}", flush=True)
    try:
        asyncio.run(StartAsyncTcpServer(boiler(), address=("127.0.0.1", port)))
    except KeyboardInterrupt:
        pass
