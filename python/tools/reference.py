"""Writes docs/reference/python.md from the docstrings of the public modules."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
MODULES = (
    "voltbus",
    "voltbus.errors",
    "voltbus.model",
    "voltbus.grant",
    "voltbus.document",
    "voltbus.control",
    "voltbus.operations",
    "voltbus.schedule",
    "voltbus.meters",
    "voltbus.rule",
    "voltbus.clock",
    "voltbus.path",
    "voltbus.log",
    "voltbus.testing",
)
HEAD = """# Python SDK

Generated from the sources by `make generate`. The SDK is in the program itself: the supervisor
installs it for each agent. It needs Python 3.10 or later.
"""


def reference() -> str:
    """Return the page."""
    parts = [HEAD]
    shown: set[int] = set()
    for name in MODULES:
        module = importlib.import_module(name)
        parts.append(f"## `{name}`\n\n{_prose(inspect.getdoc(module) or '')}\n")
        for thing in sorted(module.__all__, key=str.lower):
            found = getattr(module, thing)
            if id(found) in shown or not _documented(found):
                continue
            shown.add(id(found))
            parts += _entry(thing, found)
    return "\n".join(parts)


def _documented(found: Any) -> bool:
    return inspect.isclass(found) or callable(found)


def _entry(name: str, found: Any) -> list[str]:
    is_class = inspect.isclass(found)
    parts = [f"### `{name}{_signature(found)}`\n\n{_prose(inspect.getdoc(found) or '')}\n"]
    if not is_class and inspect.isroutine(found):
        return parts
    kind = found if is_class else type(found)
    for base in inspect.getmro(kind):
        if not base.__module__.startswith("voltbus"):
            continue
        for method, value in vars(base).items():
            member = inspect.getattr_static(kind, method)
            if method.startswith("_") or member is not value:
                continue
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            doc = inspect.getdoc(function)
            if not inspect.isroutine(function) or not doc:
                continue
            shape = "" if isinstance(value, property) else _signature(function)
            mark = "async " if inspect.iscoroutinefunction(function) else ""
            text = _prose(doc).replace("\n", "\n  ")
            parts.append(f"- **`{mark}{method}{shape}`**: {text}\n")
    return parts


def _signature(function: Any) -> str:
    if inspect.isclass(function) and issubclass(function, dict):
        # What a mapping maps says more than how it is made.
        shape = next(str(b) for b in function.__orig_bases__)
        return _plain(f"({shape})")
    try:
        text = str(inspect.signature(function))
    except (TypeError, ValueError):
        return ""
    text = _plain(text)
    return text if inspect.isroutine(function) or len(text) < 90 else "(…)"


def _plain(text: str) -> str:
    for noise in ("self, ", "(self)", "cls, ", "'", "voltbus.model.", "voltbus.grant.", "typing."):
        text = text.replace(noise, "()" if noise == "(self)" else "")
    return text


def _prose(text: str) -> str:
    """Return a docstring as Markdown: literal blocks are fenced."""
    lines, out, fenced = text.splitlines(), [], False
    for i, line in enumerate(lines):
        begins = line.startswith(("    ", ">>>")) and not fenced
        if begins:
            out.append("```python" if not out or "::" not in "".join(out[-2:]) else "```")
            fenced = True
        if fenced and line and not line.startswith(("    ", ">>>", "...")) and not _answer(lines, i):
            while out and not out[-1]:
                out.pop()
            out += ["```", ""]
            fenced = False
        out.append(line.removeprefix("    ") if fenced else line.replace("``", "`"))
    if fenced:
        out.append("```")
    return "\n".join(
        line.removesuffix("::") + ":" if line.endswith("::") and line != "::" else line
        for line in out
        if line != "::"
    )


def _answer(lines: list[str], i: int) -> bool:
    """Whether the line is what an example prints."""
    return i > 0 and lines[i - 1].startswith((">>>", "..."))


if __name__ == "__main__":
    FILE.write_text(reference())
    sys.stdout.write(f"wrote {FILE.name}\n")
