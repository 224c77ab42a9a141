"""Writes what the agent regulation decides to a point, so that the history of the world has it."""

from voltbus import Agent, Command, Scan, Wants, on


class Observer(Agent):
    """Takes the target of each decision."""

    wants = Wants(subscribe=["regulation/**"], command=[Command("campus/decision/setpoint", 12)])

    @on.scan("regulation/campus")
    async def look(self, scan: Scan) -> None:
        await self.write("campus/decision/setpoint", scan.points["target"], level=12, lease=3600)
