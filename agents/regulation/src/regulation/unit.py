"""A unit of the own node: its band, its lock-out, and whether an order can be followed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime

from .report import Model, Order, Report
from .settings import Unit

DRIFTED = 600.0  # seconds over which it is learned where the temperature goes
LEARNED = 3600.0  # seconds over which the power that holds the temperature is learned


@dataclass
class Local:
    """What is known of a unit. A lock-out and comfort are kept here, whoever orders."""

    path: str
    settings: Unit
    temperature: float | None = None
    value: float = 0.0  # of the commanded point: 0 or 1, or a speed
    at: datetime | None = None  # the newest reading
    changed: datetime | None = None
    switches: int = 0
    discomfort: float = 0.0  # K·h outside of the band
    drift: float | None = None  # °C, where the temperature goes without the unit
    hold: float = field(init=False)

    def __post_init__(self) -> None:
        self.hold = self.settings.hold if self.settings.hold is not None else self.settings.rated / 2

    @property
    def power(self) -> float:
        """Return the power in kW; that of a fan rises with the cube of its speed."""
        return self.settings.rated * (self.value**3 if self.settings.variable else self.value)

    def read(self, now: datetime, temperature: float, value: float | None) -> None:
        """Take a reading."""
        s = self.settings
        if self.at is not None:
            passed = max(0.0, (now - self.at).total_seconds())
            outside = max(0.0, temperature - s.high, s.low - temperature)
            self.discomfort += outside * passed / 3600
            self._learn_drift(passed, temperature)
            if s.hold is None:
                share = 1 - math.exp(-passed / LEARNED)
                self.hold = min(s.rated, max(0.0, self.hold + share * (self.power - self.hold)))
        self.at, self.temperature = now, temperature
        if value is not None:
            self.turned(now, min(1.0, max(0.0, value)) if s.variable else float(value > 0))

    def _learn_drift(self, passed: float, temperature: float) -> None:
        """Find where the temperature would go without the unit, by how it changed with it."""
        s = self.settings
        if s.capacity is None or s.resistance is None or self.temperature is None or passed <= 0:
            return
        slope = (temperature - self.temperature) / passed * 3600
        moved = s.cop * s.rated * self.value * (1 if s.heating else -1)
        seen = temperature + s.resistance * (s.capacity * slope - moved)
        share = 1 - math.exp(-passed / DRIFTED)
        self.drift = seen if self.drift is None else self.drift + share * (seen - self.drift)

    def model(self) -> Model | None:
        """Return how the room behaves, as far as it is known."""
        s = self.settings
        if s.capacity is None or s.resistance is None or self.drift is None:
            return None
        return Model(s.capacity, s.resistance, s.cop, self.drift)

    def turned(self, now: datetime, value: float) -> None:
        """Note the state of the unit, which may be another one."""
        if (value > 0) != (self.value > 0):
            self.changed = now
            self.switches += 1
        self.value = value

    def report(self, now: datetime) -> Report | None:
        """Return the state; None before the first reading."""
        s = self.settings
        if self.temperature is None or self.at is None:
            return None
        return Report(
            unit=self.path,
            at=self.at,
            temperature=self.temperature,
            low=s.low,
            high=s.high,
            rated=s.rated,
            hold=self.hold,
            power=self.power,
            heating=s.heating,
            variable=s.variable,
            on=self.value > 0,
            speed=self.value if s.variable else 0.0,
            model=self.model(),
            free=self.free(now),
        )

    def free(self, now: datetime) -> float:
        """Return the seconds until the lock-out ends."""
        if self.changed is None or self.settings.variable:
            return 0.0
        return max(0.0, self.settings.lockout - (now - self.changed).total_seconds())

    def judge(self, now: datetime, o: Order) -> str:
        """Return the code with which an order is refused, or nothing."""
        r = self.report(now)
        if r is None:
            return "failed"
        more = o.speed > self.value if r.variable else o.on
        if r.variable and not 0 <= o.speed <= 1:
            return "out-of-range"
        if not r.variable and o.on == r.on:
            return ""
        if r.free > 0:
            return "locked-out"
        if (more and r.position <= 0) or (not more and r.position >= 1):
            return "uncomfortable"
        return ""

    def needs(self, now: datetime) -> float | None:
        """Return what the unit must do by itself to keep its band; None: nothing."""
        r = self.report(now)
        if r is None or r.free > 0:
            return None
        if r.position >= 1 and self.value < 1:
            return 1.0
        if r.position <= 0 and self.value > 0:
            return 0.0
        return None
