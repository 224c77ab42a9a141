"""Agents: programs that listen, decide and act, and that others can call."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec

from .bus import Bus
from .control import Window, Written
from .errors import Invalid, Unavailable
from .grant import Grants, Wants
from .mark import Mark, marks
from .model import Document, Value

__all__ = ["Agent", "Config", "alert", "clear"]

current: contextvars.ContextVar[Bus | None] = contextvars.ContextVar("voltbus bus", default=None)


class Config(msgspec.Struct, forbid_unknown_fields=True):
    """What people may set of an agent: typed fields with defaults, in the document ``config``.

    >>> class Settings(Config):
    ...     limit: float = 80.0
    """


S = TypeVar("S", bound=Config)


class Agent(Generic[S]):
    """A program on the bus. Derive from it, and mark methods with ``on``, ``every``, ``rpc`` ….

    ``wants`` is what it needs to be granted; ``settings`` is what the document ``config`` says, of
    the type in the brackets. Methods run one at a time for each mark, in the same event loop: one
    that is not ``async`` must not block. One that raises is logged and counted, and does not end
    the agent; after three times in a row the agent's health is bad until it succeeds.
    """

    wants: Grants = Wants()
    version: str = ""
    heartbeat: float = 10.0  # seconds between words on the own health

    settings: S
    bus: Bus

    def __init__(self) -> None:
        self.log = logging.getLogger(f"agent.{type(self).__name__}")
        self._status: tuple[str, Any] = ("good", None)
        self._unwell: dict[str, str] = {}  # what keeps failing, and how

    @property
    def name(self) -> str:
        """The name under which it is on the bus."""
        return self.bus.name

    # -- to be overridden

    async def start(self) -> None:
        """Run once after the connect, before anything else; if it raises, the agent ends."""

    async def changed(self, settings: S) -> None:
        """Run after ``settings`` was replaced because somebody changed the document."""

    async def stop(self) -> None:
        """Run once at the end, while the bus can still be used."""

    # -- to be used

    async def health(self, status: str, context: Any = None) -> None:
        """Report its health: good, bad or starting, and why, at once and with each heartbeat."""
        if status not in ("good", "bad", "starting", "unknown"):
            raise Invalid("health is good, bad, starting or unknown", subject=status)
        self._status = (status, context)
        await self.tell()

    async def alert(self, key: str, text: str, severity: str = "warning") -> None:
        """Raise an alert, which stays open until ``clear``."""
        await self.bus.alert(key, text, severity)

    async def clear(self, key: str) -> None:
        """Clear an alert."""
        await self.bus.clear(key)

    async def write(self, point: str, value: Value, **how: Any) -> Written:
        """Set a point; see ``Bus.write`` for ``level``, ``lease``, ``reason``, ``task``, ``wait``."""
        return await self.bus.write(point, value, **how)

    async def write_many(self, values: Mapping[str, Value], **how: Any) -> list[Written]:
        """Set many points at once, each answered by itself; see ``Bus.write_many``."""
        return await self.bus.write_many(values, **how)

    async def release(self, point: str = "", **what: Any) -> None:
        """End own commands, without a point all, and all reservations; see ``Bus.release``."""
        await self.bus.release(point, **what)

    async def revert(self, path: str, **how: Any) -> int:
        """End every command of a point, device or branch, whoever made it; see ``Bus.revert``."""
        return await self.bus.revert(path, **how)

    def hold(
        self, point: str, value: Value, **how: Any
    ) -> contextlib.AbstractAsyncContextManager[Written]:
        """Set a point while a block runs, with a lease that renews itself; see ``Bus.holding``."""
        return self.bus.holding(point, value, **how)

    def reserve(
        self, task: str, windows: Sequence[Window | str], **how: Any
    ) -> contextlib.AbstractAsyncContextManager[str]:
        """Reserve points, devices or branches while a block runs; see ``Bus.reserve``."""
        return self.bus.reserve(task, windows, **how)

    # -- what runs it needs

    async def tell(self) -> None:
        """Tell the own health."""
        status, context = self._status
        if self._unwell:
            status, context = "bad", {"failing": dict(self._unwell), "context": context}
        await self.bus.health(status, context, self.heartbeat)

    def failing(self, what: str, why: str | None) -> bool:
        """Note that something keeps failing, or does not any more; True if that is new."""
        before = what in self._unwell
        if why is None:
            self._unwell.pop(what, None)
        else:
            self._unwell[what] = why
        return before != (why is not None)

    @classmethod
    def settings_type(cls) -> type[Config]:
        """Return the type of the settings: the one in the brackets."""
        for base in inspect.getmro(cls):
            for generic in getattr(base, "__orig_bases__", ()):
                origin = get_origin(generic)
                if isinstance(origin, type) and issubclass(origin, Agent):
                    (argument,) = get_args(generic)
                    if isinstance(argument, type) and issubclass(argument, Config):
                        return argument
        return Config

    @classmethod
    def marked(cls) -> list[tuple[str, Mark]]:
        """Return the names of the marked methods, in the order of their definition."""
        names: dict[str, None] = {}
        for base in reversed(inspect.getmro(cls)):
            names |= dict.fromkeys(vars(base))
        return [(n, m) for n in names for m in marks(inspect.getattr_static(cls, n))]

    def read(self, document: Document | None) -> None:
        """Take the settings from a document, or the defaults; ``Invalid`` changes nothing."""
        kind = self.settings_type()
        content = document.content if document is not None else {}
        try:
            self.settings = msgspec.convert({} if content is None else content, kind)  # type: ignore[assignment]
        except msgspec.ValidationError as e:
            where = f"{document.name} version {document.version}" if document else "the defaults"
            raise Invalid(f"{e}", subject=where) from None
        except TypeError as e:
            raise Invalid(f"the settings' type cannot be used: {e}", subject=kind.__name__) from None


def _bus() -> Bus:
    bus = current.get()
    if bus is None:
        raise Unavailable("only an agent that runs can do this; use the methods of a bus elsewhere")
    return bus


async def alert(key: str, text: str, severity: str = "warning") -> None:
    """Raise an alert of the agent that runs, which stays open until ``clear``."""
    await _bus().alert(key, text, severity)


async def clear(key: str) -> None:
    """Clear an alert of the agent that runs."""
    await _bus().clear(key)
