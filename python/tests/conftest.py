"""What the tests share: the contract is tried on the bus in memory and on a real node alike."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator

import pytest

from voltbus.testing import Node, run

from .world import MemoryWorld, NodeWorld, World, program

WithWorld = Callable[[Callable[[World], Awaitable[None]]], None]


@pytest.fixture(scope="session")
def real_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeWorld]:
    binary = program()
    if binary is None:
        pytest.skip('bin/voltbus is not built: run "make build" to try the SDK on a real node')
    with NodeWorld(binary, tmp_path_factory.mktemp("node")) as world:
        yield world


@pytest.fixture(params=["memory", "node"])
def try_on(request: pytest.FixtureRequest) -> WithWorld:
    """Run a test with a world: once in memory and virtual time, once on a real node."""
    if request.param == "memory":

        def in_memory(test: Callable[[World], Awaitable[None]]) -> None:
            async def main() -> None:
                async with Node() as node:
                    await test(MemoryWorld(node))

            run(main())

        return in_memory

    world: NodeWorld = request.getfixturevalue("real_node")

    def on_node(test: Callable[[World], Awaitable[None]]) -> None:
        async def main() -> None:
            async with world:
                await test(world)

        asyncio.run(main())
        gc.collect()  # a socket that was left open is told here, in the test that left it

    return on_node
