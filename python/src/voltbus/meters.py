"""Readings of meters as tables.

Example:
    ``answer = await bus.operations.meter_readings(meter="1EMH0001", from_="2026-03-01T00:00:00Z",
    to="2026-04-01T00:00:00Z")`` gives the readings of channel 1, if the agent may
    ``read meters/1EMH0001/1``; ``frame(answer)`` is a pandas frame of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import Corrupt

if TYPE_CHECKING:
    import pandas

    from .operations import MeterReadings

_TEXTS = ("stage", "status", "who", "rule", "reason")


def frame(answer: MeterReadings) -> pandas.DataFrame:
    """Return readings as a pandas frame: a row for each version, by the end of its interval in UTC.

    The columns are ``value`` in the unit that ``attrs["unit"]`` names, ``stage`` (raw, validated,
    estimated or edited), ``status`` (what validation doubts), ``recorded`` (since when it is known),
    ``who``, ``rule`` and ``reason``. Without ``versions`` in the question there is one row for each
    interval. It needs pandas: install ``voltbus[pandas]``. Raises ``Corrupt`` for what is no answer.
    """
    import pandas

    try:
        rows = answer["readings"]
        index = pandas.DatetimeIndex(
            pandas.to_datetime([r["end"] for r in rows], utc=True, format="ISO8601"), name="end"
        )
        columns = {
            "value": pandas.Series([r["value"] for r in rows], index=index, dtype=float),
            "recorded": pandas.DatetimeIndex(
                pandas.to_datetime([r["recorded"] for r in rows], utc=True, format="ISO8601")
            ),
        }
        texts = {name: [str(r.get(name, "")) for r in rows] for name in _TEXTS}
    except (KeyError, TypeError, ValueError) as e:
        raise Corrupt(f"the node's answer cannot be read: {e!r}") from None
    table = pandas.DataFrame(columns | texts, index=index)
    table = table[["value", "stage", "status", "recorded", "who", "rule", "reason"]]
    table.attrs |= {name: answer.get(name, "") for name in ("meter", "channel", "unit")}
    return table


__all__ = ["frame"]
