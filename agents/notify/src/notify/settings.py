"""What people set: where alerts go, and when."""

from __future__ import annotations

import os
from datetime import datetime, time
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec
from voltbus import Config, NotFound

Severity = Literal["info", "warning", "critical"]
RANK: dict[str, int] = {"info": 0, "warning": 1, "critical": 2}


class Secret(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A word that is not in the settings, because many may read these: in a file or the environment.

    A relative ``file`` is one in the agent's own folder; only its first line counts.
    """

    file: str = ""
    env: str = ""

    def __post_init__(self) -> None:
        if bool(self.file) == bool(self.env):
            raise ValueError("give a file, or env with the name of a variable")

    def read(self) -> str:
        """Return it; ``NotFound`` says what is missing, without telling anything of the word."""
        if self.env:
            if not (word := os.environ.get(self.env)):
                raise NotFound("the environment has no such variable", subject=self.env)
            return word
        try:
            lines = Path(self.file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as e:
            reason = getattr(e, "strerror", None) or "is no text"
            raise NotFound(f"the secret cannot be read: {reason}", subject=self.file) from None
        if not lines or not lines[0].strip():
            raise NotFound("the file's first line is empty", subject=self.file)
        return lines[0].strip()


class Mail(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mail server. ``ca`` is a file with certificates to trust in place of the system's."""

    host: str
    to: list[str]
    sender: str
    port: int = 0  # 587 with starttls, 465 with tls, 25 without
    tls: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    password: Secret | None = None
    ca: str = ""

    def __post_init__(self) -> None:
        if not self.to or not all("@" in a for a in (*self.to, self.sender)):
            raise ValueError("sender and to are addresses such as operator@example.org")
        if bool(self.user) != (self.password is not None):
            raise ValueError("user and password go together")
        if self.user and self.tls == "none":
            raise ValueError("tls: none would send the password for all to read; use starttls or tls")


class Webhook(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An address that takes JSON by POST. ``token`` is sent as ``Authorization: Bearer``."""

    url: str | Secret
    token: Secret | None = None
    ca: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.url, str) and not self.url.startswith(("https://", "http://")):
            raise ValueError("url begins with https:// or http://")


class Quiet(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A time of the day at which only critical alerts are sent; the others wait for its end."""

    begin: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    zone: str = "UTC"

    def __post_init__(self) -> None:
        for text in (self.begin, self.end):
            try:
                time.fromisoformat(text)
            except ValueError:
                raise ValueError(f"{text!r} is no time of the day; write 22:00") from None
        try:
            ZoneInfo(self.zone)
        except (KeyError, OSError, ValueError):
            raise ValueError(
                f"zone {self.zone!r} is not known; write one such as Europe/Berlin"
            ) from None

    def covers(self, now: datetime) -> bool:
        """Report whether it is quiet at a moment."""
        local = now.astimezone(ZoneInfo(self.zone)).time()
        begin, end = time.fromisoformat(self.begin), time.fromisoformat(self.end)
        return begin <= local < end if begin <= end else local >= begin or local < end


class Settings(Config):
    """Where alerts go, by names, and when.

    ``group`` is how many seconds an alert waits for others to go along. ``limit`` is how many messages
    a target gets in an hour; what is more waits and goes in one. A message that cannot be sent is tried
    again, at growing distance, for ``patience`` hours. ``clear`` tells also of alerts that are over.
    """

    mail: dict[str, Mail] = {}
    webhook: dict[str, Webhook] = {}
    severity: Severity = "warning"
    group: float = 30.0
    limit: int = 20
    quiet: Quiet | None = None
    patience: float = 24.0
    clear: bool = True

    def __post_init__(self) -> None:
        if both := set(self.mail) & set(self.webhook):
            raise ValueError(f"mail and webhook have both a {sorted(both)[0]!r}; rename one")
        if not 0 <= self.group <= 3600:
            raise ValueError("group is a number of seconds from 0 to 3600")
        if not 1 <= self.limit <= 3600:
            raise ValueError("limit is a number of messages in an hour, from 1 to 3600")
        if not 0 < self.patience <= 24 * 14:
            raise ValueError("patience is a number of hours above 0, at most 336")

    def targets(self) -> dict[str, Mail | Webhook]:
        """Return all targets by name."""
        return {**self.mail, **self.webhook}
