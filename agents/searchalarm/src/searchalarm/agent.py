"""Raises and clears alerts by what a search engine finds."""

from __future__ import annotations

import asyncio

from voltbus import Agent, Config, Error, Wants, every, rpc

from .query import Incomplete, Rule, values
from .wire import FAILURES, Server


class Settings(Config):
    """Where the search engine is, how often it is asked, and the rules by name."""

    server: Server | None = None
    every: int = 60
    rules: dict[str, Rule] = {}

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError("every is a number of seconds from 1")
        for name, rule in self.rules.items():
            if not name or set(name) & set("/*"):
                raise ValueError(f"rules: {name!r} is no name; leave out / and *")
            if problem := rule.problem():
                raise ValueError(f"rules.{name}: {problem}")


class SearchAlarm(Agent[Settings]):
    """Raises an alert for each point that a query finds beyond a limit, until one finds it within."""

    wants = Wants()
    version = "0.1.0"

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[str, Rule] = {}  # by the alert's key
        self._due = 0.0
        self._turn = asyncio.Lock()

    async def changed(self, settings: Settings) -> None:
        async with self._turn:
            for key, rule in list(self._open.items()):
                if settings.rules.get(key.partition("/")[0]) != rule:
                    del self._open[key]
                    await self.clear(key)
            self._due = 0.0
        if settings.server is None or not settings.rules:
            await self.health("good", "nothing to ask: store server and rules in the document config")

    @every(seconds=1, wait=True)
    async def tick(self) -> None:
        """Ask when it is time."""
        now = self.bus.clock.now().timestamp()
        if self.settings.server is not None and self.settings.rules and now >= self._due:
            self._due = now + self.settings.every
            await self.look()

    @rpc
    async def look(self) -> dict[str, str]:
        """Ask now; returns why each rule could not be asked, by its name; nothing if all were."""
        async with self._turn:
            troubles: dict[str, str] = {}
            server = self.settings.server
            for name, rule in self.settings.rules.items() if server is not None else ():
                assert server is not None
                try:
                    answer = await asyncio.to_thread(server.ask, rule.index, rule.body())
                    await self._judge(name, rule, values(answer))
                except (Incomplete, Error, *FAILURES) as e:
                    troubles[name] = str(e) or type(e).__name__
        if troubles:
            await self.health("bad", {"not_asked": troubles})
        elif server is not None:
            await self.health("good", f"{len(self.settings.rules)} rules, {len(self._open)} alerts")
        return troubles

    async def _judge(self, name: str, rule: Rule, found: dict[str, float]) -> None:
        """Raise and clear alerts. A point that is not found stays as it was: nothing is known of it."""
        for point, value in found.items():
            key = f"{name}/{point}"
            if why := rule.why(value):
                await self.alert(key, f"{point}: {value:g}, {why}", rule.severity)
                self._open[key] = rule
            else:
                await self.clear(key)  # also one of before a restart
                self._open.pop(key, None)
