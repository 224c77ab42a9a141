"""Files, what is between their rows, and what comes after their end."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from weather.agent import Settings, load
from weather.table import Table, Unreadable, read_csv, read_epw

UTC = timezone.utc
HEADER = ["LOCATION,Somewhere,,,made up,000000,52.0,13.0,{zone},50.0", *["COMMENTS 1"] * 6]
PERIODS = "DATA PERIODS,1,1,Data,Sunday,1/1,12/31"


def epw(zone: str = "1.0", days: int = 365) -> list[str]:
    """A year of temperatures that rise by 0.1 a day, and of wind that turns by 15 degrees an hour."""
    lines = [line.format(zone=zone) for line in HEADER] + [PERIODS]
    for n in range(days):
        day = datetime(2001, 1, 1) + timedelta(days=n)  # noqa: DTZ001 - a day without a place
        for hour in range(1, 25):
            fields = ["1999", str(day.month), str(day.day), str(hour), "60", "?", f"{n / 10}", "5.0"]
            fields += ["999", "101325", "0", "0", "300", "100", "0", "9999", "0", "0", "0", "0"]
            lines.append(",".join([*fields, str(hour * 15 % 360), "3.5", "5", "5"]))
    return lines


def test_an_hour_of_an_epw_file_ends_at_its_number_in_the_local_standard_time() -> None:
    table = read_epw(epw())
    assert table.yearly
    of_5 = table.at(datetime(2026, 1, 5, 23, tzinfo=UTC))  # its hour 24
    of_6 = table.at(datetime(2026, 1, 6, 0, tzinfo=UTC))  # its hour 1
    assert (of_5["outdoor_temp"], of_6["outdoor_temp"]) == (0.4, 0.5)


def test_what_an_epw_file_marks_as_missing_is_missing() -> None:
    values = read_epw(epw()).at(datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert values["humidity"] is None
    assert values["solar_direct"] == 0
    assert values["solar_diffuse"] is None
    assert values["pressure"] == 101325


def test_in_between_is_a_straight_line_and_directions_go_the_short_way() -> None:
    table = read_epw(epw())
    midnight = datetime(2026, 6, 1, 22, 30, tzinfo=UTC)
    assert table.at(midnight)["wind_direction"] == pytest.approx(352.5)
    assert table.at(midnight + timedelta(hours=1))["outdoor_temp"] == pytest.approx(15.15)


@pytest.mark.parametrize("zone", ["-8.0", "0.0", "5.5", "12.0"])
def test_the_year_goes_on_with_itself(zone: str) -> None:
    table = read_epw(epw(zone))
    local = timezone(timedelta(hours=float(zone)))
    eve = datetime(2025, 12, 31, 23, 0, tzinfo=local)
    assert table.at(eve)["outdoor_temp"] == 36.4
    assert table.at(eve + timedelta(hours=1, minutes=30))["outdoor_temp"] == pytest.approx(18.2)
    assert table.at(eve + timedelta(hours=2))["outdoor_temp"] == 0


def test_a_leap_day_is_as_the_day_before() -> None:
    table = read_epw(epw("0.0"))
    assert table.at(datetime(2028, 2, 29, 12, tzinfo=UTC)) == table.at(
        datetime(2028, 2, 28, 12, tzinfo=UTC)
    )
    assert table.at(datetime(2028, 3, 1, 12, tzinfo=UTC)) == table.at(
        datetime(2027, 3, 1, 12, tzinfo=UTC)
    )


def test_years_are_the_same_each_year() -> None:
    table = read_epw(epw())
    for days in range(0, 365, 13):
        moment = datetime(2026, 1, 1, 7, 20, tzinfo=UTC) + timedelta(days=days)
        assert table.at(moment) == table.at(moment.replace(year=2030))


def day(*rows: str) -> Table:
    return read_csv(["# a day", "time,temp,wind_direction", *rows], ZoneInfo("Europe/Berlin"))


def test_a_short_table_repeats_by_its_own_length_in_its_zone() -> None:
    table = day("2026-07-01T00:00,10,350", "2026-07-01T12:00,20,10")
    assert not table.yearly
    assert table.at(datetime(2026, 6, 30, 22, tzinfo=UTC)) == {"temp": 10, "wind_direction": 350}
    assert table.at(datetime(2026, 7, 3, 4, tzinfo=UTC)) == {"temp": 15, "wind_direction": 0}
    assert table.at(datetime(2026, 7, 9, 16, tzinfo=UTC)) == {"temp": 15, "wind_direction": 0}
    assert table.at(datetime(2020, 1, 1, 22, tzinfo=UTC))["temp"] == 10


def test_an_empty_cell_is_missing_up_to_the_rows_beside_it() -> None:
    table = day("2026-07-01T00:00Z,10,0", "2026-07-01T01:00Z,,0", "2026-07-01T02:00Z,20,0")
    start = datetime(2026, 7, 1, tzinfo=UTC)
    got = [table.at(start + timedelta(minutes=30 * n))["temp"] for n in range(5)]
    assert got == [10, None, None, None, 20]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["LOCATION"], "this is no EPW file"),
        ([*HEADER, PERIODS.replace(",1,1,", ",1,4,"), "x"], "line 8 must begin with DATA PERIODS,1,1"),
        ([HEADER[0].format(zone="east"), *HEADER[1:], PERIODS, "x"], "hours from UTC"),
        ([*epw(days=1), "1999,13,1,1,0,?,1"], "line 33: month must be in 1..12"),
        ([*epw(days=1), "1999,1,2,1,0,?,warm,5"], "line 33: could not convert"),
        ([*epw(days=1), "1999,1,2"], "line 33: list index out of range"),
        (epw(days=0) + epw(days=1)[-1:], "less than two hours"),
    ],
)
def test_an_epw_file_that_is_wrong_is_told_by_its_line(lines: list[str], words: str) -> None:
    with pytest.raises(Unreadable, match=words.replace("(", r"\(")):
        read_epw([line.format(zone="1.0") for line in lines])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["2026-07-01T00:00,1,1"], "less than two rows"),
        (["2026-07-01T00:00,1,1", "noon,1,1"], "row 3: time 'noon' is no time"),
        (["2026-07-01T00:00,1,1", "2026-07-01T00:00,1,1"], "row 3: its time is not behind"),
        (["2026-07-01T00:00,warm,1", "2026-07-01T01:00,1,1"], "row 2: temp 'warm' is no number"),
        (["2026-07-01T00:00,nan,1", "2026-07-01T01:00,1,1"], "row 2: temp 'nan' is not finite"),
    ],
)
def test_a_csv_file_that_is_wrong_is_told_by_its_row(rows: list[str], words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        day(*rows)


def test_a_table_without_time_is_refused() -> None:
    with pytest.raises(Unreadable, match="needs a column time"):
        read_csv(["when,temp", "1,2", "2,3"], UTC)


def test_the_sample_that_comes_with_the_agent_is_a_week() -> None:
    table = load(Settings())
    assert table.period == 7 * 86400
    assert set(table.columns) == {"outdoor_temp", "humidity", "solar", "wind", "wind_direction"}
