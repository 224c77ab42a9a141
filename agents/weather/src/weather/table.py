"""Weather over time from EPW and CSV files: read, interpolated, repeated. No bus, no clock."""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import pairwise

UTC = timezone.utc
YEAR = timedelta(days=365)

# Columns of an EPW data line, counted from 0: (name, index, what stands for "missing"). After the data
# dictionary of EnergyPlus weather files, in its manual Auxiliary Programs, chapter Weather Converter.
EPW = (
    ("outdoor_temp", 6, 99.9),  # °C
    ("dew_point", 7, 99.9),  # °C
    ("humidity", 8, 999.0),  # %
    ("pressure", 9, 999999.0),  # Pa
    ("solar", 13, 9999.0),  # Wh/m² of the hour before: its mean in W/m²
    ("solar_direct", 14, 9999.0),
    ("solar_diffuse", 15, 9999.0),
    ("wind_direction", 20, 999.0),  # degrees from north
    ("wind", 21, 999.0),  # m/s
    ("cloud", 22, 99.0),  # tenths
)
EPW_HEADER = 8  # lines


class Unreadable(ValueError):
    """A file cannot be read; the message says where and what to write."""


@dataclass(frozen=True)
class Table:
    """Rows of values over a span of time that repeats.

    ``offsets`` are seconds behind ``start``, rising; ``columns`` hold a number or None for each. A
    table of a year repeats by the calendar: 29 February is as 28. A shorter one repeats by its length.
    """

    start: datetime
    offsets: Sequence[float]
    columns: Mapping[str, Sequence[float | None]]
    period: float
    yearly: bool

    def at(self, moment: datetime) -> dict[str, float | None]:
        """Return the values of a moment, in between the rows by a straight line."""
        place = self._place(moment)
        after = bisect_right(self.offsets, place)
        i, j = (after - 1) % len(self.offsets), after % len(self.offsets)
        begin, end = self.offsets[i], self.offsets[j]
        if after == 0:
            begin -= self.period
        if after == len(self.offsets):
            end += self.period
        part = (place - begin) / (end - begin) if end > begin else 0.0
        return {name: between(name, c[i], c[j], part) for name, c in self.columns.items()}

    def _place(self, moment: datetime) -> float:
        if not self.yearly:
            return (moment - self.start).total_seconds() % self.period
        return (of_year(moment) - of_year(self.start)) % self.period


def of_year(moment: datetime) -> float:
    """Return the seconds since the year began, in UTC, as if it had no 29 February."""
    moment = moment.astimezone(UTC)
    if (moment.month, moment.day) == (2, 29):
        moment -= timedelta(days=1)
    return (moment.replace(year=2001) - datetime(2001, 1, 1, tzinfo=UTC)).total_seconds()


def between(name: str, a: float | None, b: float | None, part: float) -> float | None:
    """Return a value in between; a direction goes the short way round. Missing beside one is None."""
    if a is None or b is None:
        return a if part == 0 else None
    if name.endswith("direction"):
        return (a + ((b - a + 180) % 360 - 180) * part) % 360
    return a + (b - a) * part


Row = tuple[datetime, Mapping[str, float | None]]


def of_rows(rows: list[Row], step: timedelta) -> Table:
    """Return a table of rows in the order of time; ``step`` is what the last row lasts."""
    start = rows[0][0]
    span = rows[-1][0] - start + step
    yearly = abs(span - YEAR) <= timedelta(days=1)
    if yearly:
        rows = sorted(rows, key=lambda r: (of_year(r[0]) - of_year(start)) % YEAR.total_seconds())
        places = [(of_year(t) - of_year(start)) % YEAR.total_seconds() for t, _ in rows]
        keep = [i for i, p in enumerate(places) if i == 0 or p > places[i - 1]]  # no 29 February
        rows, offsets = [rows[i] for i in keep], [places[i] for i in keep]
    else:
        offsets = [(t - start).total_seconds() for t, _ in rows]
    columns = {name: [values[name] for _, values in rows] for name in rows[0][1]}
    return Table(start, offsets, columns, (YEAR if yearly else span).total_seconds(), yearly)


