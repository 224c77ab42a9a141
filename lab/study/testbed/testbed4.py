"""A master that switches units by the comfort of their rooms, and the agents of the buildings."""

from voltbus import Agent, Command, Config, Error, Message, Scan, Wants, every, on


class Building(Agent[Config]):
    """Reports the temperature and the state of its unit, and does what the master says."""

    wants = Wants(subscribe=["**"], publish=["report", "answer"], command=[Command("**", 12)])

    async def start(self) -> None:
        self.seen: dict[str, object] = {}

    @on.scan("*/zone")
    async def heard(self, scan: Scan) -> None:
        self.seen = {"unit": scan.device, "temp": scan.points["temp"], "power": scan.points["power"]}

    @every(minutes=1, wait=True)
    async def report(self) -> None:
        if self.seen:
            await self.bus.send("report", self.seen)

    @on.message("decision", sender="master")
    async def decided(self, message: Message) -> None:
        unit = self.seen.get("unit")
        if unit not in message.body:
            return
        try:
            await self.write(f"{unit}/on", float(message.body[unit]), level=12, lease=1500)
        except Error as why:
            await self.bus.send("answer", {"unit": unit, "code": "failed", "why": str(why)})
        else:
            await self.bus.send("answer", {"unit": unit, "code": "done"})


class Settings(Config):
    low: float = 22.5  # °C
    high: float = 23.5
    most: int = 3  # units on at the same time, unless a room is above high


class Master(Agent[Settings]):
    """Registers a node by its first report. The warmest rooms come first, and every room is kept between low and high."""

    wants = Wants(subscribe=["**"], publish=["decision"])

    async def start(self) -> None:
        self.units: dict[str, dict[str, float]] = {}

    @on.message("report")
    async def heard(self, message: Message) -> None:
        self.units[message.body["unit"]] = message.body

    @every(minutes=10)
    async def decide(self) -> None:
        low, high = self.settings.low, self.settings.high
        on = {}
        for unit, last in sorted(self.units.items(), key=lambda one: -one[1]["temp"]):
            wanted = last["temp"] > (low + high) / 2 or last["power"] > 0 and last["temp"] > low
            on[unit] = last["temp"] > high or wanted and sum(on.values()) < self.settings.most
        await self.bus.send("decision", on)
