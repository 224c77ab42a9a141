"""An inverter with SunSpec models, made of pymodbus, and pysunspec2 as another client of it.

Without arguments it serves unit 1 on a free port, prints "ready <port>", and ends when its standard
input closes. With "read <port>" it prints what pysunspec2 reads: a line of JSON for each point, with
model, path of groups and name, value with its scale factor, and whether the definition lets it be written.

The map begins at 40000: common (1), inverter_three_phase (103), a model of a vendor (64999),
nameplate of an older edition that is shorter than its definition (120), immediate controls (123), mppt
with two modules (160), and three-phase wye meter (213).
"""

import asyncio
import json
import pathlib
import struct
import sys

import sunspec2
import sunspec2.modbus.client as client
from modbus_server import free_port, until_stdin_closes
from pymodbus import FramerType
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

DEFINITIONS = pathlib.Path(sunspec2.__file__).parent / "models" / "json"
BASE = 40000
SHORTER = {120: 16}

VALUES = {
    1: {"Mn": "Sunny Makers", "Md": "SM-10", "SN": "4711", "DA": 1},
    103: {
        "A": 1234, "A_SF": -2, "W": -512, "W_SF": 1, "Hz": 4998, "Hz_SF": -2, "WH": 123456789, "WH_SF": 0,
        "PhVphA": 2301, "V_SF": -1, "TmpCab": 415, "Tmp_SF": -1, "St": 4, "Evt1": 0b101,
    },
    120: {"DERTyp": 4, "WRtg": 10, "WRtg_SF": 3},
    123: {"WMaxLimPct": 1000, "WMaxLimPct_SF": -1, "WMaxLim_Ena": 0, "Conn": 1},
    160: {"DCA_SF": -2, "DCV_SF": -1, "DCW_SF": 0, "N": 2},
    213: {"W": -1500.5, "Hz": 50.02, "TotWhImp": 123456.0},
}
MODULES = [{"ID": 1, "DCA": 812, "DCV": 6003, "DCSt": 4}, {"ID": 2, "DCA": 0, "DCV": 6001, "DCSt": 2}]

FORMS = {"int16": ">h", "sunssf": ">h", "int32": ">i", "int64": ">q", "float32": ">f", "uint64": ">Q", "acc64": ">Q"}
MISSING = {"int16": -0x8000, "sunssf": -0x8000, "int32": -0x80000000, "float32": float("nan")}


def words_of(point: dict, value: object) -> list[int]:
    """Return the registers of a point; of one without a value those that say so."""
    size, kind = point["size"], point["type"]
    if kind == "string":
        data = str(value or "").encode().ljust(2 * size, b"\0")
    elif kind == "pad":
        data = b"\x80\0" * size
    elif value is None and kind.startswith("acc"):
        data = b"\0\0" * size
    elif value is None and kind not in MISSING:
        data = b"\xff\xff" * size
    else:
        data = struct.pack(FORMS.get(kind, ">H" if size == 1 else ">I"), MISSING[kind] if value is None else value)
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, 2 * size, 2)]


def model(number: int) -> list[int]:
    """Return a model with its header."""
    definition = json.loads((DEFINITIONS / f"model_{number}.json").read_text())
    values = VALUES[number]
    words: list[int] = []
    for point in definition["group"]["points"]:
        if point["name"] in {"ID", "L"}:
            continue
        words += words_of(point, values.get(point["name"]))
    if number == 160:
        for module in MODULES:
            for point in definition["group"]["groups"][0]["points"]:
                words += words_of(point, module.get(point["name"]))
    words = words[: SHORTER.get(number, len(words))]
    return [number, len(words), *words]


def image() -> list[int]:
    """Return the whole map."""
    words = [0x5375, 0x6E53]
    for number in (1, 103):
        words += model(number)
    words += [64999, 3, 1, 2, 3]
    for number in (120, 123, 160, 213):
        words += model(number)
    return [*words, 0xFFFF, 0]


async def serve() -> None:
    """Serve until standard input closes."""
    port = free_port()
    device = SimDevice(id=1, simdata=[SimData(BASE, values=image(), datatype=DataType.REGISTERS)])
    server = ModbusTcpServer(device, address=("127.0.0.1", port), framer=FramerType.SOCKET)
    await server.serve_forever(background=True)
    print("ready", port, flush=True)
    await until_stdin_closes()
    await server.shutdown()


def tell(number: int, group: object, path: str) -> None:
    """Print the points of a group, and of those in it."""
    for name, point in group.points.items():
        value = point.cvalue
        row = {"model": number, "path": path + name, "value": value, "writable": point.pdef.get("access") == "RW"}
        print(json.dumps(row))
    for name, inner in group.groups.items():
        many = isinstance(inner, list)
        for i, one in enumerate(inner if many else [inner]):
            tell(number, one, f"{path}{name}.{i + 1}." if many else f"{path}{name}.")


def read(port: int) -> None:
    """Print what pysunspec2 reads."""
    device = client.SunSpecModbusClientDeviceTCP(slave_id=1, ipaddr="127.0.0.1", ipport=port)
    device.scan()
    for model_ in device.model_list:
        tell(model_.model_id, model_, "")
    device.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(int(sys.argv[2]))
    else:
        asyncio.run(serve())
