"""Agents in processes of their own, on the program; and the same files in virtual time."""

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
from pathlib import Path
from typing import Any

import msgspec
import pytest
import voltbus
from voltbus import Bus, Conflict, Fence, Grants

from regulation.agent import Regulation

ROOT = Path(__file__).parents[3]
BINARY = Path(os.environ.get("VOLTBUS_BIN") or ROOT / "bin" / "voltbus")
SOURCES = os.pathsep.join(
    [str(Path(voltbus.__file__).parents[1]), str(Path(__file__).parents[1] / "src")]
)
PANEL = msgspec.convert(
    {
        "subscribe": ["**"],
        "read": ["**"],
        "command": [{"path": "demo/**", "level": 12}],
        "call": [{"agent": "ra"}, {"agent": "rb"}],
    },
    Grants,
)
# Rooms of the simulator have no unit to switch: their night setback stands for it.
UNIT = {"low": 0, "high": 40, "rated": 5, "hold": 2.5, "lockout": 1, "command": "setback"}
TIMES = {"period": 0.5, "beat": 0.2, "silence": 1.0, "lease": 60, "capacity": 15, "sway": 8}


class Site:
    """A node with three rooms for each of two agents."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.config = folder / "voltbus.yaml"
        sim = {"driver": "sim", "interval": "200ms", "count": 3, "config": {"model": "zone", "seed": 1}}
        rooms = [sim | {"path": f"demo/{side}{{n}}"} for side in "ab"]
        node = {"name": "test", "data": str(self.data)}
        listen = {"http": "127.0.0.1:0", "bus": "127.0.0.1:0"}
        self.config.write_text(json.dumps({"node": node, "listen": listen, "devices": rooms}))

    def run(self, *args: str) -> None:
        done = subprocess.run(
            [BINARY, *args, "-c", self.config], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def admit(self, name: str, grants: Grants) -> None:
        file = self.folder / f"{name}.json"
        file.write_bytes(msgspec.json.encode(grants))
        key = str(self.folder / f"{name}.nk")
        self.run("agent", "register", name, "--key", key, "--grants", str(file))

    def place(self) -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return dict(json.loads((self.data / "node.json").read_text()))
        return {}

    def settings(self, side: str) -> dict[str, Any]:
        return {"units": {f"demo/{side}{i}": UNIT for i in range(1, 4)}, **TIMES}

    def start(self, name: str, side: str) -> subprocess.Popen[bytes]:
        self.admit(name, Regulation.wants)
        file = self.folder / f"{name}.config.json"
        file.write_text(json.dumps(self.settings(side)))
        self.run("config", "store", f"agent/{name}", "config", str(file))
        more = {
            "VOLTBUS_BUS": self.place()["bus"],
            "VOLTBUS_CA": str(self.data / "tls" / "ca.pem"),
            "VOLTBUS_KEY": str(self.folder / f"{name}.nk"),
            "VOLTBUS_AGENT": name,
            "PYTHONPATH": SOURCES,
        }
        command = [sys.executable, "-m", "voltbus", "run", "regulation.agent:Regulation"]
        with (self.folder / f"{name}.log").open("ab") as log:
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


async def hear(bus: Bus, claim: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait for what a member says of itself."""

    async def look() -> dict[str, Any]:
        async with bus.messages("regulation/campus") as stream:
            async for message in stream:
                if message.body.get("hello") is not None and claim(message.body):
                    return dict(message.body)
        raise AssertionError("it ended")

    return await asyncio.wait_for(look(), 60)


def leads(name: str, term: int) -> Callable[[dict[str, Any]], bool]:
    def claim(body: dict[str, Any]) -> bool:
        hello = body["hello"]
        token = hello.get("token", {})
        return body["sender"] == name and bool(hello.get("leads")) and token["term"] >= term

    return claim


async def commanded(bus: Bus, side: str, leader: str, after: int) -> int:
    """Wait until a leader commands rooms of a side; return its term."""

    async def look() -> int:
        async with bus.scans(f"demo/{side}*") as stream:
            async for scan in stream:
                who = await bus.node("who", path=f"{scan.device}/setback")
                for point in who["points"]:
                    for slot in point["array"]:
                        fence = slot.get("fence") or {}
                        if fence.get("leader") == leader and fence["term"] > after:
                            return int(fence["term"])
        raise AssertionError("it ended")

    return await asyncio.wait_for(look(), 60)


