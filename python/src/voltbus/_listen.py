"""Subscriptions of a bus: patterns and prefixes ⇄ subjects, and messages ⇄ values."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from ._protocol import Raw
from ._stream import Need, Stream, below, message_need, scan_need
from ._transport import Transport
from .errors import Invalid
from .grant import Fence, Standing, subscribe_subjects
from .model import Message, Sample, Scan
from .path import Pattern, parse_subject, parse_token, token

log = logging.getLogger("voltbus")

QUEUE = 8192  # messages that may wait in one subscription

_scan = msgspec.json.Decoder(Scan)


class Listening:
    """The part of a bus that subscribes."""

    name: str
    standing: Standing
    _transport: Transport
    _may_subscribe: Fence

    def __init__(self) -> None:
        self._streams: set[Stream[Any]] = set()
        self._subjects: dict[str, list[Stream[Any]]] = {}

    def samples(self, *patterns: str, prefix: str | None = None, queue: int = QUEUE) -> Stream[Sample]:
        """Return a stream of the samples that devices report live, of the points selected.

        ``prefix`` selects by the first characters of the path in place of patterns. A stream ends
        with ``Refused`` if the grants do not allow it. Each sample comes once.
        """
        wanted = [Pattern(p) for p in patterns]
        stream: Stream[Sample] = Stream(_title(patterns, prefix), queue, self._forget)

        def take(select: Callable[[str], bool]) -> Callable[[Raw], None]:
            def deliver(raw: Raw) -> None:
                scan = _decoded(_scan, raw)
                for sample in scan if scan is not None else ():
                    if select(sample.point):
                        stream.put(sample)

            return deliver

        return self._listen(stream, wanted, prefix, "live.scan.", take)

    def scans(self, *patterns: str, prefix: str | None = None, queue: int = QUEUE) -> Stream[Scan]:
        """Return a stream of whole scans, of the devices selected by their paths."""
        stream: Stream[Scan] = Stream(_title(patterns, prefix), queue, self._forget)

        def take(select: Callable[[str], bool]) -> Callable[[Raw], None]:
            def deliver(raw: Raw) -> None:
                scan = _decoded(_scan, raw)
                if scan is not None and select(scan.device):
                    stream.put(scan)

            return deliver

        return self._listen(stream, [Pattern(p) for p in patterns], prefix, "live.scan.", take)

    def messages(
        self,
        *patterns: str,
        prefix: str | None = None,
        sender: str | None = None,
        queue: int = QUEUE,
    ) -> Stream[Message]:
        """Return a stream of the messages on the topics selected, of one sender or of all."""
        stream: Stream[Message] = Stream(_title(patterns, prefix), queue, self._forget)

        def take(select: Callable[[str], bool]) -> Callable[[Raw], None]:
            def deliver(raw: Raw) -> None:
                message = _message(raw)
                if message is not None and select(message.topic):
                    stream.put(message)

            return deliver

        wanted = [Pattern(p) for p in patterns]
        return self._listen(stream, wanted, prefix, f"msg.{token(sender) if sender else '*'}.", take)

    def _listen(
        self,
        stream: Stream[Any],
        wanted: list[Pattern],
        prefix: str | None,
        kind: str,
        take: Callable[[Callable[[str], bool]], Callable[[Raw], None]],
    ) -> Stream[Any]:
        if bool(wanted) == (prefix is not None):
            raise Invalid('name patterns, or a prefix; "**" is everything')
        self._raise_late()
        self._streams.add(stream)
        if prefix is not None:
            for need in self._granted_below(kind, prefix):
                self._take(stream, need, take(lambda path: path.startswith(prefix)))
            return stream
        for i, pattern in enumerate(wanted):
            # What an earlier pattern selects comes by that one: each item comes once.
            before = tuple(wanted[:i])
            need = (
                scan_need(pattern)
                if kind == "live.scan."
                else message_need(pattern, None if kind == "msg.*." else parse_token(kind[4:-1]))
            )
            deliver = take(
                lambda path, pattern=pattern, before=before: (
                    pattern.match(path)  # type: ignore[misc]
                    and not any(b.match(path) for b in before)
                )
            )
            self._take(stream, need, deliver)
        return stream

    def _take(self, stream: Stream[Any], need: Need, deliver: Callable[[Raw], None]) -> None:
        for to in need.must + [s for s in need.also if self._may_subscribe.admits(s)]:
            self._subjects.setdefault(to, []).append(stream)
            stream.attach([self._transport.subscribe(to, deliver)])

    def _granted_below(self, kind: str, prefix: str) -> list[Need]:
        """Return what to subscribe to for a prefix: all, or else what of it is granted."""
        wide, *also = below(kind, prefix)
        if self._may_subscribe.admits(wide):
            return [Need([wide], also)]
        parts: list[str] = []
        for to in subscribe_subjects(self.name, self.standing.grants):
            if to.startswith(kind):
                path = _readable(to[len(kind) :])
                if path.startswith(prefix) or prefix.startswith(path):
                    parts.append(to)
        return [Need([to], []) for to in parts] or [Need([wide], [])]

    def _forget(self, stream: Stream[Any]) -> None:
        self._streams.discard(stream)
        for to, streams in list(self._subjects.items()):
            if stream in streams:
                streams.remove(stream)
            if not streams:
                del self._subjects[to]

    def _raise_late(self) -> None:
        raise NotImplementedError


def _decoded(decoder: msgspec.json.Decoder[Any], raw: Raw) -> Any:
    try:
        return decoder.decode(raw.data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        log.warning("a message cannot be read", extra={"subject": raw.subject, "err": str(e)})
        return None


def _message(raw: Raw) -> Message | None:
    try:
        _, sender, topic = raw.subject.split(".", 2)
        head = parse_subject(topic), parse_token(sender)
    except (ValueError, Invalid):
        return None
    try:
        body = msgspec.json.decode(raw.data) if raw.data else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        body = raw.data
    return Message(*head, body, raw.headers if raw.head else {})


def _title(patterns: tuple[str, ...], prefix: str | None) -> str:
    return f"{prefix}…" if prefix is not None else " ".join(patterns)


def _readable(tokens: str) -> str:
    """Return what all paths below a granted subject begin with."""
    whole = tokens.split("*", maxsplit=1)[0].removesuffix(">")
    return "/".join([parse_token(t) if t else "" for t in whole.split(".")])


def capability(kind: str, to: str) -> str:
    """Return the capability that a subject needs, as a grant command takes it."""
    parts = to.split(".")
    try:
        if parts[0] == "rpc" and len(parts) > 3:
            return f"call {parse_token(parts[1])}:{parse_token(parts[3])}"
        verb = "publish" if kind == "publish" else "subscribe"
        path = [{"*": "*", ">": "**"}.get(t) or parse_token(t) for t in parts[2:]]
        return f"{verb} {'/'.join(path)}"
    except Invalid:
        return f"{kind} {to}"
