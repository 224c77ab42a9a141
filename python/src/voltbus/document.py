"""Configuration documents: versioned texts that people edit and agents read."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from . import _json
from .errors import Corrupt, Invalid
from .model import Document

if TYPE_CHECKING:
    from .bus import Bus

__all__ = ["Documents", "News"]

log = logging.getLogger("voltbus.document")


class News(msgspec.Struct, frozen=True):
    """What happened to a document: ``action`` is set or delete."""

    owner: str = ""
    name: str = ""
    action: str = ""
    version: int = 0


class Documents:
    """The documents of an agent, and of others as far as it may see them.

    Without ``owner`` the own ones are meant; ``shared`` are those of all. Names do not mind case.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._watchers: list[Callable[[News], None]] = []

    async def list(self, owner: str = "") -> builtins.list[Document]:
        """Return the newest versions, without their texts."""
        answer = await self._ask("config_list", owner=owner)
        return _documents(answer)

    async def get(self, name: str, *, owner: str = "", version: int = 0) -> Document:
        """Return a document, the newest version unless one is named; ``NotFound`` if none."""
        return _document(await self._ask("config_get", owner=owner, name=name, version=version or None))

    async def set(  # noqa: PLR0913
        self,
        name: str,
        content: Any = None,
        *,
        text: str | None = None,
        type: str = "json",
        owner: str = "",
        note: str = "",
        expect: int | None = None,
    ) -> Document:
        """Write a new version: ``content`` as JSON, or a ``text`` of a type (yaml, json, csv, text).

        With ``expect`` it must be the version behind that one, or ``Conflict`` is raised.
        """
        if text is None:
            text = msgspec.json.format(_json.encode(content), indent=2).decode()
        ask: dict[str, Any] = {"owner": owner, "name": name, "text": text, "type": type}
        answer = await self._ask("config_set", **ask, note=note, expect=expect)
        return _document({"owner": owner, "name": name} | (answer or {}))

    async def delete(self, name: str, *, owner: str = "") -> None:
        """Delete a document. Its versions stay in the history."""
        await self._ask("config_delete", owner=owner, name=name)

    async def history(self, name: str, *, owner: str = "") -> builtins.list[Document]:
        """Return all versions, without their texts."""
        return _documents(await self._ask("config_history", owner=owner, name=name))

    async def _ask(self, method: str, **ask: Any) -> Any:
        return await self._bus.node(
            method, **{k: v for k, v in ask.items() if v not in ("", None) or k == "text"}
        )

    def watch(self, callback: Callable[[News], None]) -> None:
        """Have a function called when a document changes that this agent may read."""
        self._watchers.append(callback)

    def on_news(self, data: bytes) -> None:
        """Take what the node tells."""
        try:
            news = msgspec.json.decode(data, type=News)
        except msgspec.MsgspecError as e:
            log.warning("news of a document cannot be read", extra={"err": str(e)})
            return
        for callback in self._watchers:
            callback(news)


def _documents(answer: Any) -> builtins.list[Document]:
    if isinstance(answer, dict):
        answer = answer.get("documents", answer.get("versions", []))
    return [_document(d) for d in answer or []]


def _document(answer: Any) -> Document:
    try:
        document = msgspec.convert(answer, Document)
    except msgspec.ValidationError as e:
        raise Corrupt(f"the node's answer cannot be read: {e}") from None
    if "content" in answer or not document.text:
        return document
    return msgspec.structs.replace(document, content=content_of(document))


def content_of(document: Document) -> Any:
    """Return what a document's text says, by its type."""
    if document.type == "json":
        return _json.decode(document.text.encode())
    if document.type == "csv":
        import csv

        return list(csv.DictReader(document.text.removeprefix("\ufeff").splitlines()))
    if document.type == "yaml":
        return _yaml(document)
    return document.text


def _yaml(document: Document) -> Any:
    try:
        import yaml
    except ImportError:
        message = "the document is YAML, for which PyYAML is needed; install it, or write JSON"
        raise Invalid(message, subject=document.name) from None
    try:
        return yaml.safe_load(document.text)
    except yaml.YAMLError as e:
        raise Invalid(f"not YAML: {e}", subject=document.name) from None
