"""Plays a weather file: current values and a forecast."""

from __future__ import annotations

import asyncio
import contextlib
import re
from datetime import datetime, timedelta, timezone
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from voltbus import Agent, Config, Error, Invalid, Wants, rpc

from .table import Table, Unreadable, read_csv, read_epw, read_records

LONGEST = 24 * 14  # hours of a forecast


class Settings(Config):
    """Where the weather comes from, and where it goes.

    ``file`` is an .epw or .csv file; a relative name is one in the agent's own folder. ``table`` holds
    the rows instead, mostly as ``config://weather.csv``. Without both, a week that comes with the agent
    is played. Times without an offset in CSV are in the time ``zone``. Each ``interval`` seconds the
    values are published and recorded as points of ``device``. From ``start`` on, if given, a calendar
    of its own runs ``speed`` times as fast as the clock; without it the weather is that of this moment.
    """

    file: str = ""
    table: list[dict[str, str]] = []
    zone: str = "UTC"
    device: str = "analysis/weather"
    interval: float = 60.0
    start: datetime | None = None
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.file and self.table:
            raise ValueError("file and table exclude each other")
        if not 1 <= self.interval <= 86400:
            raise ValueError("interval is a number of seconds from 1 to 86400")
        if not 0 < self.speed <= 100_000:
            raise ValueError("speed is a number above 0, at most 100000")
        if self.speed != 1 and self.start is None:
            raise ValueError("speed needs a start, such as 2026-07-01T00:00:00Z")
        if self.start is not None and self.start.tzinfo is None:
            raise ValueError("start has no offset; write Z or +01:00 behind it")
        if not re.fullmatch(r"[^*/]+(/[^*/]+)*", self.device):
            raise ValueError("device is a path such as analysis/weather")
        try:
            ZoneInfo(self.zone)
        except (KeyError, OSError, ValueError):
            raise ValueError(
                f"zone {self.zone!r} is not known; write one such as Europe/Berlin"
            ) from None


class Weather(Agent[Settings]):
    """Publishes and records the weather of a file, and answers what it will be."""

    wants = Wants(publish=["analysis/weather"], record=["analysis/weather/**"])
    version = "0.1.0"

    _table: Table
    _job: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._begun = self.bus.clock.now()
        await self._begin()

    async def changed(self, settings: Settings) -> None:
        self._begun = self.bus.clock.now()
        await self._end()
        await self._begin()

    async def stop(self) -> None:
        await self._end()

    @rpc
    async def current(self) -> dict[str, Any]:
        """Return the weather now: its time in the calendar that is played, and the values."""
        return self._at(self.calendar())

    @rpc
    async def forecast(self, hours: float = 24, step: float = 1) -> list[dict[str, Any]]:
        """Return the weather from now on, each `step` hours, for so many `hours`."""
        if not 0 < hours <= LONGEST:
            raise Invalid(f"hours is a number above 0, at most {LONGEST}")
        if not 0.25 <= step <= hours:
            raise Invalid("step is a number of hours, at least 0.25 and at most hours")
        now = self.calendar()
        return [self._at(now + timedelta(hours=step * i)) for i in range(int(hours / step) + 1)]

    def calendar(self) -> datetime:
        """Return the moment that is played now."""
        now = self.bus.clock.now()
        if self.settings.start is None:
            return now
        return self.settings.start + (now - self._begun) * self.settings.speed

    # -- playing

    async def _begin(self) -> None:
        try:
            self._table = await asyncio.to_thread(load, self.settings)
        except (OSError, UnicodeDecodeError, Unreadable) as e:
            self._table = await asyncio.to_thread(load, Settings())
            where = self.settings.file or "table"
            await self.health("bad", f"{where}: {e}; nothing is played")
            await self.alert("file", f"{where}: {e}")
            return
        await self.clear("file")
        await self.health(
            "good", f"{len(self._table.offsets)} rows of {', '.join(self._table.columns)}"
        )
        self._job = self.bus.spawn(self._play(), "play")

    async def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await job

    async def _play(self) -> None:
        async with self.bus.recorder() as recorder:
            while True:
                now = self.bus.clock.now()
                values = self._table.at(self.calendar())
                present = {n: v for n, v in values.items() if v is not None}
                try:
                    await self.bus.publish(self.settings.device, present, time=now)
                except Error as e:  # the next one may get through; recording goes on
                    self.log.warning("not published", extra={"err": str(e)})
                for name, value in present.items():
                    await recorder.add(f"{self.settings.device}/{name}", value, time=now)
                await asyncio.sleep(self.settings.interval)

    def _at(self, moment: datetime) -> dict[str, Any]:
        if self._job is None:
            raise Invalid("no weather is played; see the agent's health", subject=self.name)
        time = moment.astimezone(timezone.utc).isoformat(timespec="seconds")
        return {"time": time} | self._table.at(moment)


def load(settings: Settings) -> Table:
    """Read the weather; ``Unreadable`` or OSError tell what is wrong."""
    zone = ZoneInfo(settings.zone)
    if settings.table:
        return read_records(settings.table, zone)
    if not settings.file:
        sample = resources.files(__package__).joinpath("sample.csv").read_text(encoding="utf-8")
        return read_csv(sample.splitlines(), timezone.utc)
    with Path(settings.file).open(encoding="utf-8-sig", newline="") as file:
        if settings.file.lower().endswith(".epw"):
            return read_epw(file)
        return read_csv(file, zone)
