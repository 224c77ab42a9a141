"""The bytes of the NATS protocol ⇄ messages. Pure: no connection, no clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

Headers = Mapping[str, str]

MAX_LINE = 64 << 10
MAX_PAYLOAD = 64 << 20

_CRLF = b"\r\n"
_VERSION = b"NATS/1.0"
_VIOLATION = re.compile(
    r"permissions violation for (publish|subscription)"
    r'(?: with reply of "(?:[^"\\]|\\.)*")?(?: to "((?:[^"\\]|\\.)*)")?',
    re.IGNORECASE,
)


class Raw(NamedTuple):
    """A message as it came. ``head`` is the block of headers, empty if there is none."""

    subject: str
    reply: str
    head: bytes
    data: bytes

    @property
    def status(self) -> int:
        """The number that the server answers with in place of a message; 0 for a message."""
        if not self.head.startswith(_VERSION + b" "):
            return 0
        digits = self.head[len(_VERSION) + 1 : len(_VERSION) + 4]
        return int(digits) if digits.isdigit() else 0

    @property
    def headers(self) -> dict[str, str]:
        """The headers; of one that comes several times the last."""
        return parse_headers(self.head)


class BrokenError(Exception):
    """The other side does not speak this protocol; the connection is of no further use."""


class Parser:
    """Cuts a stream into messages, whatever pieces it comes in.

    ``on_message(sid, raw)`` gets each message and ``on_line(verb, rest)`` everything else, the
    verb in upper case. After ``BrokenError`` the parser must not be fed again.
    """

    def __init__(
        self, on_message: Callable[[str, Raw], None], on_line: Callable[[str, str], None]
    ) -> None:
        self._on_message = on_message
        self._on_line = on_line
        self._pieces: list[bytes] = []
        self._have = 0
        self._need = 0  # so many bytes must be there before it is worth looking again

    def feed(self, data: bytes) -> None:
        """Take bytes, and hand on what is complete."""
        self._pieces.append(data)
        self._have += len(data)
        if self._have < self._need:
            return
        buf = b"".join(self._pieces) if len(self._pieces) > 1 else data
        rest = buf[self._consume(buf) :]
        self._pieces = [rest] if rest else []
        self._have = len(rest)

    def _consume(self, buf: bytes) -> int:
        pos, size = 0, len(buf)
        self._need = 0
        while pos < size:
            end = buf.find(_CRLF, pos)
            if end < 0:
                if size - pos > MAX_LINE:
                    raise BrokenError("a line of the protocol has no end")
                break
            start = buf[pos : pos + 4]
            if start in (b"MSG ", b"HMSG"):
                behind = self._message(buf, pos, end)
                if behind > size:
                    self._need = behind - pos
                    break
                pos = behind
                continue
            verb, _, rest = buf[pos:end].partition(b" ")
            self._on_line(verb.decode("ascii", "replace").upper(), rest.decode("utf-8", "replace"))
            pos = end + 2
        return pos

    def _message(self, buf: bytes, pos: int, end: int) -> int:
        """Return where the message ends, and hand it on if it is whole."""
        fields = buf[pos:end].split()
        headed = fields[0] == b"HMSG"
        fixed = 5 if headed else 4
        if not fixed <= len(fields) <= fixed + 1:
            raise BrokenError("a message without subject or size")
        try:
            total = int(fields[-1])
            head = int(fields[-2]) if headed else 0
        except ValueError:
            raise BrokenError("a message whose size is no number") from None
        if not 0 <= head <= total <= MAX_PAYLOAD:
            raise BrokenError("a message of a size that cannot be")
        start = end + 2
        behind = start + total
        if behind + 2 > len(buf):
            return behind + 2
        if buf[behind : behind + 2] != _CRLF:
            raise BrokenError("a message that does not end where it should")
        reply = fields[3].decode("utf-8", "replace") if len(fields) > fixed else ""
        self._on_message(
            fields[2].decode("ascii", "replace"),
            Raw(
                fields[1].decode("utf-8", "replace"),
                reply,
                buf[start : start + head],
                buf[start + head : behind],
            ),
        )
        return behind + 2


def message(subject: str, data: bytes, reply: str = "", headers: Headers | None = None) -> bytes:
    """Return the bytes that publish a message."""
    to = f"{subject} {reply}" if reply else subject
    if not headers:
        return b"PUB %b %d\r\n%b\r\n" % (to.encode(), len(data), data)
    head = encode_headers(headers)
    return b"HPUB %b %d %d\r\n%b%b\r\n" % (
        to.encode(),
        len(head),
        len(head) + len(data),
        head,
        data,
    )


def encode_headers(headers: Headers) -> bytes:
    """Return a block of headers; ``ValueError`` for a name or value that none can have."""
    lines = [_VERSION]
    for name, value in headers.items():
        line = f"{name}: {value}"
        if not name or ":" in name or name.strip() != name or "\r" in line or "\n" in line:
            raise ValueError(f"{name!r}: a header is one line, and its name holds no colon")
        lines.append(line.encode())
    return _CRLF.join(lines) + b"\r\n\r\n"


def parse_headers(head: bytes) -> dict[str, str]:
    """Return the headers of a block; what is no header is left out."""
    out: dict[str, str] = {}
    for line in head.split(_CRLF)[1:]:
        name, colon, value = line.decode("utf-8", "replace").partition(":")
        if colon and name:
            out[name] = value.strip()
    return out


def parse_violation(text: str) -> tuple[str, str] | None:
    """Return ("publish" or "subscription", subject) of the server's complaint; None if it is none."""
    found = _VIOLATION.search(text)
    if not found:
        return None
    subject = re.sub(r"\\(.)", r"\1", found[2] or "")
    return found[1].lower(), subject
