"""A BACnet device made of bacpypes3 that logs and has alarms, for the interop tests. It needs a network of its own.

    bacnet_site.py ADDRESS/24 INSTANCE [ZONE-MINUTES]
        analog input 1 counts up by 1 four times a second, and trend log 1 logs it. Analog input 2 has limits of 10 and 30 and
        reports leaving them to the recipients of notification class 5, whose list others extend. Its clock is ZONE-MINUTES
        ahead of UTC (0). characterstring-value 9 holds what the last TimeSynchronization said. Analog value 1 is a setpoint that others command.

Commands on standard input: "value X" sets analog input 2, "acknowledge" acknowledges its alarms, "recipients" writes into
characterstring-value 9 how many recipients the notification class has, "command LEVEL X" and "relinquish LEVEL" command the setpoint as
another system does.

bacpypes3 0.0.110 has the encodings of ReadRange, AddListElement, GetEventInformation, AcknowledgeAlarm and
TimeSynchronization, but carries none of them out: that is done here.

It prints "ready 47808" and ends when its standard input does.
"""

import asyncio
import os
import sys
from datetime import datetime, timedelta, timezone

from bacpypes3.apdu import (
    AcknowledgeAlarmRequest,
    AddListElementRequest,
    GetEventInformationACK,
    GetEventInformationEventSummary,
    GetEventInformationRequest,
    ReadRangeACK,
    ReadRangeRequest,
    SimpleAckPDU,
    TimeSynchronizationRequest,
    UTCTimeSynchronizationRequest,
)
from bacpypes3.basetypes import (
    DateTime,
    DeviceObjectPropertyReference,
    Destination,
    EngineeringUnits,
    EventState,
    EventTransitionBits,
    LimitEnable,
    LogRecord,
    LogRecordLogDatum,
    StatusFlags,
    TimeStamp,
)
from bacpypes3.constructeddata import Any, ListOf
from bacpypes3.errors import ExecutionError
from bacpypes3.ipv4.app import NormalApplication
from bacpypes3.local.analog import AnalogInputObject, AnalogInputObjectIR, AnalogValueObjectCmd
from bacpypes3.local.device import DeviceObject
from bacpypes3.local.object import Object
from bacpypes3.object import CharacterStringValueObject as _Text
from bacpypes3.object import NotificationClassObject as _NotificationClass
from bacpypes3.object import TrendLogObject as _TrendLog
from bacpypes3.pdu import IPv4Address
from bacpypes3.primitivedata import Date, Null, ObjectIdentifier, Real, Time

ZONE = timedelta(minutes=int(sys.argv[3]) if len(sys.argv) > 3 else 0)
PAGE = 10  # records in one answer at most
KEPT = 4000
PRIORITIES = [40, 41, 200]  # to-offnormal, to-fault, to-normal; bacpypes3 reads those of a class, and ack-required, from behind


def local_now() -> datetime:
    """The time of the device's clock, without a zone."""
    return datetime.now(timezone.utc).replace(tzinfo=None) + ZONE


def bacnet_date(at: datetime) -> Date:
    return Date((at.year - 1900, at.month, at.day, at.isoweekday()))


