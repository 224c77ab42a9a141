"""Members at three nodes, a parent and two children, that hear each other's live messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import voltbus
from voltbus import Bus, Conflict, Fence, Grants

from .test_on_a_node import BINARY, Site, commanded, hear, leads

TIMES = {"period": 1, "beat": 0.5, "silence": 6, "lease": 60, "capacity": 15, "sway": 8}
PANEL = msgspec.convert(
    {"subscribe": ["**"], "read": ["**"], "command": [{"path": "demo/**", "level": 12}]}, Grants
)
NAMES = ("m", "b1", "b2")  # the parent, and its children


class Place(Site):
    """A node with three rooms, and what it hears of its parent."""

    def __init__(self, folder: Path, name: str, hears: list[str]) -> None:
        folder.mkdir()
        super().__init__(folder)
        sim = {"driver": "sim", "interval": "200ms", "count": 3, "config": {"model": "zone", "seed": 1}}
        config: dict[str, Any] = {
            "node": {"name": name, "data": str(self.data)},
            "listen": {"http": "127.0.0.1:0", "bus": "127.0.0.1:0"},
            "devices": [sim | {"path": f"demo/{name}{{n}}"}],
        }
        if hears:
            config["uplink"] = {"hear": hears}
        self.config.write_text(json.dumps(config))
        self.name = name
        self.more: dict[str, Any] = {}
        self.log = (folder / "node.log").open("wb")
        self.node = subprocess.Popen(
            [BINARY, "run", "-c", self.config], stdout=self.log, stderr=self.log
        )

    def wait(self) -> None:
        end = time.monotonic() + 90
        while self.place().get("process") != self.node.pid:
            assert self.node.poll() is None, (self.folder / "node.log").read_text()
            assert time.monotonic() < end, (self.folder / "node.log").read_text()
            time.sleep(0.02)

    def stop(self) -> None:
        self.node.terminate()
        self.node.wait(60)
        self.log.close()

    def settings(self, side: str) -> dict[str, Any]:
        return super().settings(side) | TIMES | self.more

    @contextlib.asynccontextmanager
    async def panel(self) -> AsyncIterator[Bus]:
        key, ca = self.folder / "panel.nk", self.data / "tls" / "ca.pem"
        async with voltbus.connect(self.place()["bus"], name="panel", key=key, ca=ca) as bus:
            yield bus


class Tree:
    """The nodes. Each child hears the parent and the other child, if the parent lets it."""

    def __init__(self, folder: Path, topics: dict[str, list[str]]) -> None:
        self.places = {n: Place(folder / n, n, topics.get(n, [])) for n in NAMES}
        self.agents: list[subprocess.Popen[bytes]] = []
        parent = self.places["m"]
        for place in self.places.values():
            place.wait()
            place.admit("panel", PANEL)
        for name in NAMES[1:]:
            code = self._run(parent, "invite", "--prefix", name, "--quiet", "--approved")
            self._run(self.places[name], "join", given=code)
            for topic in topics.get(name, []):
                self._run(parent, "children", "grant", name, "subscribe", topic)

    @staticmethod
    def _run(at: Place, *args: str, given: str = "") -> str:
        done = subprocess.run(
            [BINARY, *args, "-c", at.config], input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, agent: str, at: str, **more: Any) -> subprocess.Popen[bytes]:
        place = self.places[at]
        place.more = more
        process = place.start(agent, at)
        self.agents.append(process)
        return process

    def stop(self) -> None:
        for process in self.agents:
            process.kill()
            process.wait(30)
        for name in reversed(NAMES):
            self.places[name].stop()


@contextlib.contextmanager
def tree(folder: Path, topics: dict[str, list[str]]) -> Iterator[Tree]:
    if not BINARY.exists():
        pytest.skip('bin/voltbus is not built: run "make build" to try the agent on real nodes')
    made = Tree(folder, topics)
    try:
        yield made
    finally:
        made.stop()


def test_members_of_three_nodes_elect_one_leader_and_refuse_it_when_it_is_gone(tmp_path: Path) -> None:
    own = "regulation/campus"
    topics = {"b1": [own, f"b2/{own}"], "b2": [own, f"b1/{own}"]}

    async def main(nodes: Tree) -> None:
        first = nodes.start("a", "b1", hear=[f"b2/{own}"])
        nodes.start("m", "m", hear=[f"b1/{own}", f"b2/{own}"])
        nodes.start("z", "b2", hear=[f"b1/{own}"])
        async with nodes.places["m"].panel() as parent, nodes.places["b2"].panel() as child:
            term = await commanded(child, "b2", "a", 0)  # a room of b2, by the leader at b1
            await commanded(parent, "m", "a", 0)
            first.kill()
            await hear(parent, leads("m", term + 1))
            newer = await commanded(child, "b2", "m", term)
            with pytest.raises(Conflict) as caught:
                await child.write("demo/b21/setback", 1.0, level=12, fence=Fence("campus", term, "a"))
            assert caught.value.why == "fenced"
            assert caught.value.holders[0].fence == Fence("campus", newer, "m")

    with tree(tmp_path, topics) as nodes:
        asyncio.run(main(nodes))


def test_hearing_that_is_not_mutual_comes_to_rest_with_one_leader(tmp_path: Path) -> None:
    own = "regulation/campus"
    topics = {"b1": [own, f"b2/{own}"], "b2": [own]}  # b2 does not hear b1

    async def main(nodes: Tree) -> None:
        nodes.start("m", "m", hear=[f"b1/{own}", f"b2/{own}"])
        nodes.start("z", "b2")
        async with nodes.places["b2"].panel() as child:
            term = await commanded(child, "b2", "m", 0)
            nodes.start("a", "b1", hear=[f"b2/{own}"])  # the smallest address comes later
            body = await hear(child, lambda b: follows(b, "z", "a", term))
            settled = body["hello"]["token"]["term"]
            for _ in range(20):  # ten seconds of beats
                body = await hear(child, lambda b: b["sender"] == "z")
                assert body["hello"]["token"] == {"term": settled, "leader": "a"}

    with tree(tmp_path, topics) as nodes:
        asyncio.run(main(nodes))


def follows(body: dict[str, Any], member: str, leader: str, after: int) -> bool:
    token = body["hello"].get("token", {})
    return bool(body["sender"] == member and token.get("leader") == leader and token["term"] > after)


def test_three_campuses_meet_a_need_in_proportion_to_what_they_offer(tmp_path: Path) -> None:
    can = {"m": 4.5, "b1": 6.0, "b2": 3.0}
    need = 30.0

    def offer(at: str, group: str) -> str:
        return f"{'' if group in {at, 'm'} else group + '/'}regulation/{group}/offer"

    others = {n: [offer(n, g) for g in NAMES if g != n] for n in NAMES}

    async def main(nodes: Tree) -> None:
        sway = 4 * time.time()  # a quarter of its first turn: the test signal hardly changes
        for n in NAMES:
            nodes.start(f"r{n}", n, group=n, capacity=can[n], need=need, campuses=others[n], sway=sway)
        async with nodes.places["m"].panel() as parent:
            signals = await agreed(parent)
            offered = sum(can.values())
            for campus, signal in signals.items():
                part = signal * can[campus]
                assert part == pytest.approx(0.345 * need * can[campus] / offered, rel=0.1), signals

    async def agreed(parent: Bus) -> dict[str, float]:
        """Wait until the leaders' parts are one share of what they can be asked for."""
        asked: dict[str, float] = {}

        async def look() -> None:
            async with parent.scans("regulation/m", "b1/regulation/b1", "b2/regulation/b2") as stream:
                async for scan in stream:
                    if "signal" in scan.points and "orders" in scan.points:
                        asked[scan.device.rsplit("/", 1)[1]] = float(str(scan.points["signal"]))
                    if len(asked) == 3 and max(asked.values()) - min(asked.values()) < 0.05 < min(
                        asked.values()
                    ):
                        return

        await asyncio.wait_for(look(), 120)
        return asked

    with tree(tmp_path, {n: others[n] for n in NAMES[1:]}) as nodes:
        asyncio.run(main(nodes))
