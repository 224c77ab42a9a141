"""The methods that an agent offers: their signatures, and who may call them."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, get_type_hints

import msgspec

from . import _call, _json
from ._protocol import Raw
from .errors import Error, Invalid, NotFound, Refused, Unavailable
from .grant import Bound, Standing, judge_call, judge_hold
from .model import Method, Parameter
from .path import parse_token

log = logging.getLogger("voltbus.rpc")

AT_ONCE = 256  # requests in progress in one agent; more are told to come later

_caller: contextvars.ContextVar[str] = contextvars.ContextVar("voltbus caller", default="")

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "both",
    inspect.Parameter.VAR_POSITIONAL: "args",
    inspect.Parameter.VAR_KEYWORD: "kwargs",
}


def caller() -> str:
    """Return who calls the method that runs now; empty outside of one.

    The name is certain: the node lets nobody call under another's name.
    """
    return _caller.get()


class Served:
    """A function that others may call, with what its signature says."""

    def __init__(
        self, name: str, function: Callable[..., Any], needs: tuple[str, ...] = (), doc: str = ""
    ) -> None:
        self.name = name
        self.needs = needs
        self._function = function
        self._signature = inspect.signature(function)
        try:
            hints = get_type_hints(function, include_extras=True)
        except (NameError, TypeError) as e:
            message = f"the annotations of {name} cannot be read: {e}"
            raise Invalid(message, subject=name) from None
        self._result = hints.pop("return", Any)
        self._hints = {k: t for k, t in hints.items() if t is not Any}
        self._doc = doc or inspect.getdoc(function) or ""

    def describe(self) -> Method:
        """Return what ``inspect`` tells."""
        params = []
        for p in self._signature.parameters.values():
            given = p.default is not inspect.Parameter.empty
            params.append(
                Parameter(
                    name=p.name,
                    type=_type_name(self._hints.get(p.name, Any)),
                    default=_default(p.default) if given else msgspec.UNSET,
                    kind=_KINDS[p.kind],
                )
            )
        return Method(self.name, self._doc, tuple(params), _type_name(self._result), tuple(self.needs))

    def bind(self, asked: _call.Ask) -> inspect.BoundArguments:
        """Return the arguments, each of its type; ``Invalid`` names the one that is not."""
        try:
            bound = self._signature.bind(*asked.args, **asked.kwargs)
        except TypeError as e:
            raise Invalid(f"{e}; it takes {self._signature}", subject=self.name) from None
        for name, value in bound.arguments.items():
            hint = self._hints.get(name)
            if hint is not None:
                bound.arguments[name] = self._convert(name, value, hint)
        return bound

    def _convert(self, name: str, value: Any, hint: Any) -> Any:
        kind = self._signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            return tuple([self._one(name, v, hint) for v in value])
        if kind is inspect.Parameter.VAR_KEYWORD:
            return {k: self._one(k, v, hint) for k, v in value.items()}
        return self._one(name, value, hint)

    def _one(self, name: str, value: Any, hint: Any) -> Any:
        if hint is float:
            value = _json.value_of(value)
        try:
            return msgspec.convert(value, hint)
        except msgspec.ValidationError as e:
            raise Invalid(f"the argument {name}: {e}", subject=self.name) from None
        except TypeError:  # a type that only Python knows: the method gets what came
            return value

    def named(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """Return the arguments by name, those of **kwargs too, with defaults."""
        bound.apply_defaults()
        out = dict(bound.arguments)
        for name, p in self._signature.parameters.items():
            if p.kind is inspect.Parameter.VAR_KEYWORD:
                out |= out.pop(name)
        return out

    def run(self, bound: inspect.BoundArguments) -> Any:
        """Call it."""
        return self._function(*bound.args, **bound.kwargs)


class Host(Protocol):
    """What the methods need of their bus."""

    @property
    def name(self) -> str: ...
    @property
    def standing(self) -> Standing: ...
    async def refresh(self) -> Standing: ...
    def respond(self, raw: Raw, data: bytes) -> None: ...
    def note_refusal(self, method: str, caller: str, missing: str, args: dict[str, Any]) -> None: ...
    def spawn(self, job: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]: ...


class Methods:
    """Answers requests. Each runs in a task of its own, at most ``AT_ONCE`` of them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._served: dict[str, Served] = {}
        self._running = 0
        self.add(Served("inspect", self._inspect, doc="Tell which methods there are."))
        self.add(Served("ping", self._ping, doc="Answer, to show that this agent is alive."))

    def add(self, served: Served) -> None:
        """Offer a method; ``Invalid`` if there is one of this name."""
        if served.name in self._served:
            raise Invalid("there is a method of this name already", subject=served.name)
        self._served[served.name] = served

    def _inspect(self) -> list[Method]:
        return [s.describe() for s in self._served.values()]

    def _ping(self) -> str:
        return self._host.name

    def on_request(self, raw: Raw) -> None:
        """Take a request from the bus."""
        if self._running >= AT_ONCE:
            busy = Unavailable(f"{AT_ONCE} requests are in progress; ask again later")
            self._host.respond(raw, _call.error(busy))
            return
        self._running += 1
        self._host.spawn(self._answer(raw), f"request {raw.subject}")

    async def _answer(self, raw: Raw) -> None:
        try:
            self._host.respond(raw, await self._outcome(raw))
        finally:
            self._running -= 1

    async def _outcome(self, raw: Raw) -> bytes:
        trace = False
        try:
            _, _, by, method = raw.subject.split(".")
            who, name = parse_token(by), parse_token(method)
            served = self._served.get(name)
            if served is None:
                known = ", ".join(sorted(self._served))
                raise NotFound(f"there is no such method; there are {known}", subject=name)
            bound = served.bind(_call.asked(raw))
            await self._admit(served, bound, who)
            trace = self._may_trace(who)
            _caller.set(who)
            value = served.run(bound)
            if inspect.isawaitable(value):
                value = await value
            return _call.result(value)
        except asyncio.CancelledError:
            self._host.respond(raw, _call.error(Unavailable("the agent was stopped meanwhile")))
            raise
        except Error as e:
            return _call.error(e, trace)
        except Exception as e:
            log.warning("a method raised", extra={"subject": raw.subject}, exc_info=e)
            return _call.error(e, trace)

    async def _admit(self, served: Served, bound: inspect.BoundArguments, who: str) -> None:
        if who == "node" or served.name in ("inspect", "ping"):
            return  # the node has judged already whom it asks for
        args = served.named(bound)
        for last in (False, True):
            try:
                caller = self._host.standing.callers.get(who)
                judge_call(caller, self._host.name, served.name, args)
                for capability in served.needs:
                    judge_hold(caller, capability, args)
            except Refused as e:
                if last:
                    self._host.note_refusal(served.name, who, e.missing, args)
                    raise
                await self._host.refresh()  # it may have been granted just now
            else:
                return

    def _may_trace(self, who: str) -> bool:
        bound = self._host.standing.callers.get(who, Bound())
        return bound.administer or any(h.name == "trace" for h in bound.hold)


def _type_name(hint: Any) -> str:
    if hint is Any:
        return ""
    if hint is None or hint is type(None):
        return "None"
    return hint.__name__ if type(hint) is type else str(hint).replace("typing.", "")


def _default(value: Any) -> Any:
    try:
        return _json.decode(_json.encode(value))
    except Invalid:
        return repr(value)
