"""A BACnet client made of bacpypes3 that a test commands, in a network of its own.

    bacnet_client.py ADDRESS/24 [MAX_APDU [BBMD]]

With a BBMD it is a foreign device that registers there.
It prints "ready PORT" and takes commands, one a line, at the port of loopback:

    whois LOW HIGH                        device INSTANCE ADDRESS MAX_APDU VENDOR …, done whois COUNT
    whohas NAME                           object DEVICE OBJECT NAME …, done whohas COUNT
    read ADDRESS OBJECT PROPERTY [INDEX]  read VALUE
    list ADDRESS OBJECT                   list COUNT
    many ADDRESS OBJECT PROPERTY          property NAME VALUE …, done many COUNT
    write ADDRESS OBJECT TYPE VALUE PRIORITY   written
    cov ADDRESS OBJECT confirmed|unconfirmed   change NAME VALUE … for as long as it runs
    covproperty ADDRESS OBJECT PROPERTY INCREMENT   told NAME VALUE … for as long as it runs
    range ADDRESS OBJECT position|sequence FIRST COUNT, range ADDRESS OBJECT time DATE TIME COUNT
                                          record DATE TIME VALUE …, done range COUNT FIRST LAST MORE SEQUENCE

A device that declines is answered with "declined CLASS CODE", "rejected REASON" or "aborted REASON". It ends with its standard input.
"""

import asyncio
import os
import sys

from bacpypes3.apdu import AbortPDU, ErrorRejectAbortNack, Range, ReadRangeACK, ReadRangeRequest, RejectPDU, SimpleAckPDU, SubscribeCOVPropertyRequest, WritePropertyRequest
from bacpypes3.basetypes import DateTime, LogRecord, RangeByPosition, RangeBySequenceNumber, RangeByTime
from bacpypes3.constructeddata import Any, AnyAtomic, SequenceOf
from bacpypes3.ipv4.app import ForeignApplication, NormalApplication
from bacpypes3.local.device import DeviceObject
from bacpypes3.pdu import Address, IPv4Address
from bacpypes3.primitivedata import CharacterString, Date, Enumerated, Null, ObjectIdentifier, Real, Time, Unsigned
from bacpypes3.service.cov import ChangeOfValueServices

TYPES = {"real": lambda v: Real(float(v)), "enumerated": lambda v: Enumerated(int(v)), "unsigned": lambda v: Unsigned(int(v)),
         "text": CharacterString, "null": lambda _: Null(())}


PROPERTY_PROCESS = 9  # identifies subscriptions to properties


class Client(ChangeOfValueServices):
    """A client with an address of its own. bacpypes3 subscribes to objects only: subscriptions to properties are of this class."""

    told = None

    async def do_ConfirmedCOVNotificationRequest(self, apdu) -> None:
        if apdu.subscriberProcessIdentifier != PROPERTY_PROCESS:
            await super().do_ConfirmedCOVNotificationRequest(apdu)
            return
        for change in apdu.listOfValues:
            self.told(change.propertyIdentifier, change.value.cast_out(AnyAtomic).get_value())
        await self.response(SimpleAckPDU(context=apdu))


class Normal(Client, NormalApplication):
    """A client that broadcasts in its subnet."""


class Foreign(Client, ForeignApplication):
    """A client whose broadcasts a BBMD passes on."""


