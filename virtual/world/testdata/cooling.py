"""A master that tells buildings when to cool, and the agents of the buildings."""

import random

from voltbus import Agent, Command, Config, Message, Scan, Wants, every, on


class Building(Agent[Config]):
    """Reports to the master, and does what it says."""

    wants = Wants(subscribe=["**"], publish=["temp"], command=[Command("**", 12)])

    async def start(self) -> None:
        self.temp = None

    @on.scan("*/zone")
    async def heard(self, scan: Scan) -> None:
        self.device, self.temp = scan.device, scan.points["temp"]

    @every(minutes=1, wait=True)
    async def report(self) -> None:
        if self.temp is not None:
            await self.bus.send("temp", {"device": self.device, "temp": self.temp, "luck": random.random()})

    @on.message("on", sender="master")
    async def told(self, message: Message) -> None:
        on = message.body.get(self.device)
        if on is not None:
            await self.write(f"{self.device}/on", float(on), level=12, lease=1200)


class Settings(Config):
    setpoint: float = 23.0


class Master(Agent[Settings]):
    """Switches the units of buildings that are too warm."""

    wants = Wants(subscribe=["**"], publish=["on"])

    async def start(self) -> None:
        self.temps = {}

    @on.message("temp")
    async def heard(self, message: Message) -> None:
        self.temps[message.body["device"]] = message.body["temp"]

    @every(minutes=10)
    async def decide(self) -> None:
        await self.bus.send("on", {d: t > self.settings.setpoint for d, t in self.temps.items()})
