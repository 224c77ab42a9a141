"""What the bus promises of calls between agents, tried in memory and on a real node."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest

from voltbus import (
    Bus,
    Call,
    Grants,
    Hold,
    Invalid,
    NotFound,
    Refused,
    RemoteError,
    Timeout,
    Unreachable,
    caller,
)
from voltbus._protocol import Raw, encode_headers
from voltbus._serve import Methods, Served
from voltbus.grant import Bound, Standing

from .conftest import WithWorld
from .world import World


async def boiler_of(world: World) -> Bus:
    boiler = await world.connect("boiler")

    def limit(value: float, device: str = "d", *more: int, **rest: str) -> list[object]:
        """Set the limit.

        And more.
        """
        return [value, device, list(more), rest, caller()]

    async def fail(text: str) -> None:
        raise ValueError(text, 7)

    async def wait() -> None:
        await asyncio.Event().wait()

    async def nothing() -> float:
        return math.inf

    boiler.offer("limit", limit)
    boiler.offer("platform.limit", limit)
    boiler.offer("fail", fail)
    boiler.offer("wait", wait)
    boiler.offer("nothing", nothing)
    boiler.offer("tune", limit, "tune")
    return boiler


def test_who_of_another_node_calls_is_known_and_only_the_node_is_believed() -> None:
    answers: list[object] = []

    class Answering:
        name, standing = "boiler", Standing(callers={"liar": Bound(call=(Call("boiler"),))})

        def respond(self, raw: Raw, data: bytes) -> None:
            answers.append(json.loads(data).get("result"))

    async def later() -> str:
        return caller()

    async def test() -> None:
        host: Any = Answering()
        jobs: list[asyncio.Task[None]] = []
        host.spawn = lambda job, _: jobs.append(asyncio.ensure_future(job))
        methods = Methods(host)
        methods.add(Served("who", caller))
        methods.add(Served("later", later))
        head = encode_headers({"Voltbus-Caller": "agent:campus/weather"})
        for method in ("who", "later"):
            for by, block in (("node", head), ("node", b""), ("liar", head)):
                inbox = "_INBOX.1" if by == "node" else f"_INBOX.{by}.1"
                methods.on_request(Raw(f"rpc.boiler.{by}.{method}", inbox, block, b""))
                await asyncio.gather(*jobs)

    asyncio.run(test())
    assert answers == ["agent:campus/weather", "node", "liar"] * 2


def test_a_call_brings_arguments_there_and_the_result_back(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        ada = await world.connect("ada", Grants(call=[Call("boiler")]))
        result = await ada.call("boiler", "limit", 3, "x", 1, 2, note="ü")
        assert result == [3.0, "x", [1, 2], {"note": "ü"}, "ada"]
        assert (await ada.call("boiler", "platform.limit", value="NaN"))[0] == "NaN"
        assert await ada.call("boiler", "nothing") == "+Inf"
        await ada.ping("boiler")
        methods = {m.name: m for m in await ada.inspect("boiler")}
        assert methods["limit"].doc == "Set the limit.\n\nAnd more."
        assert [(p.name, p.type, p.kind) for p in methods["limit"].params] == [
            ("value", "float", "either"),
            ("device", "str", "either"),
            ("more", "int", "rest"),
            ("rest", "str", "rest"),
        ]
        assert methods["tune"].needs == ("tune",)

    try_on(test)


def test_a_thousand_calls_at_once_are_all_answered(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        ada = await world.connect("ada", Grants(call=[Call("boiler")]))
        for _ in range(10):
            calls = [ada.call("boiler", "limit", n) for n in range(100)]
            assert [r[0] for r in await asyncio.gather(*calls)] == list(range(100))

    try_on(test)


def test_what_goes_wrong_with_a_call_has_a_type(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        grants = Grants(call=[Call("boiler"), Call("absent")], hold=[Hold("trace")])
        ada = await world.connect("ada", grants)
        with pytest.raises(RemoteError) as raised:
            await ada.call("boiler", "fail", "no water")
        assert (raised.value.type, raised.value.args) == ("ValueError", ("no water", 7))
        assert "raise ValueError(text, 7)" in raised.value.trace
        with pytest.raises(NotFound, match="limit"):
            await ada.call("boiler", "explode")
        with pytest.raises(Invalid, match="argument value"):
            await ada.call("boiler", "limit", "warm")
        with pytest.raises(Invalid, match="missing a required argument"):
            await ada.call("boiler", "limit")
        with pytest.raises(Unreachable):
            await ada.call("absent", "anything")
        with pytest.raises(Timeout):
            await ada.call("boiler", "wait", timeout=0.05)
        with pytest.raises(Refused) as refused:
            await ada.call("other", "limit")
        assert refused.value.missing == "call other:limit"

    try_on(test)


def test_a_trace_is_shown_only_to_those_who_hold_it(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        ada = await world.connect("ada", Grants(call=[Call("boiler")]))
        with pytest.raises(RemoteError) as raised:
            await ada.call("boiler", "fail", "no water")
        assert raised.value.trace == ""

    try_on(test)


def test_arguments_are_bound_by_the_grants(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        where = {"value": {"min": 10, "max": 20}, "device": "campus/b1/**"}
        ada = await world.connect("ada", Grants(call=[Call("boiler", "limit", where)]))
        assert (await ada.call("boiler", "limit", 15, device="campus/b1/x"))[0] == 15
        for args, why in (
            ((25, "campus/b1"), "value"),
            ((15, "campus/b2"), "device"),
            ((15,), "device"),
            (("NaN", "campus/b1"), "value"),
        ):
            with pytest.raises(Refused, match=f"the argument {why}") as refused:
                await ada.call("boiler", "limit", *args)
            assert refused.value.missing == "call boiler:limit"
        with pytest.raises(Refused):
            await ada.call("boiler", "fail", "x")

    try_on(test)


def test_a_method_can_demand_a_capability(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        await boiler_of(world)
        ada = await world.connect("ada", Grants(call=[Call("boiler")]))
        with pytest.raises(Refused) as refused:
            await ada.call("boiler", "tune", 3)
        assert refused.value.missing == "hold tune"
        hold = Hold("tune", {"value": [3, 4]})
        await world.grant("ada", Grants(call=[Call("boiler")], hold=[hold]))

        async def allowed() -> bool:
            try:
                await ada.call("boiler", "tune", 3)
            except Refused:
                await asyncio.sleep(0.05)
                return False
            return True

        await world.until(allowed)
        with pytest.raises(Refused, match="must be one of 3, 4"):
            await ada.call("boiler", "tune", 5)

    try_on(test)
