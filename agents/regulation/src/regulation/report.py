"""What members say to each other: reports, orders, answers, and the token of a leader.

They have the meaning of the Go package ``regulation``. Powers are in kW, temperatures in °C, times in
seconds.
"""

from __future__ import annotations

import math
from datetime import datetime

import msgspec


class Token(msgspec.Struct, frozen=True):
    """A term and its leader. Who has a later one is the leader of now."""

    term: int = 0
    leader: str = ""


class Model(msgspec.Struct, frozen=True):
    """How the room of a fan behaves, for predictive control."""

    capacity: float  # kWh/K
    resistance: float  # K/kW, to the outside
    cop: float  # heat moved at full speed, through the rated power
    drift: float  # °C, where the temperature goes without the fan


class Report(msgspec.Struct, omit_defaults=True):
    """The state of a unit. A unit registers by its first one."""

    unit: str
    at: datetime
    temperature: float
    low: float
    high: float
    rated: float
    hold: float = 0.0  # the power that holds the temperature, on average
    power: float = 0.0
    heating: bool = False
    variable: bool = False  # a fan whose speed is ordered
    on: bool = False
    speed: float = 0.0  # 0 to 1, of a variable one
    model: Model | None = None
    free: float = 0.0  # until an order is possible; 0: now

    @property
    def position(self) -> float:
        """How much the unit wants to run: at 0 it switches itself off, at 1 on."""
        share = (self.temperature - self.low) / (self.high - self.low)
        return 1 - share if self.heating else share

    def wrong(self) -> str:
        """Return what is wrong with the report, or nothing."""
        numbers = (self.temperature, self.low, self.high, self.rated, self.hold, self.power, self.speed)
        if not self.unit or not all(math.isfinite(n) for n in numbers):
            return "it has no name, or something that is no number"
        if self.low >= self.high:
            return f"low, {self.low:g} °C, is not below high, {self.high:g} °C"
        if (
            self.rated <= 0
            or not 0 <= self.power <= 1.2 * self.rated
            or not 0 <= self.hold <= self.rated
        ):
            return "its powers are not between 0 and the rated one"
        return ""


class Order(msgspec.Struct, omit_defaults=True):
    """Asks a unit to change."""

    unit: str
    number: int
    token: Token
    on: bool = False
    speed: float = 0.0


class Answer(msgspec.Struct, omit_defaults=True):
    """What became of an order.

    ``code`` is done, locked-out, uncomfortable, old-term, local, failed, no-such-unit or out-of-range.
    """

    unit: str
    number: int
    code: str
    token: Token = Token()  # the newest that is known where the unit is
    report: Report | None = None


class Hello(msgspec.Struct, omit_defaults=True):
    """Says that a member is there, whom it hears, and how its units are."""

    token: Token = Token()
    leads: bool = False
    hears: list[str] = []
    reports: list[Report] = []


class State(msgspec.Struct, omit_defaults=True):
    """What a leader hands over to the next one."""

    token: Token
    capacity: float
    reports: list[Report]
    owners: dict[str, str]


class Note(msgspec.Struct, omit_defaults=True):
    """A message of a member; without ``to`` to all. It has one of the parts."""

    sender: str = ""
    to: str = ""
    hello: Hello | None = None
    orders: list[Order] = []
    answers: list[Answer] = []
    state: State | None = None
