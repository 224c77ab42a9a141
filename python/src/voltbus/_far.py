"""Requests to other nodes of the tree, by way of the own one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from ._asking import Asking

LONGEST = 120.0  # seconds that the node waits for another one


class Far(Asking):
    """The part of a bus that reaches other nodes, as far as ``call <node>/…`` is granted."""

    async def listen(self, pattern: str, *, node: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the live messages of scans of points of another node, as they come.

        Needs ``call <node>/node:listen`` here; the nodes on the way and the other node judge what
        may be heard. What came while nobody listened is not known. Raises ``Unreachable`` when the
        node is away: listen again later.
        """
        cursor = ""
        while True:
            ask = {"pattern": pattern, "cursor": cursor, "wait": 10.0}
            heard = await self.request(f"{node}/node", "listen", (), ask, timeout=20.0)
            cursor = heard["cursor"]
            for message in heard["messages"]:
                yield message

    async def _far(
        self, callee: str, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], timeout: float
    ) -> Any:
        """Have the node call an agent of another node: it gives up a little before the caller."""
        node, agent = callee.split("/", 1)
        ask = {"node": node, "agent": agent, "method": method, "args": list(args), "kwargs": kwargs}
        patience = max(min(timeout, LONGEST) * 0.95, 0.001)
        return await self.request("node", "remote", (), {**ask, "timeout": patience}, timeout=timeout)