# -- EPW


def read_epw(lines: Iterable[str]) -> Table:
    """Read an EnergyPlus weather file: hours of a typical year, in the standard time of its place."""
    it = list(csv.reader(lines))
    if len(it) <= EPW_HEADER or not it[0] or it[0][0].upper() != "LOCATION":
        raise Unreadable("this is no EPW file: line 1 must begin with LOCATION, data with line 9")
    try:
        zone = timezone(timedelta(hours=float(it[0][8])))
    except (IndexError, ValueError):
        raise Unreadable("line 1: the 9th field must be the hours from UTC, such as 1.0") from None
    periods = it[EPW_HEADER - 1]
    if periods[0].upper() != "DATA PERIODS" or periods[2:3] != ["1"]:
        raise Unreadable("line 8 must begin with DATA PERIODS,1,1: one period with one record an hour")
    leap = ["2", "29"]  # no typical year has it; the day before stands for it
    rows: list[Row] = [
        _epw_row(number, fields, zone)
        for number, fields in enumerate(it[EPW_HEADER:], EPW_HEADER + 1)
        if fields and fields[1:3] != leap
    ]
    if len(rows) < 2:
        raise Unreadable("the file has less than two hours of data")
    return of_rows(rows, timedelta(hours=1))


def _epw_row(number: int, fields: list[str], zone: tzinfo) -> tuple[datetime, dict[str, float | None]]:
    try:
        month, day, hour = int(fields[1]), int(fields[2]), int(fields[3])
        # Hour 1 ends at 1:00. The years of a typical year are those of its months: one is put for all.
        moment = datetime(2001, month, day, tzinfo=zone) + timedelta(hours=hour)
        values = {name: _present(float(fields[i]), missing) for name, i, missing in EPW}
    except (IndexError, ValueError) as e:
        raise Unreadable(f"line {number}: {e}") from None
    return moment, values


def _present(value: float, missing: float) -> float | None:
    return None if value >= missing else value


# -- CSV


def read_csv(lines: Iterable[str], zone: tzinfo) -> Table:
    """Read a CSV file with a column ``time`` and one of numbers for each point."""
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    return read_records(list(reader), zone, first=2)


def read_records(records: Sequence[Mapping[str, str | None]], zone: tzinfo, *, first: int = 1) -> Table:
    """Read records with texts; a time without an offset is in the zone, an empty text is missing."""
    if len(records) < 2:
        raise Unreadable("the table has less than two rows")
    names = [n for n in records[0] if n != "time"]
    if len(names) == len(records[0]) or not names or not all(names):
        raise Unreadable("the table needs a column time, and at least one more, each with a name")
    rows: list[Row] = [_record(i, record, names, zone) for i, record in enumerate(records, first)]
    for i, ((before, _), (after, _)) in enumerate(pairwise(rows), first + 1):
        if after <= before:
            raise Unreadable(f"row {i}: its time is not behind the one of the row before")
    return of_rows(rows, rows[-1][0] - rows[-2][0])


def _record(number: int, record: Mapping[str, str | None], names: list[str], zone: tzinfo) -> Row:
    text = (record.get("time") or "").strip()
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Unreadable(f"row {number}: time {text!r} is no time; write 2026-01-31T06:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    values: dict[str, float | None] = {}
    for name in names:
        cell = (record.get(name) or "").strip()
        try:
            values[name] = float(cell) if cell else None
        except ValueError:
            raise Unreadable(
                f"row {number}: {name} {cell!r} is no number; leave it empty if missing"
            ) from None
        if cell and not math.isfinite(values[name] or 0.0):
            raise Unreadable(f"row {number}: {name} {cell!r} is not finite; leave it empty if missing")
    return moment.astimezone(UTC), values
