"""A small building of the tests' own: rooms that are cooled, and a meter that sums."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from voltbus.testing import Node

SITE = "demo/tower"
USUAL = 23.0


@dataclass
class Building:
    """Rooms of 1 kWh/K that lose 0.4 kW/K and gain ``gains`` kW, in steps of ``step`` seconds."""

    node: Node
    count: int = 6
    gains: float = 4.0  # kW of heat
    outdoor: float = 33.0  # °C
    base: float = 6.0  # kW of electricity
    cooled: float = 3.0  # kW of heat for one of electricity
    step: float = 10.0
    temps: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)  # the power of each step
    warmest: float = 0.0
    blind: set[str] = field(default_factory=set)  # devices that say nothing

    def __post_init__(self) -> None:
        self.temps = [USUAL + 0.2] * self.count
        self.node.writable({self.point(i): USUAL for i in range(self.count)})

    def point(self, i: int) -> str:
        return f"{SITE}/room{i + 1}/setpoint"

    def setpoint(self, i: int) -> float:
        value = self.node.commanded(self.point(i))
        assert isinstance(value, (int, float))
        return float(value)

    def setpoints(self) -> list[float]:
        return [self.setpoint(i) for i in range(self.count)]

    def _cooling(self, i: int) -> float:
        return 12 * min(max(self.temps[i] - self.setpoint(i) + 0.5, 0), 1)

    def report(self) -> float:
        """Let the devices report; return the power in kW."""
        powers = [self._cooling(i) / self.cooled for i in range(self.count)]
        for i, power in enumerate(powers):
            device = f"{SITE}/room{i + 1}"
            if device not in self.blind:
                values = {"temp": self.temps[i], "setpoint": self.setpoint(i), "power": power}
                self.node.scan(device, dict(values))
        total = self.base + sum(powers)
        if f"{SITE}/meter" not in self.blind:
            self.node.scan(f"{SITE}/meter", {"power": total})
        return total

    async def live(self, seconds: float, each: Callable[[], None] = lambda: None) -> None:
        """Let time pass."""
        for _ in range(round(seconds / self.step)):
            self.seen.append(self.report())
            self.warmest = max(self.warmest, *self.temps)
            each()
            await asyncio.sleep(self.step)
            for i in range(self.count):
                heat = 0.4 * (self.outdoor - self.temps[i]) + self.gains - self._cooling(i)
                self.temps[i] += heat * self.step / 3600
