"""What the parts of a bus that call methods need of it."""

from __future__ import annotations

from typing import Any


class Asking:
    """A part of a bus that calls methods."""

    async def request(
        self,
        agent: str,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        timeout: float = 10.0,
    ) -> Any:
        """Call a method."""
        raise NotImplementedError
