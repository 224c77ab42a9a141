"""Judge readings before they are passed on.

A rule of the check ``function`` names a file in Python, with a function that is marked::

    from collections.abc import Iterator, Sequence

    from voltbus.rule import PASS, Reading, Verdict, rule, withhold

    @rule
    def plausible(readings: Sequence[Reading]) -> Iterator[Verdict]:
        for reading in readings:
            if reading.number is not None and reading.number > 90:
                yield withhold(f"{reading.number} °C is hotter than the boiler can be")
            else:
                yield PASS

It runs in a process of its own, without the network and without files, and imports what the interpreter
of the rule has; of this SDK, only this module. What it keeps in variables is lost when the node
restarts.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple, TypeAlias, TypeVar

__all__ = ["PASS", "Judge", "Reading", "Value", "Verdict", "each", "mark", "rule", "withhold"]

Value: TypeAlias = float | int | bool | str | None
"""What a point can have for a value."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Reading(NamedTuple):
    """A reading that is about to be sent.

    ``quality`` is ``good``, perhaps with a remark as in ``good(override)``, or says what is wrong;
    ``microseconds`` is its time, since 1970 UTC.
    """

    point: str
    value: Value
    quality: str
    microseconds: int

    @property
    def time(self) -> datetime:
        """Its time, UTC."""
        return _EPOCH + timedelta(microseconds=self.microseconds)

    @property
    def good(self) -> bool:
        """Whether the value is fit for any use."""
        return self.quality == "good" or self.quality.startswith("good(")

    @property
    def number(self) -> float | None:
        """The value as a finite number; None for a text, no value, infinity and not-a-number."""
        if self.value is None or isinstance(self.value, str):
            return None
        number = float(self.value)
        return number if math.isfinite(number) else None


class Verdict(NamedTuple):
    """What becomes of a reading: see ``PASS``, ``mark`` and ``withhold``."""

    action: Literal["pass", "mark", "withhold"]
    reason: str = ""


PASS = Verdict("pass")
"""The reading is sent as it is."""


def mark(reason: str = "") -> Verdict:
    """Have the reading sent with the quality ``uncertain``."""
    return Verdict("mark", reason)


def withhold(reason: str) -> Verdict:
    """Have the reading kept at the node until a person releases or discards it.

    The person is shown the reason, up to 500 characters of it.
    """
    return Verdict("withhold", reason)


Judge: TypeAlias = Callable[[Sequence[Reading]], Iterable[Verdict | None]]
"""A function that gets readings in the order of the log, and answers with a verdict on each."""

_All = TypeVar("_All", bound=Judge)
_Each = TypeVar("_Each", bound=Callable[[Reading], Verdict | None])


def rule(function: _All) -> _All:
    """Mark the function of a rule, which gets the readings that wait, at most 5,000, in their order.

    It returns or yields a verdict on each, in their order; None is ``PASS``.
    """
    function.__voltbus_rule__ = "all"  # type: ignore[attr-defined]
    return function


def each(function: _Each) -> _Each:
    """Mark the function of a rule that gets one reading and returns one verdict; None is ``PASS``.

    It is slower than ``rule``.
    """
    function.__voltbus_rule__ = "each"  # type: ignore[attr-defined]
    return function
