"""The master and nodes that do not do what they say."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from regulation.master import Master
from regulation.report import Answer, Report

BEGIN = datetime(2026, 7, 1, tzinfo=timezone.utc)


def report(unit: str, temperature: float) -> Report:
    return Report(
        unit=unit, at=BEGIN, temperature=temperature, low=21, high=23, rated=5, hold=5, on=True, power=5
    )


def test_a_unit_that_says_done_and_does_nothing_makes_room_for_another() -> None:
    master = Master(capacity=5)
    for unit, temperature in (("a", 21.5), ("b", 21.7), ("c", 22.0)):
        assert master.hear(report(unit, temperature))
    first, _ = master.decide(BEGIN, 1.0)
    assert [o.unit for o in first] == ["a"]
    master.answered(BEGIN, Answer("a", first[0].number, "done", first[0].token, report("a", 21.5)))
    again, status = master.decide(BEGIN + timedelta(seconds=2), 1.0)
    assert [o.unit for o in again] == ["b"]
    assert status.refused == {"unchanged": 1}
