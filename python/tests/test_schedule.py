from datetime import datetime, timedelta, timezone

import pytest

from voltbus.errors import Invalid
from voltbus.schedule import Cron, Daily, Every, Once


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def times(schedule: Cron | Daily, start: str, count: int) -> list[str]:
    moment, out = utc(start), []
    for _ in range(count):
        due = schedule.after(moment)
        assert due is not None
        out.append(due.strftime("%m-%dT%H:%M"))
        moment = due
    return out


@pytest.mark.parametrize(
    ("expression", "start", "expected"),
    [
        ("*/20 * * * *", "2026-01-01T00:00", ["01-01T00:20", "01-01T00:40", "01-01T01:00"]),
        ("5,10 6-7 * * *", "2026-01-01T06:06", ["01-01T06:10", "01-01T07:05", "01-01T07:10"]),
        ("0 6 * * mon-fri", "2026-01-02T07:00", ["01-05T06:00", "01-06T06:00"]),
        ("0 0 29 feb *", "2026-01-01T00:00", ["02-29T00:00"]),
        ("0 0 13 * fri", "2026-02-01T00:00", ["02-06T00:00", "02-13T00:00", "02-20T00:00"]),
        ("0 0 * * 7", "2026-01-01T00:00", ["01-04T00:00"]),
        ("0 0 * * 0", "2026-01-01T00:00", ["01-04T00:00"]),
        ("10/20 * * * *", "2026-01-01T00:00", ["01-01T00:10", "01-01T00:30", "01-01T00:50"]),
        ("@monthly", "2026-01-15T00:00", ["02-01T00:00", "03-01T00:00"]),
    ],
)
def test_an_expression_is_due_when_cron_is(expression: str, start: str, expected: list[str]) -> None:
    assert times(Cron(expression), start, len(expected)) == expected


def test_leap_day_is_found_in_its_year() -> None:
    due = Cron("0 0 29 2 *").after(utc("2026-01-01T00:00"))
    assert due == utc("2028-02-29T00:00")


def test_a_day_that_never_comes_is_never_due() -> None:
    assert Cron("0 0 31 2 *").after(utc("2026-01-01T00:00")) is None


def test_when_clocks_go_forward_what_falls_into_the_gap_is_due_behind_it() -> None:
    # In Berlin 2026-03-29 has no 02:30; 03:00 summer time is 01:00 UTC.
    fixed = Cron("30 2 * * *", "Europe/Berlin")
    assert times(fixed, "2026-03-28T12:00", 2) == ["03-29T01:00", "03-30T00:30"]
    assert times(Daily("02:30", zone="Europe/Berlin"), "2026-03-28T12:00", 2) == [
        "03-29T01:00",
        "03-30T00:30",
    ]
    wild = Cron("30 * * * *", "Europe/Berlin")
    assert times(wild, "2026-03-29T00:00", 2) == ["03-29T00:30", "03-29T01:30"]


def test_when_clocks_go_back_a_fixed_hour_is_due_once_and_any_hour_in_both() -> None:
    # In Berlin 2026-10-25 has 02:30 twice: at 00:30 and at 01:30 UTC.
    fixed = Cron("30 2 * * *", "Europe/Berlin")
    assert times(fixed, "2026-10-24T12:00", 2) == ["10-25T00:30", "10-26T01:30"]
    wild = Cron("30 * * * *", "Europe/Berlin")
    assert times(wild, "2026-10-25T00:00", 3) == ["10-25T00:30", "10-25T01:30", "10-25T02:30"]


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "*/0 * * * *", "5-1 * * * *",
     "a * * * *", "* * * foo *", "* * * * 8", "1,, * * * *", "*/x * * * *", "-1 * * * *"],
)  # fmt: skip
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(Invalid):
        Cron(expression)


def test_bad_zones_times_and_intervals_are_refused() -> None:
    with pytest.raises(Invalid, match="Europe/Berlin"):
        Cron("* * * * *", "Mars/Crater")
    with pytest.raises(Invalid, match="06:30"):
        Daily("25:00")
    with pytest.raises(Invalid, match="interval"):
        Every(0)
    with pytest.raises(Invalid, match="zone"):
        Once(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


def test_a_moment_is_due_once() -> None:
    once = Once(utc("2026-01-01T10:00") + timedelta(seconds=0))
    assert once.after(utc("2026-01-01T09:00")) == utc("2026-01-01T10:00")
    assert once.after(utc("2026-01-01T10:00")) is None
