"""Commanding devices: one contract, in memory and on a real node."""

from __future__ import annotations

import asyncio
import math
from datetime import datetime, timedelta

import pytest

from voltbus import (
    Agent,
    Bus,
    Command,
    Config,
    Conflict,
    Error,
    Grants,
    Invalid,
    NotFound,
    Refused,
    Window,
)
from voltbus.testing import Node, virtual

from .conftest import WithWorld
from .world import World

SET = "rooms/zone1/setpoint"
OTHER = "rooms/zone2/setpoint"
ZONES = Grants(command=[Command("rooms/**", 10, 18, 26)], read=["rooms/**"])


async def two(world: World) -> tuple[Bus, Bus]:
    world.writable({SET: 21.0, OTHER: 21.0})
    return await world.connect("first", ZONES), await world.connect("second", ZONES)


def test_a_command_holds_a_point_until_it_is_released(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, _ = await two(world)
        done = await first.write(SET, 22.5, lease=60, reason="a test", id="one")
        assert (done.status, done.wins, done.output, done.reported) == ("accepted", True, "held", 22.5)
        assert done.until is not None
        again = await first.write(SET, 22.5, lease=60, reason="a test", id="one")
        assert again.repeat
        found, unknown = await first.get([SET, "rooms/none"])
        assert found.value == 22.5
        assert unknown.error is not None
        assert unknown.error.kind == "not-found"
        await first.renew(SET)
        await first.release(SET)
        with pytest.raises(NotFound):
            await first.release(SET)
        with pytest.raises(NotFound):
            await first.renew()

    try_on(test)


def test_a_revert_ends_what_others_command(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, second = await two(world)
        root = await world.connect("root", Grants(administer=True))
        await first.write(SET, 22)
        await second.write(SET, 23, level=10)
        await second.write(OTHER, 23)
        with pytest.raises(Refused):
            await first.revert("rooms")
        assert await root.revert("rooms/zone2") == 1
        await second.write(OTHER, 23)
        assert await root.revert("rooms", spread=3600) == 2
        (left,) = [p for p in (await root.who("rooms"))["points"] if p["array"]]
        assert left["point"] == OTHER
        with pytest.raises(NotFound):
            await root.revert("rooms/zone1")

    try_on(test)


def test_what_is_not_granted_is_refused(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, _ = await two(world)
        for how, missing in (
            ({"point": "plant/x", "value": 1}, "command plant/x@16"),
            ({"point": SET, "value": 30}, f"command {SET}@16"),
            ({"point": SET, "value": 20, "level": 9}, f"command {SET}@9"),
        ):
            with pytest.raises(Refused) as e:
                await first.write(**how)  # type: ignore[arg-type]
            assert e.value.missing == missing
        with pytest.raises(Refused):
            async with first.reserve("all", ["plant"]):
                pass
        with pytest.raises(Invalid):
            await first.write(SET, 20, level=17)
        with pytest.raises((Invalid, Refused)):
            await first.write(SET, math.nan)

    try_on(test)


def test_of_many_commands_each_is_answered(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, _ = await two(world)
        values = {SET: 20.0, "rooms/none": 20.0, OTHER: 40.0}
        good, unknown, much = await first.write_many(values)
        assert (good.status, good.output) == ("accepted", "held")
        assert unknown.error is not None
        assert much.error is not None
        assert (unknown.error.kind, much.error.kind) == ("not-found", "refused")
        assert await first.write_many({}) == []
        await first.release()

    try_on(test)


def test_who_stands_in_the_way_is_in_the_error(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, second = await two(world)
        end = first.clock.now() + timedelta(hours=1)
        async with first.reserve("mine", [Window("rooms/zone1", end)], reason="a test"):
            for attempt in (
                second.write(SET, 20),
                second.reserve("yours", [Window(SET, end)]).__aenter__(),
            ):
                with pytest.raises(Conflict) as e:
                    await attempt
                assert e.value.why in {"reserved", "conflict"}
                assert (e.value.holders[0].requester, e.value.holders[0].task) == (
                    "agent:first",
                    "mine",
                )
            await first.write(SET, 20)
            assert [t["task"] for t in await second.schedule(SET)] == ["mine"]
            assert (await second.who(SET))["points"][0]["array"][0]["requester"] == "agent:first"
        assert await second.schedule() == []
        await second.write(SET, 19)
        with pytest.raises(Conflict) as held:
            await first.write(SET, 20)
        assert held.value.why == "held"
        await second.release()

    try_on(test)


def test_a_point_is_held_while_a_block_runs(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first, second = await two(world)
        async with first.holding(SET, 24, lease=6) as done:  # renewed after two seconds
            assert done.wins
            while not await _renewed(first, SET, done.until):
                await asyncio.sleep(0.1)
            with pytest.raises(Conflict):
                await second.write(SET, 20)
        await second.write(SET, 20)
        await second.release()
        with pytest.raises(NotFound):
            await lose(first)

    async def lose(bus: Bus) -> None:
        async with bus.holding(SET, 24, lease=1):
            await bus.release()
            await asyncio.sleep(20)

    async def _renewed(bus: Bus, point: str, first: object) -> bool:
        array = (await bus.who(point))["points"][0]["array"]
        return (
            bool(array)
            and "until" in array[0]
            and datetime.fromisoformat(array[0]["until"].replace("Z", "+00:00")) != first
        )

    try_on(test)


@virtual
async def test_a_lease_that_nobody_renews_ends() -> None:
    async with Node() as node:
        node.writable({SET: 21.0})
        bus = await node.connect("first", ZONES)
        await bus.write(SET, 24, lease=60)
        await bus.write(SET, 25, level=12)
        assert node.commanded(SET) == 25
        await bus.release(id=(await bus.who(SET))["points"][0]["array"][0]["command"])
        assert node.commanded(SET) == 24
        await asyncio.sleep(61)
        assert node.commanded(SET) == 21


@virtual
async def test_a_command_that_the_device_refuses_changes_nothing() -> None:
    async with Node() as node:
        node.writable({SET: 21.0, OTHER: 21.0})
        bus = await node.connect("first", ZONES)
        await bus.write(SET, 22)
        node.reject(SET, "illegal data value")
        with pytest.raises(Error, match="illegal data value") as e:
            await bus.write(SET, 25, id="typo")
        assert e.value.kind == "rejected"
        assert e.value.why == "declined"
        failed, held = await bus.write_many({SET: 25, OTHER: 25})
        assert (failed.status, failed.output, failed.wins) == ("failed", "failed", False)
        assert failed.error is not None
        assert (held.status, held.output) == ("accepted", "held")
        assert node.commanded(SET) == 22
        state = (await bus.who(SET))["points"][0]
        assert [(s["level"], s["value"]) for s in state["array"]] == [(16, 22)]
        assert state["output"] == "held"
        node.reject(SET, "")
        with pytest.raises(Error, match="illegal data value"):
            await bus.write(SET, 25, id="typo")  # a repeat gets the first answer
        await bus.write(SET, 25)
        assert node.commanded(SET) == 25


@virtual
async def test_a_point_that_changes_at_its_device_is_a_mismatch() -> None:
    async with Node() as node:
        node.writable({SET: 21.0})
        bus = await node.connect("first", ZONES)
        await bus.write(SET, 22)
        node.drift(SET, 25.0)
        state = (await bus.who(SET))["points"][0]
        assert (state["output"], state["commanded"], state["reported"]) == ("mismatch", 22, 25)
        (reading,) = await bus.get([SET])
        assert (reading.value, node.commanded(SET)) == (25, 22)
        done = await bus.write(SET, 22)  # written, though it is what the node wished already
        assert (done.output, done.reported) == ("held", 22)
        node.drift(SET, 25.0)
        node.drift(SET, 22.0)
        assert (await bus.who(SET))["points"][0]["output"] == "held"
        node.drift(SET, 25.0)
        await bus.release(SET)
        state = (await bus.who(SET))["points"][0]
        assert (state["output"], state["commanded"], state["reported"]) == ("held", None, 21)
        node.drift(SET, 25.0)
        assert (await bus.who(SET))["points"][0]["output"] == "idle"


@virtual
async def test_a_command_that_is_held_back_waits() -> None:
    async with Node() as node:
        node.writable({SET: 21.0})
        bus = await node.connect("first", ZONES)
        await bus.write(SET, 22)
        node.hold_back(SET)
        done = await bus.write(SET, 24)
        assert (done.status, done.output, done.reported) == ("accepted", "waiting", 22)
        (reading,) = await bus.get([SET])
        assert (reading.value, node.commanded(SET)) == (22, 24)
        await bus.release(SET)
        state = (await bus.who(SET))["points"][0]
        assert (state["output"], state["reported"]) == ("waiting", 22)
        await bus.write(SET, 23)
        node.hold_back(SET, held=False)
        state = (await bus.who(SET))["points"][0]
        assert (state["output"], state["reported"]) == ("held", 23)


class Tune(Agent[Config]):
    """Commands a zone."""

    wants = ZONES


@virtual
async def test_an_agent_commands_and_gives_back() -> None:
    async with Node() as node:
        node.writable({SET: 21.0, OTHER: 21.0})
        agent = Tune()
        await node.run(agent)
        await agent.write(SET, 22)
        await agent.write_many({OTHER: 23})
        async with agent.hold(SET, 24, level=12, lease=30), agent.reserve("a", [OTHER]):
            await asyncio.sleep(600)
            assert node.commanded(SET) == 24
        assert (node.commanded(SET), node.commanded(OTHER)) == (22, 23)
        await agent.release()
        assert (node.commanded(SET), node.commanded(OTHER)) == (21, 21)
