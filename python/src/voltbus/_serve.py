"""The methods that an agent offers: their signatures, and who may call them."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, Protocol, get_type_hints

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

_ALWAYS = ("inspect", "ping")  # everybody may ask this, also before the agent has started
_LATER = b""  # in place of an answer: one is on its way

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.VAR_KEYWORD: "rest",
}


def caller() -> str:
    """Return who calls the method that runs now; empty outside of one.

    An agent of this node is its name, somebody of another node ``agent:campus/weather`` or
    ``person:campus/ada``, with the name of that node. ``node`` is the node itself, which also
    calls for people of this node. The name is certain: the node lets nobody call under another's
    name, and each node on the way answers for the one that it passed the call on for.
    """
    return _caller.get()


def _asker(raw: Raw, by: str) -> str:
    """Return for whom the node asks. A header of anybody else means nothing."""
    if by != "node" or not raw.head:
        return by
    return raw.headers.get("Voltbus-Caller", by)


def _answerable(raw: Raw) -> bool:
    """Return whether a request wants no answer, or one in an inbox of who asks.

    Elsewhere the answer would be sent with this agent's rights, in its name.
    """
    if not raw.reply:
        return True
    by = raw.subject.split(".")[2]
    own = "_INBOX." if by == "node" else f"_INBOX.{by}."
    return raw.reply.startswith(own)


class Given(NamedTuple):
    """The arguments of a call: as they are passed, and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    named: dict[str, Any]


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
        self.waits = inspect.iscoroutinefunction(function)
        parameters = self._signature.parameters.values()
        self._plain = all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters)
        self._names = [p.name for p in parameters]
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        fixed = [p for p in parameters if p.kind not in variable]
        empty = inspect.Parameter.empty
        self._required = {p.name for p in fixed if p.default is empty}
        self._defaults = {p.name: p.default for p in fixed if p.default is not empty}

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

    def bind(self, asked: _call.Ask) -> Given:
        """Return the arguments, each of its type; ``Invalid`` names the one that is not."""
        given = self._quickly(asked)
        if given is None:
            return self._slowly(asked)
        for name, hint in self._hints.items():
            if name in given:
                given[name] = self._one(name, given[name], hint)
        return Given((), given, given)

    def _quickly(self, asked: _call.Ask) -> dict[str, Any] | None:
        """Return arguments by name where that is simple, which is nearly always."""
        if not self._plain or len(asked.args) > len(self._names):
            return None
        given = dict(zip(self._names, asked.args, strict=False))
        for name, value in asked.kwargs.items():
            if name in given or name not in self._names:
                return None
            given[name] = value
        return given if self._required <= given.keys() else None

    def _slowly(self, asked: _call.Ask) -> Given:
        try:
            bound = self._signature.bind(*asked.args, **asked.kwargs)
        except TypeError as e:
            raise Invalid(f"{e}; it takes {self._signature}", subject=self.name) from None
        for name, value in bound.arguments.items():
            hint = self._hints.get(name)
            if hint is not None:
                bound.arguments[name] = self._convert(name, value, hint)
        named = dict(bound.arguments)
        for name, p in self._signature.parameters.items():
            if p.kind is inspect.Parameter.VAR_KEYWORD:
                named |= named.pop(name, {})
        return Given(bound.args, bound.kwargs, named)

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

    def named(self, given: Given) -> dict[str, Any]:
        """Return the arguments by name, with defaults."""
        return self._defaults | given.named

    def run(self, given: Given) -> Any:
        """Call it."""
        return self._function(*given.args, **given.kwargs)


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
    """Answers requests.

    Plain functions are run at once; each coroutine in a task of its own, ``AT_ONCE`` at most.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._served: dict[str, Served] = {}
        self._running = 0
        self.open = asyncio.Event()  # closed until the agent has started
        self.open.set()
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
        """Take a request from the bus. What needs no waiting is answered at once."""
        if not _answerable(raw):
            log.warning("a request wants its answer elsewhere", extra={"subject": raw.subject})
            return
        answer = self._at_once(raw) if self.open.is_set() else None
        if answer is None and self._running >= AT_ONCE:
            busy = Unavailable(f"{AT_ONCE} requests are in progress; ask again later")
            answer = _call.error(busy)
        if answer is not None:
            if answer is not _LATER:
                self._host.respond(raw, answer)
            return
        self._running += 1
        self._host.spawn(self._answer(raw), "request")

    def _at_once(self, raw: Raw) -> bytes | None:
        """Return the answer if nothing has to be waited for."""
        trace = False
        try:
            served, given, who = self._find(raw)
            if served.waits:
                return None
            self._judge(served, given, who)
            trace = self._may_trace(who)
            before = _caller.set(_asker(raw, who))
            try:
                value = served.run(given)
            finally:
                _caller.reset(before)
            if inspect.isawaitable(value):  # a plain function that returns what is to be awaited
                self._host.spawn(self._later(raw, value, trace), "request")
                return _LATER
            return _call.result(value)
        except Refused:
            return None  # it may have been granted just now
        except Exception as e:
            return self._raised(raw, e, trace)

    def _raised(self, raw: Raw, e: Exception, trace: bool) -> bytes:
        if not isinstance(e, Error):
            log.warning("a method raised", extra={"subject": raw.subject}, exc_info=e)
        return _call.error(e, trace)

    async def _later(self, raw: Raw, value: Any, trace: bool) -> None:
        try:
            answer = _call.result(await value)
        except Exception as e:
            answer = self._raised(raw, e, trace)
        self._host.respond(raw, answer)

    async def _answer(self, raw: Raw) -> None:
        try:
            self._host.respond(raw, await self._outcome(raw))
        finally:
            self._running -= 1

    async def _outcome(self, raw: Raw) -> bytes:
        trace = False
        try:
            served, given, who = self._find(raw)
            await self._admit(served, given, who)
            trace = self._may_trace(who)
            if served.name not in _ALWAYS:
                await self.open.wait()
            _caller.set(_asker(raw, who))
            value = served.run(given)
            if inspect.isawaitable(value):
                value = await value
            return _call.result(value)
        except asyncio.CancelledError:
            self._host.respond(raw, _call.error(Unavailable("the agent was stopped meanwhile")))
            raise
        except Exception as e:
            return self._raised(raw, e, trace)

    def _find(self, raw: Raw) -> tuple[Served, Given, str]:
        _, _, by, method = raw.subject.split(".")
        name = parse_token(method)
        served = self._served.get(name)
        if served is None:
            known = ", ".join(sorted(self._served))
            raise NotFound(f"there is no such method; there are {known}", subject=name)
        return served, served.bind(_call.asked(raw)), parse_token(by)

    def _judge(self, served: Served, given: Given, who: str) -> None:
        if who == "node" or served.name in _ALWAYS:
            return  # the node has judged already whom it asks for
        caller = self._host.standing.callers.get(who)
        if caller is not None and caller.administer:
            return
        args = served.named(given)
        judge_call(caller, self._host.name, served.name, args)
        for capability in served.needs:
            judge_hold(caller, capability, args)

    async def _admit(self, served: Served, given: Given, who: str) -> None:
        try:
            self._judge(served, given, who)
        except Refused:
            await self._host.refresh()  # it may have been granted just now
        else:
            return
        try:
            self._judge(served, given, who)
        except Refused as e:
            self._host.note_refusal(served.name, who, e.missing, served.named(given))
            raise

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
