"""Which room is asked for how much: rules over what is known, without a bus and without a clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .settings import Settings

WARM = 0.3  # K below the limit of comfort from which a room may be asked for more


@dataclass
class Room:
    """What is known of a room, and what it is asked for."""

    path: str
    temp: float | None = None  # °C; None if there is no good reading
    setpoint: float | None = None  # °C, as the device reports it
    power: float | None = None  # if the room measures it
    heard: datetime | None = None  # the newest reading
    usual: float | None = None  # the set point without this agent
    raised: float = 0.0  # K that it is asked for
    since: datetime | None = None  # of the last change
    lost: str = ""  # why it cannot be asked; empty if it can
    back: datetime | None = None  # a lost room is tried again then

    def quiet(self, now: datetime, seconds: float) -> bool:
        """Report whether nothing was changed for so long."""
        return self.since is None or now - self.since >= timedelta(seconds=seconds)

    @property
    def wanted(self) -> float:
        """The set point that is asked for, in °C."""
        return (self.usual or 0.0) + self.raised

    @property
    def rising(self) -> bool:
        """Whether it still gets warmer, because its set point was raised."""
        return self.raised > 0 and self.temp is not None and self.temp < self.wanted - WARM

    @property
    def discomfort(self) -> float:
        """How much warmer it is than it would be, in K."""
        if self.temp is None or self.usual is None:
            return 0.0
        return max(0.0, self.temp - self.usual)


@dataclass(frozen=True)
class Move:
    """A room is asked for so many K from now on, 0 to give it back."""

    room: Room
    raised: float
    why: str

    def text(self) -> str:
        """Say it in words."""
        if not self.raised:
            return f"{self.room.path} is given back: {self.why}"
        return f"{self.room.path} to {(self.room.usual or 0) + self.raised:.1f} °C: {self.why}"


@dataclass
class Plan:
    """Decides, and remembers since when something is so."""

    spare: datetime | None = None  # there is room to spare
    over: datetime | None = None  # the power is above the limit
    asked: datetime | None = None  # the last time that rooms were asked for more
    rooms: dict[str, Room] = field(default_factory=dict)

    def decide(self, power: float, now: datetime, s: Settings) -> list[Move]:
        """Return what changes now, at this power: comfort first, then the limit, then turns."""
        start = s.limit - s.reserve
        self.over = (self.over or now) if power > s.limit else None
        soon = power + self._returning()
        self.spare = (self.spare or now) if soon < start - s.hysteresis else None
        moves = self._cool(s)
        busy = {m.room.path for m in moves}
        if power > start:
            return moves + self._ask(power - start, now, s, busy)
        if moves or self.spare is None:
            return moves or self._turn(now, s)
        if now - self.spare < timedelta(seconds=s.calm):
            return []
        self.spare = now
        return self._give_back(now, s)

    def exhausted(self, now: datetime, s: Settings) -> bool:
        """Report whether no room can be asked for more, now or soon."""
        later = now + timedelta(days=2)
        return not any(may_rise(r, later, s) for r in self.rooms.values())

    def _returning(self) -> float:
        """Return the power that rooms will take again when they are as warm as they may be.

        A room that still gets warmer takes little; as much as the others is expected of it.
        """
        known = [r for r in self.rooms.values() if r.power is not None]
        settled = [r.power or 0.0 for r in known if not r.rising]
        if not settled:
            settled = [r.power or 0.0 for r in known]
        mean = sum(settled) / len(settled) if settled else 0.0
        return sum(max(0.0, mean - (r.power or 0.0)) for r in known if r.rising)

    def _cool(self, s: Settings) -> list[Move]:
        """Ask less of rooms that are too warm, whatever the power."""
        moves = []
        for r in self.rooms.values():
            warm = r.temp is not None and r.temp > s.comfort_of(r.path)
            if r.raised and warm:
                why = f"it has {r.temp:.1f} °C, more than {s.comfort_of(r.path):g}"
                moves.append(Move(r, max(0.0, r.raised - s.step), why))
        return moves

    def _ask(self, excess: float, now: datetime, s: Settings, busy: set[str]) -> list[Move]:
        """Ask rooms for a step more until what they take makes up for the excess.

        A room takes nothing until it is as warm as it may be, so all that it measures now will go. One
        that does not measure its power counts for all of the excess. Then this waits for the effect.
        """
        moves = []
        if self.asked is not None and now - self.asked < timedelta(seconds=s.effect):
            return []
        for r in sorted(self._able(now, s), key=lambda r: asked_first(r, s)):
            if excess <= 0:
                break
            if r.path not in busy:
                moves.append(Move(r, r.raised + s.step, f"{excess:.1f} more than wanted"))
                excess -= excess if r.power is None else r.power
        if moves:
            self.asked = now
        return moves

    def _give_back(self, now: datetime, s: Settings) -> list[Move]:
        able = [r for r in self.rooms.values() if r.raised and r.quiet(now, s.least)]
        if not able:
            return []
        r = max(able, key=lambda r: asked_first(r, s))
        return [Move(r, max(0.0, r.raised - s.step), "there is room to spare")]

    def _turn(self, now: datetime, s: Settings) -> list[Move]:
        """Let a room that was asked for less take the place of one that had its turn."""
        done = [r for r in self.rooms.values() if r.raised and r.quiet(now, max(s.turn, s.least))]
        for r in sorted(done, key=lambda r: asked_first(r, s), reverse=True):
            level = s.priority_of(r.path)
            others = [
                o
                for o in self._able(now, s)
                if s.priority_of(o.path) <= level and o.raised + s.step <= r.raised
            ]
            if others:
                other = min(others, key=lambda o: asked_first(o, s))
                return [
                    Move(other, other.raised + s.step, f"its turn, after {r.path}"),
                    Move(r, max(0.0, r.raised - s.step), f"it had its turn, now {other.path}"),
                ]
        return []

    def _able(self, now: datetime, s: Settings) -> Iterable[Room]:
        return [r for r in self.rooms.values() if may_rise(r, now, s)]


def may_rise(r: Room, now: datetime, s: Settings) -> bool:
    """Report whether a room may be asked for a step more."""
    if (
        r.lost
        or r.temp is None
        or r.usual is None
        or not r.quiet(now, s.effect if r.raised else s.rest)
    ):
        return False
    more = r.raised + s.step
    return (
        more <= s.most + 1e-9
        and r.usual + more <= s.highest_of(r.path) + 1e-9
        and r.temp < s.comfort_of(r.path) - WARM
    )


def asked_first(r: Room, s: Settings) -> tuple[int, float, float, str]:
    """Order rooms: by priority, then by what is asked of them already, then by discomfort."""
    return (s.priority_of(r.path), r.raised, r.discomfort, r.path)
