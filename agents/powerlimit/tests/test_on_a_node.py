"""The agent in a process of its own, on the program with a simulated building."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
import voltbus
from voltbus import Bus, Grants

from powerlimit.agent import PowerLimit

ROOT = Path(__file__).parents[3]
BINARY = Path(os.environ.get("VOLTBUS_BIN") or ROOT / "bin" / "voltbus")
SOURCES = [str(Path(voltbus.__file__).parents[1]), str(Path(__file__).parents[1] / "src")]
LIMIT, USUAL, COMFORT = 48.0, 23.0, 26.5
SETTINGS = {
    "limit": LIMIT,
    **{
        "interval": 0.5,
        "effect": 1,
        "least": 2,
        "rest": 1,
        "turn": 8,
        "calm": 1,
        "stale": 5,
        "lease": 3,
    },
}
PANEL = msgspec.convert(
    {"subscribe": ["demo/tower/**"], "read": ["**"], "call": [{"agent": "powerlimit"}]}, Grants
)


class Site:
    """A node with ten rooms, where a second is two minutes, and noon begins now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "voltbus.yaml"
        self.data = folder / "data"
        room = {"model": "room", "seed": "{n}"}
        begin = {"line": "tower", "climate": "hot", "speed": 120, "shows": "2026-07-01T12:00:00Z"}
        begin["begin"] = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        policy = {"points": ["setpoint"], "default": USUAL, "revert": "default", "min": 20, "max": 28}
        sim = {"driver": "sim", "interval": "250ms"}
        rooms = sim | {
            "path": "demo/tower/room{n}",
            "count": 10,
            "config": room | begin,
            "control": [policy],
        }
        meter = sim | {"path": "demo/tower/meter", "config": {"model": "building"} | begin}
        listen = {"http": "127.0.0.1:0", "bus": "127.0.0.1:0"}
        self.config.write_text(
            json.dumps(
                {
                    "node": {"name": "test", "data": str(self.data)},
                    "listen": listen,
                    "devices": [rooms, meter],
                }
            )
        )

    def run(self, *args: str) -> None:
        subprocess.run([BINARY, *args, "-c", self.config], check=True, capture_output=True)

    def admit(self, name: str, grants: Grants) -> None:
        file = self.folder / f"{name}.json"
        file.write_bytes(msgspec.json.encode(grants))
        key = str(self.folder / f"{name}.nk")
        self.run("agent", "register", name, "--key", key, "--grants", str(file))

    def place(self) -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return dict(json.loads((self.data / "node.json").read_text()))
        return {}

    def start_agent(self) -> subprocess.Popen[bytes]:
        more = {
            "VOLTBUS_BUS": self.place()["bus"],
            "VOLTBUS_CA": str(self.data / "tls" / "ca.pem"),
            "VOLTBUS_KEY": str(self.folder / "powerlimit.nk"),
            "VOLTBUS_AGENT": "powerlimit",
            "PYTHONPATH": os.pathsep.join(SOURCES),
        }
        command = [sys.executable, "-m", "voltbus", "run", "powerlimit.agent:PowerLimit"]
        with (self.folder / "agent.log").open("ab") as log:
            return subprocess.Popen(command, env={**os.environ, **more}, stdout=log, stderr=log)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if not BINARY.exists():
        pytest.skip('bin/voltbus is not built: run "make build" to try the agent on a real node')
    site = Site(tmp_path)
    log = (tmp_path / "node.log").open("wb")
    node = subprocess.Popen([BINARY, "run", "-c", site.config], stdout=log, stderr=log)
    try:
        end = time.monotonic() + 60
        while site.place().get("process") != node.pid:
            assert node.poll() is None, (tmp_path / "node.log").read_text()
            assert time.monotonic() < end, (tmp_path / "node.log").read_text()
            time.sleep(0.02)
        yield site
    finally:
        node.terminate()
        node.wait(60)
        log.close()


class Watch:
    """What the devices say, as it comes."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.values: dict[str, Any] = {}
        self.warmest = 0.0
        self.under = 0  # readings of the meter on end that are not above the limit

    def setpoints(self) -> list[float]:
        return [v for k, v in self.values.items() if k.endswith("/setpoint")]

    async def until(self, claim: Callable[[], bool]) -> None:
        async def look() -> None:
            async with self.bus.scans("demo/tower/*") as stream:
                async for scan in stream:
                    self.values |= {f"{scan.device}/{k}": v for k, v in scan.points.items()}
                    temp = scan.points.get("temp")
                    if isinstance(temp, float):
                        self.warmest = max(self.warmest, temp)
                    if scan.device == "demo/tower/meter":
                        power = scan.points["power"]
                        assert isinstance(power, float)
                        self.under = self.under + 1 if power <= LIMIT else 0
                        if claim():
                            return

        await asyncio.wait_for(look(), 300)


def test_power_is_held_with_comfort_and_nothing_stays_when_the_agent_is_killed(site: Site) -> None:
    site.admit("powerlimit", PowerLimit.wants)
    site.admit("panel", PANEL)
    (site.folder / "config.json").write_text(json.dumps(SETTINGS))
    site.run("config", "store", "agent/powerlimit", "config", str(site.folder / "config.json"))

    async def main() -> None:
        place = site.place()["bus"]
        key, ca = site.folder / "panel.nk", site.data / "tls" / "ca.pem"
        async with voltbus.connect(place, name="panel", key=key, ca=ca) as bus:
            watch = Watch(bus)
            await watch.until(lambda: watch.setpoints() == [USUAL] * 10)
            assert watch.values["demo/tower/meter/power"] > LIMIT + 1
            agent = site.start_agent()
            try:
                await watch.until(lambda: watch.under >= 40)
                assert max(watch.setpoints()) > USUAL, "it was held by what the agent asked for"
                assert watch.warmest <= COMFORT
                status = await bus.call("powerlimit", "status")
                assert status["state"] == "holding"
                held = sum(r["raised"] > 0 for r in status["rooms"].values())
                assert held > 0
            finally:
                agent.send_signal(signal.SIGKILL)
                agent.wait(30)
            await watch.until(lambda: watch.setpoints() == [USUAL] * 10)
            await watch.until(lambda: watch.values["demo/tower/meter/power"] > LIMIT)
            told = await bus.latest("analysis/powerlimit/**")
            assert {"analysis/powerlimit/limit", "analysis/powerlimit/decision"} <= set(told)
            assert await bus.latest("control/demo/tower/**"), "commands stand beside the measurement"

    asyncio.run(main())
