"""Paths, patterns, and how they become subjects of the bus."""

from __future__ import annotations

import re
from functools import lru_cache

from .errors import Invalid

__all__ = ["Pattern", "check_name", "parse_subject", "parse_token", "subject", "token"]

_ESCAPE = re.compile(r"[\x00-\x20\x7f.*>%/]")
_BROKEN = re.compile(r"[*> /]|%(?![0-9A-F]{2})")
_HEX = re.compile(r"%([0-9A-F]{2})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_name(name: str) -> str:
    """Return the name of an agent, or raise ``Invalid`` if no agent can be called so."""
    if not _NAME.fullmatch(name):
        raise Invalid(
            "an agent's name has 1 to 64 letters, digits, '.', '_' and '-', "
            "and begins with a letter or digit",
            subject=repr(name),
        )
    if name == "node":
        raise Invalid("'node' is the node itself; choose another name", subject=name)
    return name


@lru_cache(4096)
def token(segment: str) -> str:
    """Return one segment, or a name, as one token of a subject."""
    if not segment:
        return "%00"
    return _ESCAPE.sub(lambda m: f"%{ord(m[0]):02X}", segment)


@lru_cache(4096)
def parse_token(text: str) -> str:
    """Return what ``token`` was given; ``Invalid`` if the text is no such token."""
    if text == "%00":
        return ""
    if not text or _BROKEN.search(text) or "%00" in text:
        raise Invalid("not a token of a subject", subject=repr(text))
    return _HEX.sub(lambda m: chr(int(m[1], 16)), text)


def subject(prefix: str, path: str) -> str:
    """Return a path as a subject: ``subject("live.scan.", "b 1/ahu")`` is ``live.scan.b%201.ahu``."""
    return prefix + ".".join([token(s) for s in path.split("/")])


def parse_subject(text: str) -> str:
    """Return the path of the tokens behind a prefix; the inverse of ``subject``."""
    return "/".join([parse_token(t) for t in text.split(".")])


_DEEP = {  # (is the first segment, is the last) -> any number of segments
    (True, True): r".*",
    (True, False): r"(?:[^/]*/)*",
    (False, True): r"(?:/.*)?",
    (False, False): r"(?:/[^/]*)*",
}


@lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    if "*" not in pattern:
        return re.compile(re.escape(pattern) + r"(?:/.*)?", re.DOTALL)
    segments: list[str] = []
    for segment in pattern.split("/"):
        if segment != "**" or segments[-1:] != ["**"]:
            segments.append(segment)
    out = ""
    for i, segment in enumerate(segments):
        first, last = i == 0, i == len(segments) - 1
        if segment == "**":
            # The slash beside it is part of what may be absent.
            out += _DEEP[first, last]
            continue
        if not first and segments[:i] != ["**"]:
            out += "/"
        out += r"[^/]*".join(re.escape(piece) for piece in re.split(r"\*+", segment))
    return re.compile(out, re.DOTALL)


class Pattern(str):
    """Selects paths.

    ``*`` stands for any run of characters within one segment, ``**`` as a whole segment for any
    number of segments, also none. A pattern without ``*`` selects the path itself and everything
    below it; the empty pattern selects everything.

    >>> Pattern("campus/*/ahu*/temp").match("campus/b1/ahu2/temp")
    True
    >>> Pattern("campus/b1").match("campus/b1/ahu2/temp")
    True
    """

    __slots__ = ()

    def match(self, path: str) -> bool:
        """Report whether the pattern selects the path."""
        return self == "" or _compiled(str(self)).fullmatch(path) is not None

    @property
    def prefix(self) -> str:
        """The whole segments in front of the first wildcard."""
        star = self.find("*")
        if star < 0:
            return str(self)
        slash = self.rfind("/", 0, star)
        return str(self[:slash]) if slash >= 0 else ""

    def tokens(self) -> list[str]:
        """Return the tokens in front of the first ``**``; a segment with ``*`` becomes ``*``."""
        out: list[str] = []
        for segment in self.split("/") if self else []:
            if segment == "**":
                break
            out.append("*" if "*" in segment else token(segment))
        return out

    @property
    def deep(self) -> bool:
        """Whether paths of any depth can match."""
        return "*" not in self or "**" in self.split("/")

    @property
    def bare(self) -> bool:
        """Whether it is granted as it stands: ``*`` is a whole segment, ``**`` only the last."""
        segments = self.split("/")
        return all(s == "*" or "*" not in s for s in segments[:-1]) and (
            segments[-1] in ("*", "**") or "*" not in segments[-1]
        )
