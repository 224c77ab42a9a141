"""Two worlds with one contract: a node in memory, and the program itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import voltbus
from voltbus import Agent, Bus, Grants
from voltbus._connection import Connection
from voltbus._nkey import Key
from voltbus._place import Place
from voltbus._run import Runner, _opened
from voltbus.testing import Node

T = TypeVar("T")
EVERYTHING = Grants(administer=True)
NOTHING = Grants()
DEVICES = Grants(publish=["**"])


class World(ABC):
    """A place where agents can be, with all that the contract promises."""

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()

    @abstractmethod
    async def grant(self, name: str, grants: Grants) -> None:
        """Make an agent known, or replace what it may do."""

    @abstractmethod
    def bus(self, name: str) -> Bus:
        """Return a connection that is not open."""

    @abstractmethod
    async def restart(self) -> None:
        """Restart the node."""

    def writable(self, values: dict[str, float]) -> None:  # noqa: B027 - a real node has them
        """Have points that can be commanded."""

    async def connect(self, name: str, grants: Grants = NOTHING) -> Bus:
        await self.grant(name, grants)
        bus = self.bus(name)
        await self._stack.enter_async_context(bus)
        return bus

    async def run(self, agent: Agent[Any], name: str, grants: Grants | None = None) -> Runner:
        await self.grant(name, agent.wants if grants is None else grants)
        runner = Runner(agent, self.bus(name))
        await agent.bus.__aenter__()
        await self._stack.enter_async_context(_opened(runner, agent.bus))
        return runner

    async def devices(self) -> Bus:
        """Return a connection that reports as devices do."""
        return await self.connect("devices", DEVICES)

    async def administrator(self) -> Bus:
        return await self.connect("administrator", EVERYTHING)

    async def aclose(self) -> None:
        await self._stack.aclose()
        self._stack = contextlib.AsyncExitStack()

    @staticmethod
    async def until(claim: Callable[[], Awaitable[T] | T], within: float = 60) -> T:
        """Wait until something is true, and return it."""

        async def look() -> T:
            while True:
                value: Any = claim()
                if asyncio.iscoroutine(value):
                    value = await value
                if value:
                    return value  # type: ignore[no-any-return]
                await asyncio.sleep(0.005)

        return await asyncio.wait_for(look(), within)

    @staticmethod
    async def take(stream: AsyncIterator[T], count: int = 1) -> list[T]:
        """Return the next items of a stream."""

        async def take() -> list[T]:
            return [await stream.__anext__() for _ in range(count)]

        return await asyncio.wait_for(take(), 60)


def _reserved(claims: contextlib.ExitStack) -> int:
    """Return a port that nobody has, and that the system gives to no connection of another test."""
    for _ in range(1000):
        port = random.randrange(12_000, 32_000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as found:
            claim = found.enter_context(socket.socket(socket.AF_UNIX))
            claim.bind(f"\0voltbus-test-port-{port}")  # as the tests in Go do
            with socket.socket() as vacant:
                vacant.bind(("127.0.0.1", port))
            claims.push(found.pop_all())
            return port
    raise AssertionError("no port is free")


class MemoryWorld(World):
    """A node in memory, in virtual time."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    async def grant(self, name: str, grants: Grants) -> None:
        self.node.register(name, grants)

    def bus(self, name: str) -> Bus:
        from voltbus.testing import MemoryTransport

        return Bus(MemoryTransport(self.node._server, name), name, clock=self.node.clock)

    def writable(self, values: dict[str, float]) -> None:
        self.node.writable(dict(values))

    async def restart(self) -> None:
        self.node.cut()
        await self.node.restore()


class NodeWorld(World):
    """The program, in a folder of its own, for a whole session of tests."""

    def __init__(self, binary: Path, folder: Path, name: str = "test") -> None:
        super().__init__()
        self._name = name
        self._binary = binary
        self._folder = folder
        self._data = folder / "data"
        self._keys: dict[str, Key] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._log = (folder / "node.log").open("wb")
        self._ports = contextlib.ExitStack()
        listen = [f"127.0.0.1:{_reserved(self._ports)}" for _ in range(2)]
        self._listen = dict(zip(("http", "bus"), listen, strict=True))  # as before after a restart

    def __enter__(self) -> NodeWorld:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop(signal.SIGTERM)
        self._log.close()
        self._ports.close()

    async def __aenter__(self) -> NodeWorld:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _start(self) -> None:
        zones = {"path": "rooms/zone{n}", "driver": "sim", "interval": "1h", "count": 2}
        config = {
            "node": {"name": self._name, "data": str(self._data)},
            "listen": self._listen,
            "devices": [zones | {"config": {"model": "zone"}}],
        }
        (self._folder / "voltbus.yaml").write_text(json.dumps(config))
        self._process = subprocess.Popen(
            [self._binary, "run", "-c", self._folder / "voltbus.yaml"],
            stdout=self._log,
            stderr=self._log,
        )
        self.place = self._await_place()

    def _await_place(self) -> dict[str, str]:
        assert self._process is not None
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self._process.poll() is None, (self._folder / "node.log").read_text()
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
                content = json.loads((self._data / "node.json").read_text())
                if content["process"] == self._process.pid:
                    return {"http": content["http"].rstrip("/"), "bus": content["bus"]}
            time.sleep(0.02)
        raise AssertionError((self._folder / "node.log").read_text())

    def _stop(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    async def restart(self) -> None:
        await asyncio.to_thread(self._stop, signal.SIGKILL)
        await asyncio.to_thread(self._start)

    async def grant(self, name: str, grants: Grants) -> None:
        body = msgspec.to_builtins(grants)
        if name in self._keys:
            path = f"/api/v1/agents/{name}/grants"
            await asyncio.to_thread(self.http, "PUT", path, body)
            return
        key = self._keys[name] = Key.new()
        (self._folder / f"{name}.nk").write_text(key.seed)
        ask = {"name": name, "public": key.public, "grants": body}
        await asyncio.to_thread(self.http, "POST", "/api/v1/agents", ask)

    def http(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the node's API as its administrator."""
        token = (self._data / "admin.token").read_text().strip()
        request = urllib.request.Request(
            self.place["http"] + path,
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as e:
            with e:
                raise AssertionError(f"{method} {path}: {e.code} {e.read().decode()}") from None
        return json.loads(text) if text else None

    def bus(self, name: str) -> Bus:
        place = Place(
            self.place["bus"], name, self._data / "tls" / "ca.pem", self._folder / f"{name}.nk"
        )
        return Bus(Connection(place.address, name, place.trust(), place.secret()), name)


def program() -> Path | None:
    """Return the program to test with, if it is there."""
    given = os.environ.get("VOLTBUS_BIN")
    built = Path(given) if given else Path(voltbus.__file__).parents[3] / "bin" / "voltbus"
    return built if built.exists() and shutil.which(str(built)) else None
