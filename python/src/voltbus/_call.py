"""Requests and answers between agents: their bodies, and errors on their way."""

from __future__ import annotations

import traceback
from typing import Any

import msgspec

from . import _json
from ._protocol import Raw
from .errors import Corrupt, Error, Invalid, Refused, RemoteError, of_kind
from .model import Holder


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with one of many."""

    index: int = 0
    message: str = ""


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error on its way."""

    kind: str = "internal"
    message: str = ""
    subject: str = ""
    missing: str = ""
    type: str = ""
    args: list[Any] = []
    trace: str = ""
    problems: list[Problem] = []
    why: str = ""
    holders: list[Any] = []


class Reply(msgspec.Struct, frozen=True):
    """The body of an answer."""

    result: Any = None
    error: Fault | None = None


class Ask(msgspec.Struct, frozen=True):
    """The body of a request."""

    args: list[Any] = []
    kwargs: dict[str, Any] = {}


_reply = msgspec.json.Decoder(Reply)
_ask = msgspec.json.Decoder(Ask)


def ask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Return the body of a request."""
    if not args and not kwargs:
        return b""
    body: dict[str, Any] = {}
    if args:
        body["args"] = args
    if kwargs:
        body["kwargs"] = kwargs
    return _json.encode(body)


def asked(raw: Raw) -> Ask:
    """Read the body of a request; ``Invalid`` if it is none."""
    if not raw.data:
        return Ask()
    try:
        return _ask.decode(raw.data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise Invalid(f'the request must be {{"args": […], "kwargs": {{…}}}}: {e}') from None


def answered(raw: Raw) -> Any:
    """Return the result in the body of an answer, or raise the error that it holds."""
    try:
        reply = _reply.decode(raw.data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise Corrupt(f"the answer cannot be read: {e}") from None
    if reply.error is not None:
        raise exception(reply.error)
    return reply.result


def exception(fault: Fault) -> Error:
    """Return the exception for an error that came."""
    e = _exception(fault)
    if fault.why:
        e.why = fault.why
        e.holders = tuple(msgspec.convert(h, Holder) for h in fault.holders)
    return e


def _exception(fault: Fault) -> Error:
    kind = of_kind(fault.kind)
    problems = tuple((p.index, p.message) for p in fault.problems)
    if kind is RemoteError:
        return RemoteError(
            fault.message,
            subject=fault.subject,
            type=fault.type,
            arguments=tuple(fault.args),
            trace=fault.trace,
        )
    if kind is Refused:
        return Refused(fault.message, subject=fault.subject, missing=fault.missing, problems=problems)
    if kind is Invalid:
        return Invalid(fault.message, subject=fault.subject, problems=problems)
    return kind(fault.message, subject=fault.subject)


def result(value: Any) -> bytes:
    """Return the body of an answer."""
    return b'{"result":' + _json.encode(value) + b"}"


def error(e: BaseException, trace: bool = False) -> bytes:
    """Return the body of an answer that tells of an error.

    An ``Error`` keeps its kind; any other exception is one that the method raised.
    """
    if isinstance(e, Error) and not isinstance(e, RemoteError) and e.kind != "internal":
        fault = Fault(
            kind=e.kind,
            message=e.message,
            subject=e.subject,
            missing=getattr(e, "missing", ""),
            problems=[Problem(i, m) for i, m in getattr(e, "problems", ())],
            why=e.why,
            holders=list(e.holders),
        )
    else:
        fault = Fault(
            kind="remote",
            message=e.message if isinstance(e, Error) else str(e),
            type=type(e).__name__,
            args=[_plain(a) for a in e.args],
            trace="".join(traceback.format_exception(type(e), e, e.__traceback__)) if trace else "",
        )
    return b'{"error":' + _json.encode(fault) + b"}"


def _plain(argument: Any) -> Any:
    try:
        return _json.decode(_json.encode(argument))
    except Invalid:
        return repr(argument)
