"""Agents in a world whose clock another program keeps."""

from __future__ import annotations

import base64
import io
import json
import signal
import sys
import textwrap
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from voltbus import _realtime, _world
from voltbus._patience import Limit

SECOND = 1_000_000_000

AGENT = """
    import time
    from datetime import datetime

    from voltbus import Agent, Command, Config, Sample, Wants, every, on

    class Settings(Config):
        setpoint: float = 22.0

    class Cool(Agent[Settings]):
        wants = Wants(
            subscribe=["site/**"],
            publish=["report"],
            command=[Command("site/zone/on", 12)],
        )

        @on("site/zone/temp")
        async def warm(self, sample: Sample) -> None:
            on = float(sample.value > self.settings.setpoint)
            await self.write("site/zone/on", on, level=12, lease=90)

        @every(minutes=1, wait=True)
        async def report(self) -> None:
            await self.bus.send("report", {"time": self.bus.clock.now().isoformat()})

    class Clumsy(Cool):
        @every(minutes=5)
        async def look(self) -> None:
            datetime.now()
            time.sleep(0)

    class Broken(Agent[Settings]):
        async def start(self) -> None:
            raise RuntimeError("the file of prices is not there")
"""


class Process:
    """What ``voltbus world`` does with the process of a site."""

    def __init__(self, folder: Path, kind: str, config: dict[str, Any] | None = None) -> None:
        module = folder / "cooling.py"
        module.write_text(textwrap.dedent(AGENT))
        self._lines = [
            {
                "site": "site",
                "start": "2026-07-01T00:00:00Z",
                "path": [str(folder)],
                "agents": [{"name": "cool", "class": f"cooling:{kind}", "config": config}],
                "writable": {"site/zone/on": 0.0},
            }
        ]

    def advance(self, seconds: float, **what: Any) -> Process:
        """Go on to a moment."""
        self._lines.append({"to": round(seconds * SECOND), **what})
        return self

    def warm(self, seconds: float, temp: float) -> Process:
        """Have a temperature reported."""
        return self.advance(
            seconds, scans=[{"device": "site/zone", "points": {"temp": temp}, "recorded": True}]
        )

    def answers(self) -> list[dict[str, Any]]:
        """Return the answers."""
        source = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in self._lines))
        sink = io.BytesIO()
        before = list(sys.path)
        try:
            _world.serve(source, sink)
        finally:
            sys.path[:] = before
            sys.modules.pop("cooling", None)
        return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_an_agent_commands_and_its_lease_ends_at_its_moment(tmp_path: Path) -> None:
    answers = Process(tmp_path, "Cool").warm(10, 25.0).advance(99).advance(100).answers()
    assert answers[1]["commands"] == {"site/zone/on": 1.0}
    on = {"agent": "cool", "point": "site/zone/on", "level": 12, "value": 1.0}
    assert answers[1]["held"] == [on]
    assert "commands" not in answers[2]
    assert answers[3]["held"] == [on | {"value": None}]
    assert answers[3]["commands"] == {"site/zone/on": 0.0}


def test_timers_follow_the_clock_that_is_told(tmp_path: Path) -> None:
    process = Process(tmp_path, "Cool", {"setpoint": 30.0})
    for minute in range(1, 4):
        process.advance(60 * minute - 1).advance(60 * minute)
    answers = process.answers()
    assert answers[1]["next"] <= 60 * SECOND
    sent = [m["subject"] for a in answers for m in a.get("messages", [])]
    assert sent == ["msg.cool.report"] * 3
    assert all("messages" not in a for a in answers[1::2])
    assert answers[0]["wants"] == ["live.scan.site.>"] or "live" in answers[0]["wants"][0]


def test_a_day_passes_at_once(tmp_path: Path) -> None:
    answers = Process(tmp_path, "Cool").advance(86400).answers()
    assert len(answers[1]["messages"]) == 1440


@pytest.mark.parametrize("profiled", [False, True])
def test_an_agent_that_asks_the_machine_for_the_time_is_told_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, profiled: bool
) -> None:
    if profiled:
        monkeypatch.setattr(_realtime, "_slots", lambda: None)
    answers = Process(tmp_path, "Clumsy").advance(600).answers()
    told = [t for a in answers for t in a.get("told", [])]
    lines = (tmp_path / "cooling.py").read_text().splitlines()
    now, sleep = lines.index("        datetime.now()") + 1, lines.index("        time.sleep(0)") + 1
    assert told == [
        f"{tmp_path}/cooling.py:{now}: datetime.now() in look",
        f"{tmp_path}/cooling.py:{sleep}: time.sleep() in look",
    ]
    assert not [t for a in Process(tmp_path, "Cool").advance(600).answers() for t in a.get("told", [])]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("Broken", "RuntimeError: the file of prices is not there"),
        ("Missing", "cooling:Missing: cooling has no Missing; there is Cool, Clumsy, Broken"),
    ],
)
def test_an_agent_that_cannot_start_says_why(tmp_path: Path, kind: str, error: str) -> None:
    assert [a["error"] for a in Process(tmp_path, kind).advance(1).answers()] == [error]


def test_the_clock_does_not_run_backwards(tmp_path: Path) -> None:
    answers = Process(tmp_path, "Cool").advance(10).advance(9).answers()
    assert "does not run backwards" in answers[-1]["error"]


def test_messages_of_another_site_arrive(tmp_path: Path) -> None:
    scan = {"device": "site/zone", "time": "2026-07-01T00:00:05Z", "points": {"temp": 30.0}}
    data = base64.b64encode(json.dumps(scan).encode()).decode()
    answers = (
        Process(tmp_path, "Cool")
        .advance(5, messages=[{"subject": "live.scan.site.zone", "data": data}])
        .answers()
    )
    assert answers[1]["commands"] == {"site/zone/on": 1.0}
    assert "messages" not in answers[1]  # what came from elsewhere does not go back


def test_the_clock_of_the_machine_is_as_before_afterwards(tmp_path: Path) -> None:
    before = datetime.now, time.time, time.sleep
    Process(tmp_path, "Clumsy").advance(600).answers()
    assert (datetime.now, time.time, time.sleep) == before
    assert abs(datetime.now(timezone.utc).timestamp() - time.time()) < 60


class Late(Exception):
    """A block took too long."""


def test_a_wait_in_real_time_is_interrupted_and_its_line_told() -> None:
    def late(where: str) -> None:
        raise Late(where)

    with pytest.raises(Late, match=r"test_world\.py:\d+: time\.sleep\(3600\)"), Limit(0.01, late):
        time.sleep(3600)
    with Limit(0.01, late):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