def test_another_leads_when_the_leader_stands_still_and_its_commands_are_refused(site: Site) -> None:
    site.admit("panel", PANEL)

    async def main() -> None:
        key, ca = site.folder / "panel.nk", site.data / "tls" / "ca.pem"
        first, second = site.start("ra", "a"), site.start("rb", "b")
        try:
            async with voltbus.connect(site.place()["bus"], name="panel", key=key, ca=ca) as bus:
                await hear(bus, leads("ra", 1))
                term = await commanded(bus, "b", "ra", 0)
                status = await bus.call("ra", "status")
                assert status["members"] == ["ra", "rb"]
                assert len(status["units"]) == 6
                assert {"more", "less", "refused"} <= set(status["decision"]), (
                    "what is left is reported"
                )

                first.send_signal(signal.SIGSTOP)  # as one that the network does not reach
                await hear(bus, leads("rb", term + 1))
                newer = await commanded(bus, "b", "rb", term)
                with pytest.raises(Conflict) as caught:
                    await bus.write("demo/b1/setback", 1.0, level=12, fence=Fence("campus", term, "ra"))
                assert caught.value.why == "fenced"
                assert caught.value.holders[0].fence == Fence("campus", newer, "rb")

                first.send_signal(signal.SIGCONT)  # it learns of the later term, and is elected again
                await hear(bus, leads("ra", newer + 1))
                last = await commanded(bus, "b", "ra", newer)

                first.kill()
                await hear(bus, leads("rb", last + 1))
                await commanded(bus, "b", "rb", last)
        finally:
            for process in (first, second):
                process.kill()
                process.wait(30)

    asyncio.run(main())


def test_the_same_agents_run_in_virtual_time(tmp_path: Path) -> None:
    if not BINARY.exists():
        pytest.skip('bin/voltbus is not built: run "make build" to try the agent in virtual time')
    unit = {"low": 21.5, "high": 22.5, "rated": 5.6, "hold": 2, "lockout": 180}
    weather = {"name": "weather", "kind": "weather", "parameters": {"mean": 31, "swing": 2}}
    room = {"name": "room", "kind": "room", "inputs": {"outdoor": "weather.temp"}, "commands": ["on"]}
    common = {"period": 60, "capacity": 4}
    sites = [
        {
            "name": name,
            "path": [str(Path(__file__).parents[1] / "src")],
            "models": [weather, room],
            "agents": [
                {
                    "name": f"regulation-{name}",
                    "class": "regulation.agent:Regulation",
                    "config": {"units": {f"{name}/room": unit}, **common},
                }
            ],
        }
        for name in ("one", "two")
    ]
    world = {"name": "campus", "duration": "4h", "seed": 1, "python": sys.executable}
    links = [{"from": "one", "to": "two", "delay": "50ms", "loss": 0.05}]
    file, history = tmp_path / "world.yaml", tmp_path / "history.csv"
    file.write_text(json.dumps({"world": world, "sites": sites, "links": links}))
    env = {**os.environ, "PYTHONPATH": SOURCES}
    seen = []
    for _ in range(2):
        done = subprocess.run(
            [BINARY, "world", "run", file, "--history", history],
            capture_output=True,
            text=True,
            check=False,
            env=env,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "FAILED" not in done.stdout, done.stdout
        assert "REAL TIME" not in done.stdout, done.stdout
        rows = [line.split(",") for line in history.read_text().splitlines()]
        for name in ("one", "two"):
            powers = [float(r[2]) for r in rows if r[1] == f"{name}/room/power"]
            temps = [float(r[2]) for r in rows if r[1] == f"{name}/room/temp"]
            assert 0 < sum(p > 0 for p in powers) < len(powers), f"{name} is switched"
            assert max(temps[len(temps) // 2 :]) < 23
        seen.append(next(line for line in done.stdout.splitlines() if line.startswith("digest")))
    assert seen[0] == seen[1], "one seed, one run"
