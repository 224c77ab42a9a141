"""When something is due: intervals, cron expressions, times of the day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import Invalid

__all__ = ["Cron", "Daily", "Every", "Once", "Schedule"]

_DAY = timedelta(days=1)
_YEARS = 8  # the longest time between two leap days
_NAMES = {
    "month": ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    "day of the week": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
}
_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
)
_WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class Schedule(Protocol):
    """Knows when something is due by the clock on the wall."""

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time behind the moment, aware and in UTC; None if there is none."""


class Every:
    """Each interval, in ``seconds``, counted from the agent's start. It does not catch up.

    ``wait`` leaves out the first time, right at the start.
    """

    def __init__(self, seconds: float, *, wait: bool = False) -> None:
        if not 0.001 <= seconds <= 366 * 86400:
            raise Invalid("an interval has 0.001 seconds to 366 days", subject=f"{seconds:g} s")
        self.seconds = seconds
        self.wait = wait


class Once:
    """One moment."""

    def __init__(self, moment: datetime) -> None:
        if moment.tzinfo is None:
            message = "a time without zone means another moment in each place; add tzinfo"
            raise Invalid(message, subject=moment.isoformat())
        self._moment = moment.astimezone(timezone.utc)

    def after(self, moment: datetime) -> datetime | None:
        return self._moment if self._moment > moment else None


class Cron:
    """A cron expression of five fields, in a time zone.

    Minute, hour, day of the month, month, day of the week; each ``*``, numbers, names of months and
    days, ranges ``1-5``, lists ``1,15``, steps ``*/10``. If both kinds of day are given, one of them
    is enough. ``@hourly``, ``@daily``, ``@weekly``, ``@monthly`` and ``@yearly`` are short for some.

    When clocks go forward, what falls into the hour that is not there is due right behind it; when
    they go back, a fixed hour is due once, and ``*`` in both.

    >>> Cron("0 6 * * mon-fri", "UTC").after(datetime(2026, 1, 3, tzinfo=timezone.utc))
    datetime.datetime(2026, 1, 5, 6, 0, tzinfo=datetime.timezone.utc)
    """

    def __init__(self, expression: str, zone: str = "UTC") -> None:
        self._zone = zone_of(zone)
        fields = _WORDS.get(expression.strip().lower(), expression).split()
        if len(fields) != 5:
            message = "a cron expression has five fields: minute hour day month weekday"
            raise Invalid(message, subject=repr(expression))
        try:
            sets = [_field(f, *bounds) for f, bounds in zip(fields, _FIELDS, strict=True)]
        except ValueError as e:
            raise Invalid(str(e), subject=repr(expression)) from None
        self._minutes, self._hours, self._days, self._months, weekdays = map(sorted, sets)
        self._weekdays = {d % 7 for d in weekdays}
        self._any_hour = fields[1].startswith("*")
        self._any_day = fields[2].startswith("*")
        self._any_weekday = fields[4].startswith("*")
        self._of_day = lru_cache(2)(self._moments)

    def after(self, moment: datetime) -> datetime | None:
        # The day before too: what the clocks left out on it may be due on this one.
        first = moment.astimezone(self._zone).date() - _DAY
        for n in range(366 * _YEARS):
            day = first + n * _DAY
            if not self._matches(day):
                continue
            for at in self._of_day(day):
                if at > moment:
                    return at
        return None

    def _matches(self, day: date) -> bool:
        if day.month not in self._months:
            return False
        of_month = day.day in self._days
        of_week = day.isoweekday() % 7 in self._weekdays
        if self._any_day or self._any_weekday:
            return of_month and of_week
        return of_month or of_week

    def _moments(self, day: date) -> list[datetime]:
        """Return all times of a day in the zone, in UTC and in order."""
        return sorted({m for h in self._hours for n in self._minutes for m in self._at(day, h, n)})

    def _at(self, day: date, hour: int, minute: int) -> Iterator[datetime]:
        local = datetime.combine(day, time(hour, minute), self._zone)
        yield from moments(local, both=self._any_hour)


class Daily:
    """Times of the day, such as ``06:30`` or ``06:30:15``, each day in a time zone."""

    def __init__(self, *times: str, zone: str = "UTC") -> None:
        self._zone = zone_of(zone)
        try:
            self._times = sorted(time.fromisoformat(t) for t in times)
        except ValueError:
            self._times = []
        if not self._times or any(t.tzinfo for t in self._times):
            message = "write times of the day as 06:30, and the zone as zone="
            raise Invalid(message, subject=" ".join(times))

    def after(self, moment: datetime) -> datetime | None:
        today = moment.astimezone(self._zone).date()
        due = [
            m
            for n in (-1, 0, 1, 2)
            for t in self._times
            for m in moments(datetime.combine(today + n * _DAY, t, self._zone), both=False)
        ]
        return min((m for m in due if m > moment), default=None)


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name, such as ``Europe/Berlin``."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = "no time zone of this name; write one such as Europe/Berlin or UTC"
        raise Invalid(message, subject=repr(name)) from None


def moments(local: datetime, *, both: bool) -> Iterator[datetime]:
    """Yield the moments in UTC that a local time means: one, or two when clocks go back.

    A time that clocks leave out means the end of the gap, or nothing with ``both``.
    """
    moment = local.astimezone(timezone.utc)
    if moment.astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        if not both:
            yield _behind_gap(local)
        return
    yield moment
    if both:
        second = local.replace(fold=1).astimezone(timezone.utc)
        if second != moment:
            yield second


def _behind_gap(local: datetime) -> datetime:
    """Return the moment at which the clocks go forward over a local time."""
    low = local.replace(fold=1).astimezone(timezone.utc)  # before the gap
    high = local.astimezone(timezone.utc)  # behind it
    offset = low.astimezone(local.tzinfo).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def _field(text: str, name: str, low: int, high: int) -> set[int]:
    out: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, last = _span(span, name, low, high, stepped=bool(step))
        if "/" in part and (not step.isdigit() or int(step) < 1):
            raise ValueError(f"the {name} has the step {step!r}; write a number from 1")
        out.update(range(first, last + 1, int(step or 1)))
    return out


def _span(span: str, name: str, low: int, high: int, *, stepped: bool) -> tuple[int, int]:
    if span == "*":
        return low, high if name != "day of the week" else 6
    begin, dash, end = span.partition("-")
    first = _number(begin, name, low, high)
    if dash:
        last = _number(end, name, low, high)
        if last < first:
            raise ValueError(f"the {name} {span} ends before it begins")
        return first, last
    return first, high if stepped else first


def _number(text: str, name: str, low: int, high: int) -> int:
    names = _NAMES.get(name, [])
    if text.lower() in names:
        return names.index(text.lower()) + low
    if not text.isdecimal() or not low <= int(text) <= high:
        raise ValueError(f"the {name} is {text!r}; write {low} to {high}")
    return int(text)
