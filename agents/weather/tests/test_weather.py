"""The agent on a node in memory, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from voltbus import Bus, Grants, Invalid
from voltbus.testing import Node, virtual

from weather.agent import Settings, Weather

ROWS = [{"time": "2026-01-01T00:00Z", "temp": "0"}, {"time": "2026-01-01T12:00Z", "temp": "12"}]


async def started(node: Node, **settings: Any) -> Bus:
    """Run the agent; returns somebody who may ask it."""
    node.set_document("weather", "config", settings)
    await node.run(Weather())
    return await node.connect("panel", msgspec.convert({"call": [{"agent": "weather"}]}, Grants))


@virtual
async def test_each_interval_the_values_are_published_and_recorded() -> None:
    async with Node() as node:
        await started(node, table=ROWS, interval=3600)
        listener = await node.connect("listener", Grants(subscribe=["analysis/**"]))
        stream = listener.samples("analysis/weather/*")
        await listener.ready()
        await asyncio.sleep(3 * 3600 + 1)
        assert [s.value for s in node.recorded] == [0, 1, 2, 3]
        assert {s.point for s in node.recorded} == {"analysis/weather/temp"}
        assert [(await stream.__anext__()).value for _ in range(3)] == [1, 2, 3]


@virtual
async def test_the_forecast_goes_on_where_the_present_is() -> None:
    async with Node() as node:
        panel = await started(node, table=ROWS)
        await asyncio.sleep(6 * 3600)
        assert (await panel.call("weather", "current"))["temp"] == pytest.approx(6)
        forecast = await panel.call("weather", "forecast", hours=12, step=6)
        assert [(f["time"][11:16], round(f["temp"])) for f in forecast] == [
            ("06:00", 6),
            ("12:00", 12),
            ("18:00", 6),
        ]


@virtual
async def test_a_calendar_of_its_own_runs_faster() -> None:
    async with Node() as node:
        panel = await started(node, table=ROWS, start="2026-07-01T00:00:00Z", speed=3600)
        await asyncio.sleep(6)
        now = await panel.call("weather", "current")
        assert datetime.fromisoformat(now["time"]) == datetime(2026, 7, 1, 6, tzinfo=timezone.utc)
        assert now["temp"] == pytest.approx(6)


@virtual
async def test_a_forecast_of_nothing_is_refused() -> None:
    async with Node() as node:
        panel = await started(node, table=ROWS)
        with pytest.raises(Invalid, match="at most 336"):
            await panel.call("weather", "forecast", hours=0)
        with pytest.raises(Invalid, match=r"at least 0\.25"):
            await panel.call("weather", "forecast", step=0)


@virtual
async def test_a_file_that_cannot_be_read_is_told_and_one_that_can_ends_that(tmp_path: Path) -> None:
    async with Node() as node:
        panel = await started(node, file=str(tmp_path / "none.csv"))
        await asyncio.sleep(1)
        assert "No such file" in node.alerts["weather", "file"].text
        assert node.health["weather"]["status"] == "bad"
        with pytest.raises(Invalid, match="no weather is played"):
            await panel.call("weather", "current")
        (tmp_path / "day.csv").write_text("time,temp\n2026-01-01T00:00Z,1\n2026-01-01T12:00Z,1\n")
        node.set_document("weather", "config", {"file": str(tmp_path / "day.csv")})
        await asyncio.sleep(1)
        assert ("weather", "file") not in node.alerts
        assert (await panel.call("weather", "current"))["temp"] == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"file": "a", "table": ROWS}, "exclude each other"),
        ({"interval": 0}, "from 1 to 86400"),
        ({"speed": 2}, "speed needs a start"),
        ({"start": "2026-07-01T00:00:00"}, "start has no offset"),
        ({"zone": "Nowhere/Land"}, "write one such as Europe/Berlin"),
        ({"device": "a/*"}, "a path such as"),
    ],
)
def test_settings_that_are_wrong_say_what_to_write(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(settings, Settings)
