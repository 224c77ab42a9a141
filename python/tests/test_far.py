"""Calling agents of other nodes, and listening there."""

from __future__ import annotations

import asyncio
from typing import Any

from voltbus.bus import Bus


class Asked(Bus):
    """A bus that notes what the node is asked, and answers from a list."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.seen: list[tuple[str, str, dict[str, Any]]] = []

    async def request(
        self,
        agent: str,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        timeout: float = 10.0,
    ) -> Any:
        if "/" in agent:
            return await super().request(agent, method, args, kwargs, timeout=timeout)
        self.seen.append((agent, method, kwargs or {}))
        return self.answers.pop(0)


def test_an_agent_of_another_node_is_called_through_the_own_node() -> None:
    bus = Asked(7)
    got = asyncio.run(bus.call("plant-1/boiler", "tune", 1.5, limit=15, timeout=20))
    assert got == 7
    asked = {"node": "plant-1", "agent": "boiler", "method": "tune", "args": [1.5]}
    assert bus.seen == [("node", "remote", asked | {"kwargs": {"limit": 15}, "timeout": 19.0})]


def test_points_of_another_node_are_read_there() -> None:
    bus = Asked({"readings": [{"point": "ahu1/temp", "value": 21.5, "quality": "good"}]})
    [reading] = asyncio.run(bus.get(["ahu1/temp"], node="plant-1"))
    assert reading.value == 21.5
    assert bus.seen[0][2]["agent"] == "node"
    assert bus.seen[0][2]["kwargs"] == {"points": ["ahu1/temp"]}


def test_who_listens_goes_on_where_the_last_answer_ended() -> None:
    first = {"cursor": "a.0", "messages": [], "dropped": 0, "begun": True}
    then = {"cursor": "a.1", "messages": [{"device": "ahu1"}], "dropped": 0, "begun": False}
    bus = Asked(first, then)

    async def hear() -> dict[str, Any]:
        async for message in bus.listen("ahu1/**", node="plant-1"):
            return message
        raise AssertionError("it ended")

    assert asyncio.run(hear()) == {"device": "ahu1"}
    assert [seen[2]["kwargs"]["cursor"] for seen in bus.seen] == ["", "a.0"]
