"""Measures agents in Python on a real node, over the encrypted bus. See README.md.

python -m bench.agents        from the folder python/, after "make build"
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.world import NodeWorld, program

import voltbus
from voltbus import Bus, Call, Grants

from .minimal import Minimal

ROUNDS = 5
DEVICES, POINTS, LISTENERS, PROCESSES = 25, 18, 100, 4


def _bus() -> Bus:
    return voltbus.connect()


async def callee() -> None:
    """Answer requests until the input ends."""
    bus = _bus()

    def limit(value: float) -> float:
        return value

    async def limit_async(value: float) -> float:
        return value

    bus.offer("limit", limit)
    bus.offer("limit_async", limit_async)
    async with bus:
        print("ready", flush=True)
        await _end()


async def listeners(names: list[str]) -> None:
    """Be many agents, and print when the last of them has everything."""
    async with contextlib.AsyncExitStack() as stack:
        streams = []
        for name in names:
            key = Path(os.environ["VOLTBUS_KEY"]).with_name(f"{name}.nk")
            bus = await stack.enter_async_context(voltbus.connect(name=name, key=key))
            streams.append(bus.scans("bench/**"))
            await bus.ready()
        print("ready", flush=True)

        async def take(stream: voltbus.Stream[voltbus.Scan]) -> float:
            for _ in range(DEVICES):
                await stream.__anext__()
            return time.monotonic()

        for _ in range(ROUNDS):
            print(max(await asyncio.gather(*(take(s) for s in streams))), flush=True)
        await _end()


async def _end() -> None:
    await asyncio.to_thread(sys.stdin.read)


def spawn(world: NodeWorld, name: str, *command: str) -> subprocess.Popen[str]:
    """Start a process that is an agent, and wait until it is ready."""
    environment = os.environ | {
        "VOLTBUS_BUS": world.place["bus"],
        "VOLTBUS_CA": str(world._data / "tls" / "ca.pem"),
        "VOLTBUS_KEY": str(world._folder / f"{name}.nk"),
        "VOLTBUS_AGENT": name,
        "PYTHONPATH": os.pathsep.join(map(str, (_here(), _here() / "src"))),
    }
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *command], env=environment, stdin=pipe, stdout=pipe, text=True
    )


def _here() -> Path:
    return Path(__file__).parents[1]


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


async def requests(world: NodeWorld) -> None:
    """Measure requests between two processes."""
    await world.grant("callee", Grants())
    process = spawn(world, "callee", "-m", "bench.agents", "callee")
    assert await asyncio.to_thread(_line, process) == "ready"
    caller = await world.connect("caller", Grants(call=[Call("callee")]))
    for method in ("limit", "limit_async"):

        async def ask(method: str = method) -> None:
            await caller.call("callee", method, 3.0)

        await rate(f"request {method}, one after the other", 4000, 1, ask)
        await rate(f"request {method}, 100 at once", 20000, 100, ask)
    _stop(process)


async def rate(title: str, count: int, at_once: int, ask: Callable[[], Awaitable[None]]) -> None:
    """Print how many a second."""

    async def work(share: int) -> None:
        for _ in range(share):
            await ask()

    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        await asyncio.gather(*(work(count // at_once) for _ in range(at_once)))
        found.append(count / (time.perf_counter() - start))
    median, best = statistics.median(found), max(found)
    print(f"{title:44} {median:8.0f} /s   best {best:8.0f} /s")


async def fan_out(world: NodeWorld) -> None:
    """Measure many agents that get the same scans."""
    names = [f"listener{n}" for n in range(LISTENERS)]
    for name in names:
        await world.grant(name, Grants(subscribe=["bench/**"]))
    share = LISTENERS // PROCESSES
    processes = [
        spawn(world, part[0], "-m", "bench.agents", "listeners", *part)
        for part in (names[i : i + share] for i in range(0, LISTENERS, share))
    ]
    for process in processes:
        assert await asyncio.to_thread(_line, process) == "ready"
    devices = await world.connect("bench-devices", Grants(publish=["bench/**"]))
    values = {f"point{n}": n + 0.5 for n in range(POINTS)}
    found = []
    for _ in range(ROUNDS):
        start = time.monotonic()
        for n in range(DEVICES):
            await devices.publish(f"bench/device{n}", values)
        ends = [float(await asyncio.to_thread(_line, p)) for p in processes]
        found.append(max(ends) - start)
    title = f"{DEVICES} scans of {POINTS} points to {LISTENERS} agents"
    print(f"{title:44} {statistics.median(found) * 1e3:8.1f} ms   best {min(found) * 1e3:8.1f} ms")
    memory = statistics.mean(resident(p.pid) for p in processes)
    print(f"{f'a process of {share} agents':44} {memory:8.1f} MB")
    for process in processes:
        _stop(process)


async def memory(world: NodeWorld) -> None:
    """Measure the memory of an agent that does nothing, and how long it takes to start."""
    await world.grant("minimal", Minimal.wants)
    watcher = await world.connect("watcher", Grants(subscribe=["health"]))
    beats = watcher.messages("health", sender="minimal")
    await watcher.ready()
    found, begun = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        process = spawn(world, "minimal", "-m", "voltbus", "run", "bench.minimal:Minimal")
        await beats.__anext__()
        begun.append(time.perf_counter() - start)
        await asyncio.sleep(0.5)
        found.append(resident(process.pid))
        process.terminate()
        await asyncio.to_thread(process.communicate)
    print(f"{'a minimal agent, resident':44} {statistics.median(found):8.1f} MB")
    print(f"{'from its start to its first word':44} {statistics.median(begun) * 1e3:8.0f} ms")


def _stop(process: subprocess.Popen[str]) -> None:
    process.communicate()
    assert process.returncode == 0, process.args


async def measure() -> None:
    """Measure everything."""
    binary = program()
    if binary is None:
        raise SystemExit('bin/voltbus is not there: run "make build" first')
    with tempfile.TemporaryDirectory() as folder, NodeWorld(binary, Path(folder)) as world:
        async with world:
            await requests(world)
            await fan_out(world)
            await memory(world)


if __name__ == "__main__":
    if sys.argv[1:2] == ["callee"]:
        asyncio.run(callee())
    elif sys.argv[1:2] == ["listeners"]:
        asyncio.run(listeners(sys.argv[2:]))
    else:
        asyncio.run(measure())
