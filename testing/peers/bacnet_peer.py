"""BACnet devices made of bacpypes3, for the interop tests. They need a network of their own.

    bacnet_peer.py device ADDRESS/24 INSTANCE MAX_APDU OBJECTS [ADDRESS/24 …]
        devices with analog inputs 1 to OBJECTS, which have the values 1.5, 2.5 …, and the
        commandable analog value 1; analog input 1 goes up by 1 five times a second
    bacnet_peer.py bbmd ADDRESS/24 INSTANCE MAX_APDU OBJECTS
        likewise, and it accepts foreign devices
    bacnet_peer.py plant ADDRESS/24 INSTANCE MAX_APDU OBJECTS [ADDRESS/24 …]
        likewise, with a binary, a multi-state and a text object besides, and an input whose sensor is broken;
        its analog input 1 stays as it is
    bacnet_peer.py router ADDRESS/24 INSTANCE MAX_APDU OBJECTS
        a router at the address, and behind it in network 2001 two devices with the MAC 1 and 2, likewise
    bacnet_peer.py client ADDRESS/24 DEVICE
        reads and commands the device with the address DEVICE and prints what it finds

It prints "ready 47808" and ends when its standard input does; the client ends by itself.
"""

import asyncio
import contextlib
import os
import sys

from bacpypes3.appservice import ApplicationServiceAccessPoint
from bacpypes3.app import Application
from bacpypes3.basetypes import EngineeringUnits
from bacpypes3.comm import bind
from bacpypes3.errors import PropertyError
from bacpypes3.ipv4.app import NormalApplication
from bacpypes3.ipv4.bvll import BVLLCodec
from bacpypes3.ipv4.service import BIPBBMD, UDPMultiplexer
from bacpypes3.ipv4 import IPv4DatagramServer
from bacpypes3.ipv4.link import NormalLinkLayer
from bacpypes3.local.analog import AnalogInputObject, AnalogValueObjectCmd
from bacpypes3.local.binary import BinaryValueObjectCmd
from bacpypes3.local.cmd import Commandable
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.multistate import MultiStateValueObject
from bacpypes3.netservice import NetworkServiceAccessPoint, NetworkServiceElement
from bacpypes3.pdu import Address, IPv4Address, LocalBroadcast, LocalStation
from bacpypes3.object import CharacterStringValueObject
from bacpypes3.primitivedata import Null, ObjectIdentifier, Real
from bacpypes3.service.cov import ChangeOfValueServices
from bacpypes3.service.device import DeviceCommunicationControlServices
from bacpypes3.vlan import Network, Node


class Device(NormalApplication, ChangeOfValueServices, DeviceCommunicationControlServices):
    """A station with an address of its own."""

    @property
    def smap(self) -> ApplicationServiceAccessPoint:
        """What DeviceCommunicationControlServices of bacpypes3 0.0.110 calls the access point."""
        return self.asap


PEERS: list[str] = []  # the other BBMDs of a BBMD


class Bbmd(Device):
    """A station that passes on broadcasts. BBMDApplication of bacpypes3 0.0.110 cannot be constructed."""

    def __init__(self, device_object: DeviceObject, local_address: IPv4Address) -> None:
        Application.__init__(self)
        self.asap = ApplicationServiceAccessPoint(device_object, self.device_info_cache)
        self.nsap = NetworkServiceAccessPoint()
        self.nse = NetworkServiceElement()
        bind(self.nse, self.nsap)
        bind(self, self.asap, self.nsap)
        self.bbmd = BIPBBMD(local_address)
        for peer in (local_address, *(IPv4Address(a) for a in PEERS)):  # without its own address the own subnet is left out
            self.bbmd.add_peer(peer)
        self.codec = BVLLCodec()
        self.multiplexer = UDPMultiplexer()
        self.server = IPv4DatagramServer(local_address)
        bind(self.bbmd, self.codec, self.multiplexer.annexJ)
        bind(self.multiplexer, self.server)
        self.nsap.bind(self.bbmd, address=local_address)
        self.add_object(device_object)


class Router:
    """Passes on messages between BACnet/IP and a network of its own."""

    def __init__(self, address: IPv4Address, lan: Network) -> None:
        self.nsap = NetworkServiceAccessPoint()
        self.nse = NetworkServiceElement()
        bind(self.nse, self.nsap)
        self.link = NormalLinkLayer(address)
        self.nsap.bind(self.link, 1, address)
        self.node = Node(LocalStation(bytes([254])), lan)
        self.nsap.bind(self.node, 2001)


class Behind(Application, ChangeOfValueServices):
    """A station of the network behind the router."""

    def __init__(self, device_object: DeviceObject, mac: int, lan: Network) -> None:
        Application.__init__(self)
        self.asap = ApplicationServiceAccessPoint(device_object, self.device_info_cache)
        self.nsap = NetworkServiceAccessPoint()
        self.nse = NetworkServiceElement()
        bind(self.nse, self.nsap)
        bind(self, self.asap, self.nsap)
        address = LocalStation(bytes([mac]))
        self.node = Node(address, lan)
        self.nsap.bind(self.node, address=address)
        self.add_object(device_object)


def station(kind: type, address: str, instance: int, max_apdu: int) -> Device:
    return kind(device_object(instance, max_apdu), IPv4Address(f"{address}:47808"))


def device_object(instance: int, max_apdu: int) -> DeviceObject:
    return DeviceObject(
        objectIdentifier=("device", instance),
        objectName=f"device {instance}",
        vendorIdentifier=999,
        maxApduLengthAccepted=max_apdu,
        segmentationSupported="segmentedBoth",
        maxSegmentsAccepted=64,
    )


