"""The wire: HTTP to the search engine. ``ask`` blocks; it runs in a thread."""

from __future__ import annotations

import base64
import http.client
import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

SECONDS = 30.0  # that the server may take for an answer
MOST = 8 << 20  # bytes of an answer
FAILURES = (OSError, http.client.HTTPException, ValueError)


class Secret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A word that is not in the settings: in a file, whose first line counts, or the environment."""

    file: str = ""
    env: str = ""

    def __post_init__(self) -> None:
        if bool(self.file) == bool(self.env):
            raise ValueError("give a file, or env with the name of a variable")

    def read(self) -> str:
        """Return it; an ``OSError`` or ``ValueError`` says what is missing."""
        word = os.environ.get(self.env, "") if self.env else Path(self.file).read_text("utf-8")
        if not (word := word.partition("\n")[0].strip()):
            raise ValueError(f"the password in {self.env or self.file} is empty; write it there")
        return word


class Server(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where the search engine is.

    Without ``user`` the password is an API key. ``ca`` is a file with certificates to trust.
    """

    url: str
    user: str = ""
    password: Secret | None = None
    ca: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ValueError("url is that of the server, such as https://search.example:9200")

    def _authorization(self) -> dict[str, str]:
        if self.password is None:
            return {}
        word = self.password.read()
        if not self.user:
            return {"Authorization": f"ApiKey {word}"}
        pair = base64.b64encode(f"{self.user}:{word}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}

    def ask(self, index: str, body: dict[str, Any]) -> bytes:
        """Search an index; raises one of ``FAILURES`` if the server does not answer, or says no."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        if parts.scheme == "https":
            trust = ssl.create_default_context(cafile=self.ca or None)
            line: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, parts.port, timeout=SECONDS, context=trust
            )
        else:
            line = http.client.HTTPConnection(host, parts.port, timeout=SECONDS)
        headers = {"Content-Type": "application/json"} | self._authorization()
        place = f"{parts.path.rstrip('/')}/{quote(index, safe='')}/_search"
        try:
            line.request("POST", place, msgspec.json.encode(body), headers)
            answer = line.getresponse()
            text = answer.read(MOST + 1)
        finally:
            line.close()
        if len(text) > MOST:
            raise ValueError(f"the answer is longer than {MOST >> 20} MiB")
        if answer.status != 200:
            raise ValueError(f"{host} answered with status {answer.status}: {_reason(text)}")
        return text


def _reason(text: bytes) -> str:
    """Return the reason in an answer that says no, as far as it has one."""
    try:
        error = msgspec.json.decode(text)["error"]
        return f"{error['type']}: {error['reason']}"[:300]
    except (msgspec.MsgspecError, KeyError, TypeError):
        return "no reason is given"
