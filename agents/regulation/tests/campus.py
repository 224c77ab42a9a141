"""Buildings of the tests' own: rooms that a unit cools, each at a node in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from voltbus.testing import Node

UNIT = {"low": 21.5, "high": 22.5, "rated": 5.0, "hold": 2.0, "lockout": 60}


@dataclass
class Campus:
    """Rooms of 2 kWh/K and 2 K/kW at 32 °C, with the COP 2.5."""

    node: Node
    rooms: list[str]
    temps: dict[str, float] = field(default_factory=dict)
    switches: int = 0
    worst: float = 0.0

    def __post_init__(self) -> None:
        self.temps = {r: 21.6 + 0.8 * i / len(self.rooms) for i, r in enumerate(self.rooms)}
        self._on = dict.fromkeys(self.rooms, 0.0)
        self.node.writable({f"{r}/on": 0.0 for r in self.rooms})

    def on(self, room: str) -> float:
        value = self.node.commanded(f"{room}/on")
        assert isinstance(value, (int, float))
        return float(value)

    def power(self) -> float:
        return 5.0 * sum(self.on(r) for r in self.rooms)

    def step(self, seconds: float) -> None:
        for r in self.rooms:
            on = self.on(r)
            self.switches += on != self._on[r]
            self._on[r] = on
            slope = ((32 - self.temps[r]) / 2 - 2.5 * 5 * on) / 2
            self.temps[r] += slope * seconds / 3600
            self.worst = max(self.worst, self.temps[r] - 22.5, 21.5 - self.temps[r])
            self.node.scan(r, {"temp": self.temps[r], "on": on})

    async def run(self, seconds: float, step: float = 10.0) -> list[float]:
        """Let time pass; return the power at each step."""
        powers = []
        for _ in range(int(seconds / step)):
            self.step(step)
            await asyncio.sleep(step)
            powers.append(self.power())
        return powers
