"""What people may set."""

from __future__ import annotations

import math

import msgspec
from voltbus import Config


class Names(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The points of a room, by their names within the device."""

    temp: str = "temp"
    setpoint: str = "setpoint"
    power: str = "power"  # a room need not have it


class Special(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What holds for one room in place of what holds for all."""

    priority: int | None = None
    highest: float | None = None
    comfort: float | None = None


class Settings(Config):
    """The limit, the rooms, and what may be asked of them.

    ``meter`` is a point with the building's power, ``limit`` and what stands with it are in its unit.
    ``rooms`` are patterns of devices; those with a temperature and a set point are rooms. Set points
    go up by ``step`` K at a time, by ``most`` K in all, never above ``highest`` °C; a room warmer than
    ``comfort`` °C is asked for less at once. Times are in seconds.
    """

    meter: str = "demo/tower/meter/power"
    limit: float = 48.0
    unit: str = "kW"  # of meter and limit
    reserve: float = 1.0  # rooms are asked from so far under the limit on
    hysteresis: float = 3.0  # and given back so far below that
    rooms: tuple[str, ...] = ("demo/tower/*",)
    names: Names = Names()
    special: dict[str, Special] = {}
    priority: int = 5  # 1 is asked first
    step: float = 1.0
    most: float = 3.0
    highest: float = 26.0
    comfort: float = 26.5
    interval: float = 10.0  # between two decisions
    effect: float = 30.0  # until what was asked of a room shows
    least: float = 300.0  # that a room stays as it was asked
    rest: float = 300.0  # that a room is left alone after it was given back
    turn: float = 900.0  # after which another one takes its place
    calm: float = 60.0  # with room to spare, before a room is given back
    patience: float = 300.0  # above the limit, before an alert
    stale: float = 60.0  # without a good reading
    lease: float = 60.0  # after which the rooms are free if the agent is gone
    level: int = 12
    record: str = "analysis/powerlimit"

    def __post_init__(self) -> None:
        if not self.rooms or not self.meter:
            raise ValueError("name the meter's point and at least one pattern of rooms")
        if problem := self._problem() or self._times():
            raise ValueError(problem)

    def _problem(self) -> str:
        """Say what is wrong; empty if nothing is."""
        if not all(math.isfinite(getattr(self, k)) for k in ("limit", "highest", "comfort")):
            return "limit, highest and comfort are numbers"
        if self.limit <= 0 or self.reserve < 0 or self.hysteresis <= 0:
            return "limit and hysteresis are above 0, reserve is 0 or more"
        if self.reserve + self.hysteresis >= self.limit:
            return "reserve and hysteresis together are less than the limit"
        if not 0 < self.step <= self.most <= 20:
            return "step and most are K above 0, at most 20; most is not less than step"
        if any(self.highest_of(r) > self.comfort_of(r) for r in ("", *self.special)):
            return "highest is a set point, and not above comfort"
        return ""

    def _times(self) -> str:
        times = ("interval", "effect", "least", "rest", "turn", "calm", "patience", "stale")
        for name in times:
            if not 0 < getattr(self, name) <= 86400:
                return f"{name} is a number of seconds above 0, at most 86400"
        if not 1 <= self.lease <= 3600 or self.lease < 3 * self.interval:
            return "lease is at least three times the interval, at most 3600 seconds"
        if not 1 <= self.level <= 16:
            return "level is a level of the priority array from 1 to 16; programs use 9 to 16"
        return ""

    def priority_of(self, room: str) -> int:
        """Return whose turn it is: 1 is asked first and given back last."""
        own = self.special.get(room, Special()).priority
        return self.priority if own is None else own

    def highest_of(self, room: str) -> float:
        """Return above which °C the set point does not go."""
        own = self.special.get(room, Special()).highest
        return self.highest if own is None else own

    def comfort_of(self, room: str) -> float:
        """Return above which °C the room is too warm."""
        own = self.special.get(room, Special()).comfort
        return self.comfort if own is None else own