class Peer:
    """Carries out commands."""

    def __init__(self, app: Client, writer: asyncio.StreamWriter) -> None:
        self.app, self.writer, self.tasks = app, writer, set()

    def say(self, *words: object) -> None:
        self.writer.write((" ".join(str(word) for word in words) + "\n").encode())

    async def whois(self, low: str, high: str) -> None:
        found = await self.app.who_is(int(low), int(high), timeout=1)
        for i_am in found:
            self.say("device", i_am.iAmDeviceIdentifier[1], i_am.pduSource, i_am.maxAPDULengthAccepted, i_am.vendorID)
        self.say("done whois", len(found))

    async def whohas(self, name: str) -> None:
        found = await self.app.who_has(object_name=name, timeout=1)
        for i_have in found:
            self.say("object", i_have.deviceIdentifier[1], i_have.objectIdentifier, i_have.objectName)
        self.say("done whohas", len(found))

    async def read(self, address: str, what: str, name: str, index: str = "") -> None:
        value = await self.app.read_property(Address(address), ObjectIdentifier(what), name, int(index) if index else None)
        if isinstance(value, list):
            value = "[" + " ".join(shown(element) for element in value) + "]"
        self.say("read", shown(value))

    async def list(self, address: str, what: str) -> None:
        self.say("list", len(await self.app.read_property(Address(address), ObjectIdentifier(what), "object-list")))

    async def many(self, address: str, what: str, name: str) -> None:
        got = await self.app.read_property_multiple(Address(address), [ObjectIdentifier(what), [name]])
        for _, prop, _, value in got:
            self.say("property", prop, shown(value))
        self.say("done many", len(got))

    async def write(self, address: str, what: str, kind: str, value: str, priority: str) -> None:
        request = WritePropertyRequest(objectIdentifier=ObjectIdentifier(what), propertyIdentifier="present-value", destination=Address(address))
        request.propertyValue, request.priority = Any(TYPES[kind](value)), int(priority)  # of any type, as a client may be wrong
        ack = await self.app.request(request)
        if not isinstance(ack, SimpleAckPDU):
            raise ack
        self.say("written")

    async def cov(self, address: str, what: str, how: str) -> None:
        async def watch() -> None:
            async with self.app.change_of_value(Address(address), ObjectIdentifier(what), 7, how == "confirmed", 60) as changes:
                self.say("subscribed")
                while True:
                    name, value = await changes.get_value()
                    self.say("change", name, shown(value))

        self.tasks.add(asyncio.create_task(self.carry_out(watch())))

    async def covproperty(self, address: str, what: str, name: str, increment: str) -> None:
        self.app.told = lambda name, value: self.say("told", name, value)
        ack = await self.app.request(
            SubscribeCOVPropertyRequest(
                subscriberProcessIdentifier=PROPERTY_PROCESS,
                monitoredObjectIdentifier=ObjectIdentifier(what),
                issueConfirmedNotifications=True,
                lifetime=60,
                monitoredPropertyIdentifier=name,
                covIncrement=float(increment),
                destination=Address(address),
            )
        )
        if not isinstance(ack, SimpleAckPDU):
            raise ack
        self.say("subscribed")

    async def range(self, address: str, what: str, by: str, *parameters: str) -> None:
        request = ReadRangeRequest(objectIdentifier=ObjectIdentifier(what), propertyIdentifier="log-buffer", destination=Address(address))
        count = int(parameters[-1])
        if by == "position":
            request.range = Range(byPosition=RangeByPosition(referenceIndex=int(parameters[0]), count=count))
        elif by == "sequence":
            request.range = Range(bySequenceNumber=RangeBySequenceNumber(referenceSequenceNumber=int(parameters[0]), count=count))
        else:
            at = DateTime(date=Date(parameters[0]), time=Time(parameters[1]))
            request.range = Range(byTime=RangeByTime(referenceTime=at, count=count))
        ack = await self.app.request(request)
        if not isinstance(ack, ReadRangeACK):
            raise ack
        for record in ack.itemData.cast_out(SequenceOf(LogRecord)) if ack.itemCount else []:
            kind = record.logDatum._choice
            value = getattr(record.logDatum, kind)
            self.say("record", record.timestamp.date, record.timestamp.time, kind, value if kind != "failure" else "")
        flags = ack.resultFlags
        self.say("done range", ack.itemCount, flags[0], flags[1], flags[2], ack.firstSequenceNumber)

    async def carry_out(self, command) -> None:
        try:
            await command
        except RejectPDU as declined:
            self.say("rejected", declined.apduAbortRejectReason)
        except AbortPDU as declined:
            self.say("aborted", declined.apduAbortRejectReason)
        except ErrorRejectAbortNack as declined:
            self.say("declined", declined.errorClass, declined.errorCode)
        except Exception as problem:  # the test shows it
            self.say("problem", repr(problem))


def shown(value: object) -> str:
    if hasattr(value, "errorCode"):
        return f"error {value.errorClass} {value.errorCode}"
    if hasattr(value, "get_value"):
        return str(value.get_value())
    if hasattr(value, "_choice") and value._choice:  # an element of a priority array
        inner = getattr(value, value._choice)
        return "null" if value._choice == "null" else str(inner)
    if isinstance(value, list):
        return "[" + " ".join(shown(element) for element in value) + "]"
    return str(value)


async def main() -> None:
    address, max_apdu, bbmd = (*sys.argv[1:], *("", "1476", "")[len(sys.argv) - 1 :])
    device = DeviceObject(
        objectIdentifier=("device", 4000),
        objectName="client",
        vendorIdentifier=999,
        maxApduLengthAccepted=int(max_apdu),
        segmentationSupported="segmentedBoth",
        maxSegmentsAccepted=64,
    )
    if bbmd:
        app = Foreign(device, IPv4Address(f"{address}:47808"))
        app.register(IPv4Address(f"{bbmd}:47808"), 30)
    else:
        app = Normal(device, IPv4Address(f"{address}:47808"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(app, writer)
        while line := await reader.readline():
            command, *arguments = line.decode().split()
            await peer.carry_out(getattr(peer, command)(*arguments))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    await asyncio.sleep(0.5)  # the socket is opened by a task that nobody can wait for
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