def bacnet_time(at: datetime) -> Time:
    return Time((at.hour, at.minute, at.second, at.microsecond // 10000))


def stamp(value: DateTime) -> datetime:
    year, month, day, _ = value.date
    hour, minute, second, hundredths = value.time
    return datetime(year + 1900, month, day, hour, minute, second, hundredths * 10000)


class TrendLog(Object, _TrendLog):
    """A trend log whose buffer others read."""


class NotificationClass(Object, _NotificationClass):
    """Who is told of alarms."""


class Text(Object, _Text):
    """A text."""


class Clocked(DeviceObject):
    """A device with a clock of its own."""

    @property
    def localDate(self) -> Date:  # noqa: N802
        return bacnet_date(local_now())

    @localDate.setter
    def localDate(self, value: Date) -> None:  # noqa: N802
        pass

    @property
    def localTime(self) -> Time:  # noqa: N802
        return bacnet_time(local_now())

    @localTime.setter
    def localTime(self, value: Time) -> None:  # noqa: N802
        pass


class Site(NormalApplication):
    """The station."""

    records: list[LogRecord]
    events: AnalogInputObjectIR
    classes: NotificationClass
    log: TrendLog
    told: Text
    setpoint: AnalogValueObjectCmd

    async def do_ReadRangeRequest(self, apdu: ReadRangeRequest) -> None:  # noqa: N802
        if apdu.objectIdentifier != ObjectIdentifier("trend-log,1"):
            raise ExecutionError(errorClass="object", errorCode="unknownObject")
        wanted = self.records
        if apdu.range.byTime is not None:
            since, count = stamp(apdu.range.byTime.referenceTime), apdu.range.byTime.count
            wanted = [record for record in wanted if stamp(record.timestamp) > since][:count]
        else:
            first, count = apdu.range.byPosition.referenceIndex, apdu.range.byPosition.count
            wanted = wanted[first - 1 : first - 1 + count]
        page = wanted[:PAGE]
        last = bool(page) and page[-1] is self.records[-1]
        answer = ReadRangeACK(context=apdu)
        answer.objectIdentifier = apdu.objectIdentifier
        answer.propertyIdentifier = apdu.propertyIdentifier
        answer.resultFlags = [bool(page) and page[0] is self.records[0], last, len(page) < len(wanted)]
        answer.itemCount = len(page)
        answer.itemData = Any(ListOf(LogRecord)(page))
        await self.response(answer)

    async def do_AddListElementRequest(self, apdu: AddListElementRequest) -> None:  # noqa: N802
        added = apdu.listOfElements.cast_out(ListOf(Destination))
        self.classes.recipientList = list(self.classes.recipientList) + list(added)
        await self.response(SimpleAckPDU(context=apdu))

    async def do_GetEventInformationRequest(self, apdu: GetEventInformationRequest) -> None:  # noqa: N802
        answer = GetEventInformationACK(context=apdu)
        acked = self.events.ackedTransitions
        there = []
        if self.events.eventState != EventState.normal or 0 in list(acked):
            there.append(
                GetEventInformationEventSummary(
                    objectIdentifier=self.events.objectIdentifier,
                    eventState=self.events.eventState,
                    acknowledgedTransitions=acked,
                    eventTimeStamps=list(self.events.eventTimeStamps),
                    notifyType=self.events.notifyType,
                    eventEnable=self.events.eventEnable,
                    eventPriorities=PRIORITIES,
                )
            )
        answer.listOfEventSummaries = there
        answer.moreEvents = False
        await self.response(answer)

    async def do_AcknowledgeAlarmRequest(self, apdu: AcknowledgeAlarmRequest) -> None:  # noqa: N802
        at = 2 if apdu.eventStateAcknowledged == EventState.normal else 0
        acked = list(self.events.ackedTransitions)
        acked[at] = 1
        self.events.ackedTransitions = EventTransitionBits(acked)
        self.told.presentValue = f"acknowledged by {apdu.acknowledgmentSource}"
        await self.response(SimpleAckPDU(context=apdu))

    async def do_TimeSynchronizationRequest(self, apdu: TimeSynchronizationRequest) -> None:  # noqa: N802
        self.told.presentValue = f"local {stamp(apdu.time).isoformat()}"

    async def do_UTCTimeSynchronizationRequest(self, apdu: UTCTimeSynchronizationRequest) -> None:  # noqa: N802
        self.told.presentValue = f"utc {stamp(apdu.time).isoformat()}"


async def count(site: Site, counter: AnalogInputObject) -> None:
    while True:
        await asyncio.sleep(0.25)
        counter.presentValue = counter.presentValue + 1.0
        at = local_now()
        record = LogRecord(
            timestamp=DateTime(date=bacnet_date(at), time=bacnet_time(at)),
            logDatum=LogRecordLogDatum(realValue=counter.presentValue),
            statusFlags=StatusFlags([0, 0, 0, 0]),
        )
        site.records.append(record)
        del site.records[:-KEPT]
        site.log.recordCount = len(site.records)


def furnish(site: Site) -> AnalogInputObject:
    counter = AnalogInputObject(
        objectIdentifier=("analog-input", 1), objectName="counter", presentValue=0.0, statusFlags=[0, 0, 0, 0], covIncrement=0.5,
        units=EngineeringUnits("noUnits"),
    )
    site.classes = NotificationClass(
        objectIdentifier=("notification-class", 5), objectName="alarms", notificationClass=5, priority=PRIORITIES[::-1],
        ackRequired=EventTransitionBits([0, 1, 1]), recipientList=[],
    )
    site.events = AnalogInputObjectIR(
        objectIdentifier=("analog-input", 2), objectName="watched", presentValue=20.0, statusFlags=[0, 0, 0, 0], covIncrement=0.5,
        units=EngineeringUnits("degreesCelsius"), timeDelay=0, notificationClass=5, highLimit=30.0, lowLimit=10.0, deadband=1.0,
        limitEnable=LimitEnable([1, 1]), eventEnable=EventTransitionBits([1, 1, 1]), ackedTransitions=EventTransitionBits([1, 1, 1]),
        notifyType="alarm", eventTimeStamps=[TimeStamp(time=Time((0, 0, 0, 0))) for _ in range(3)], eventDetectionEnable=True,
        eventState="normal",
    )
    site.log = TrendLog(
        objectIdentifier=("trend-log", 1), objectName="log of the counter", enable=True, stopWhenFull=False, bufferSize=KEPT,
        recordCount=0, totalRecordCount=0, loggingType="polled", statusFlags=[0, 0, 0, 0], reliability="noFaultDetected",
        logDeviceObjectProperty=DeviceObjectPropertyReference(objectIdentifier=("analog-input", 1), propertyIdentifier="present-value"),
    )
    site.told = Text(objectIdentifier=("characterstring-value", 9), objectName="told", presentValue="nothing", statusFlags=[0, 0, 0, 0])
    site.setpoint = AnalogValueObjectCmd(
        objectIdentifier=("analog-value", 1), objectName="Zone Setpoint", presentValue=21.0, relinquishDefault=21.0, statusFlags=[0, 0, 0, 0],
        covIncrement=0.1, units=EngineeringUnits("degreesCelsius"),
    )
    for o in (counter, site.classes, site.events, site.log, site.told, site.setpoint):
        site.add_object(o)
    return counter


async def main() -> None:
    address, instance = sys.argv[1], int(sys.argv[2])
    device = Clocked(
        objectIdentifier=("device", instance), objectName=f"site {instance}", vendorIdentifier=999, maxApduLengthAccepted=1476,
        segmentationSupported="segmentedBoth", maxSegmentsAccepted=64,
    )
    site = Site(device, IPv4Address(f"{address}:47808"))
    site.records = []
    counter = furnish(site)
    counting = asyncio.create_task(count(site, counter))
    await asyncio.sleep(1)
    if counting.done():
        counting.result()
    print("ready 47808", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, _, rest = line.strip().partition(" ")
        if command == "value":
            value = float(rest)
            if not 10 <= value <= 30:
                site.events.ackedTransitions = EventTransitionBits([0, 1, 1])
            site.events.presentValue = value
        elif command == "acknowledge":
            site.events.ackedTransitions = EventTransitionBits([1, 1, 1])
        elif command == "recipients":
            site.told.presentValue = f"{len(site.classes.recipientList)} recipients"
        elif command in ("command", "relinquish"):
            level, _, value = rest.partition(" ")
            await site.setpoint.write_property("presentValue", Real(float(value)) if value else Null(()), priority=int(level))
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
