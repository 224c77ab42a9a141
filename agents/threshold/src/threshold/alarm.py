"""When an alarm is on: limits with hysteresis, delays, and silence. It knows no bus and no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec


class Rule(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is watched, and when it is an alarm.

    ``points`` is a pattern of paths. ``above`` and ``below`` are limits in the points' unit; an alarm
    ends when the value is back within the limit by ``hysteresis``. ``delay_on`` and ``delay_off`` are
    how long, in seconds, a state must last before it counts. ``stale`` is how long, in seconds, a point
    may be without a good reading. ``severity`` is info, warning or critical.
    """

    points: str
    above: float | None = None
    below: float | None = None
    hysteresis: float = 0.0
    delay_on: float = 0.0
    delay_off: float = 0.0
    stale: float | None = None
    severity: str = "warning"

    def problem(self) -> str:
        """Say what is wrong with it and what to write instead; empty if nothing is."""
        spans = (self.hysteresis, self.delay_on, self.delay_off)
        limits = [n for n in (self.above, self.below, self.stale) if n is not None]
        both = self.above is not None and self.below is not None
        severities = ("info", "warning", "critical")
        wrong = {
            "it would never be an alarm; give above, below or stale": not limits,
            "a number is not finite": not all(map(math.isfinite, (*spans, *limits))),
            "hysteresis, delay_on and delay_off cannot be negative": min(spans) < 0,
            "stale is a number of seconds above 0": self.stale is not None and self.stale <= 0,
            "below must be less than above": both and self.below >= self.above,  # type: ignore[operator]
            f"severity is {', '.join(severities)}": self.severity not in severities,
        }
        return next((text for text, so in wrong.items() if so), "")

    def outside(self, value: float, *, on: bool) -> str:
        """Say which limit the value is beyond; empty if none. An alarm that is on stays on longer."""
        margin = self.hysteresis if on else 0.0
        if self.above is not None and value > self.above - margin:
            return f"above {self.above:g}"
        if self.below is not None and value < self.below + margin:
            return f"below {self.below:g}"
        return ""


@dataclass(frozen=True)
class State:
    """An alarm, or its absence, since a time, and why."""

    on: bool
    since: datetime
    why: str = ""


class Alarm:
    """The alarm of one rule at one point. ``state`` is None as long as nothing is known."""

    def __init__(self, rule: Rule, now: datetime) -> None:
        self.rule = rule
        self.value: float | None = None
        self.state: State | None = None
        self._heard = now
        self._last = ""  # what the newest reading says
        self._turned: datetime | None = None  # when it began to say something new

    def take(self, value: float, now: datetime) -> bool:
        """Take a good reading; return whether the state changed."""
        self.value, self._heard = value, now
        return self.look(now)

    def look(self, now: datetime) -> bool:
        """Let time pass; return whether the state changed."""
        why, delay = self._wanted(now)
        if self.state is not None and self.state.on == (why != ""):
            self._turned = None
            if why:
                self.state = State(True, self.state.since, why)
            return False
        if self.value is None and not why:
            return False  # nothing was read yet, and it is not late
        if self._turned is None:
            self._turned = now
        if now - self._turned < timedelta(seconds=delay):
            return False
        self.state, self._turned = State(why != "", now, why), None
        return True

    def _wanted(self, now: datetime) -> tuple[str, float]:
        """Return why it should be an alarm now, and how long that must last."""
        rule = self.rule
        if rule.stale is not None and now - self._heard >= timedelta(seconds=rule.stale):
            return f"without a good reading for {rule.stale:g} s", 0.0
        on = self.state is not None and self.state.on
        why = "" if self.value is None else rule.outside(self.value, on=on)
        if self.state is None and not why:
            return "", 0.0
        return why, rule.delay_on if why else rule.delay_off