class Text(CharacterStringValueObject):
    """A text that others write."""


class Sealed(AnalogInputObject):
    """A value that nobody may write."""

    async def write_property(self, *_: object) -> None:
        raise PropertyError(errorCode="writeAccessDenied")


class State(Commandable, MultiStateValueObject):
    """A state that others command."""


def furnish(app: Device) -> None:
    app.add_object(
        BinaryValueObjectCmd(
            objectIdentifier=("binary-value", 1),
            objectName="Fan Enable",
            presentValue="inactive",
            relinquishDefault="inactive",
            inactiveText="stopped",
            activeText="running",
            statusFlags=[0, 0, 0, 0],
        )
    )
    app.add_object(
        State(
            objectIdentifier=("multi-state-value", 1),
            objectName="Fan/Speed",
            presentValue=1,
            relinquishDefault=1,
            numberOfStates=3,
            stateText=["off", "low", "high"],
            statusFlags=[0, 0, 0, 0],
        )
    )
    app.add_object(
        Text(objectIdentifier=("characterstring-value", 1), objectName="Note", presentValue="grün", statusFlags=[0, 0, 0, 0])
    )
    app.add_object(
        AnalogInputObject(
            objectIdentifier=("analog-input", 900),
            objectName="Broken Sensor",
            presentValue=-40.0,
            statusFlags=[0, 0, 0, 0],
            reliability="noSensor",
            units=EngineeringUnits("degreesCelsius"),
        )
    )
    app.add_object(Sealed(objectIdentifier=("analog-input", 901), objectName="Sealed", presentValue=7.0, statusFlags=[0, 0, 0, 0]))


async def device(kind: type, address: str, instance: int, max_apdu: int, objects: int, plant: bool = False) -> None:
    await serve(station(kind, address, instance, max_apdu), objects, plant)


async def routed(address: str, instance: int, max_apdu: int, objects: int) -> None:
    lan: Network = Network("2001", LocalBroadcast())
    router = Router(IPv4Address(f"{address}:47808"), lan)
    devices = [Behind(device_object(instance + n, max_apdu), n + 1, lan) for n in range(2)]
    await asyncio.gather(*(serve(app, objects, True) for app in devices))
    await asyncio.Event().wait()
    del router


async def serve(app: Application, objects: int, plant: bool) -> None:
    inputs = []
    for n in range(1, objects + 1):
        point = AnalogInputObject(
            objectIdentifier=("analog-input", n),
            objectName=f"input {n}",
            presentValue=n + 0.5,
            statusFlags=[0, 0, 0, 0],
            covIncrement=0.5,
            units=EngineeringUnits("degreesCelsius"),
        )
        inputs.append(point)
        app.add_object(point)
    app.add_object(
        AnalogValueObjectCmd(
            objectIdentifier=("analog-value", 1),
            objectName="setpoint °C",
            presentValue=20.0,
            relinquishDefault=20.0,
            statusFlags=[0, 0, 0, 0],
            covIncrement=0.5,
            units=EngineeringUnits("degreesCelsius"),
        )
    )
    if plant:
        furnish(app)
    while not plant:
        await asyncio.sleep(0.2)
        inputs[0].presentValue = inputs[0].presentValue + 1.0


async def client(address: str, target: str) -> None:
    app = station(Device, address, 4000, 1476)
    await asyncio.sleep(0.5)
    peer = Address(target)
    found = await app.who_is(timeout=1)
    for i_am in found:
        print("found", i_am.iAmDeviceIdentifier[1], i_am.maxAPDULengthAccepted, flush=True)
    setpoint = ObjectIdentifier("analog-value,1")
    print("name", await app.read_property(peer, setpoint, "object-name"), flush=True)
    print("value", await app.read_property(peer, setpoint, "present-value"), flush=True)
    names = await app.read_property(peer, ObjectIdentifier(f"device,{found[0].iAmDeviceIdentifier[1]}"), "object-list")
    print("objects", len(names), flush=True)
    many = await app.read_property_multiple(peer, [setpoint, ["present-value", "units", "description"]])
    print("many", *[value for _, _, _, value in many], flush=True)
    await app.write_property(peer, setpoint, "present-value", Real(25.0), priority=8)
    print("commanded", await app.read_property(peer, setpoint, "present-value"), flush=True)
    async with app.change_of_value(peer, setpoint, 7, True, 30) as changes:
        await changes.get_value()
        await app.write_property(peer, setpoint, "present-value", Null(()), priority=8)
        while True:
            name, value = await changes.get_value()
            if str(name) == "present-value" and value == 20.0:
                break
    print("relinquished", value, flush=True)


async def main() -> None:
    kind, rest = sys.argv[1], sys.argv[2:]
    if kind == "client":
        print("ready 47808", flush=True)
        await client(*rest)
        return
    PEERS[:] = [word.removeprefix("peer=") for word in rest if word.startswith("peer=")]
    rest = [word for word in rest if not word.startswith("peer=")]
    instance, max_apdu, objects = (int(text) for text in rest[1:4])
    made = Bbmd if kind == "bbmd" else Device
    plant = kind == "plant"
    if kind == "router":
        tasks = [asyncio.create_task(routed(rest[0], instance, max_apdu, objects))]
        rest = rest[:4]
    else:
        tasks = [asyncio.create_task(device(made, rest[0], instance, max_apdu, objects, plant))]
    for n, address in enumerate(rest[4:], start=1):
        tasks.append(asyncio.create_task(device(Device, address, instance + n, max_apdu, objects, plant)))
    await asyncio.sleep(1)  # the sockets are opened by tasks that nobody can wait for
    for task in tasks:
        if task.done():
            task.result()
    print("ready 47808", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
