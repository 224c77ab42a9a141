"""What can go wrong, as exceptions.

The tree, with the kind's name on the wire behind each::

    Error                     internal      a defect: nobody classified it
    ├── Invalid               invalid       the request is wrong: change it
    ├── NotFound              not-found     the agent, method, point or document does not exist
    ├── Unreachable           unreachable   nobody listens there, or the connection is down
    ├── Timeout               timeout       no answer in time; the outcome is unknown
    ├── Refused               refused       a capability is missing; ``missing`` names it
    ├── Conflict              conflict      somebody else holds it, or it exists already
    ├── Unavailable           unavailable   not now: full, starting, or too busy
    ├── Corrupt               corrupt       bytes fail their checksum or format
    ├── Rejected              rejected      the device answered, and said no
    ├── Canceled              canceled      the caller gave up
    └── RemoteError           remote        the method of the other agent raised

``Timeout`` is also a ``TimeoutError`` and ``Unreachable`` a ``ConnectionError``, so that code
which knows only Python's own exceptions does the right thing.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "Canceled",
    "Conflict",
    "Corrupt",
    "Error",
    "Invalid",
    "NotFound",
    "Refused",
    "Rejected",
    "RemoteError",
    "Timeout",
    "Unavailable",
    "Unreachable",
]


class Error(Exception):
    """An error with its kind and the thing it is about.

    ``str(error)`` says in a sentence what happened and, where something can be done, what to do.
    Of a refusal of control, ``why`` names the reason for programs, such as ``held``, ``reserved`` or
    ``range``, and ``holders`` lists who stands in the way.
    """

    kind: ClassVar[str] = "internal"

    def __init__(self, message: str, *, subject: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.subject = subject
        self.why = ""
        self.holders: tuple[Any, ...] = ()

    def __str__(self) -> str:
        """Return the message, after what it is about."""
        return f"{self.subject}: {self.message}" if self.subject else self.message


class Invalid(Error):
    """The request is wrong and will be wrong again: change it.

    ``problems`` lists what is wrong with single samples of a record, as ``(index, message)``.
    """

    kind: ClassVar[str] = "invalid"

    def __init__(
        self, message: str, *, subject: str = "", problems: tuple[tuple[int, str], ...] = ()
    ) -> None:
        super().__init__(message, subject=subject)
        self.problems = problems


class NotFound(Error):
    """The agent, method, point or document does not exist."""

    kind: ClassVar[str] = "not-found"


class Unreachable(Error, ConnectionError):
    """Nobody listens there, or the connection to the node is down."""

    kind: ClassVar[str] = "unreachable"


class Timeout(Error, TimeoutError):
    """No answer came in time; whether the request was carried out is unknown."""

    kind: ClassVar[str] = "timeout"


class Refused(Error):
    """A capability is missing. ``missing`` names it as a grant command takes it.

    ``problems`` lists which samples of a record were refused, as ``(index, message)``.
    """

    kind: ClassVar[str] = "refused"

    def __init__(
        self,
        message: str,
        *,
        subject: str = "",
        missing: str = "",
        problems: tuple[tuple[int, str], ...] = (),
    ) -> None:
        super().__init__(message, subject=subject)
        self.missing = missing
        self.problems = problems


class Conflict(Error):
    """Somebody else holds it, or it exists already."""

    kind: ClassVar[str] = "conflict"


class Unavailable(Error):
    """It cannot be done now: a queue or disk is full, or a part is still starting."""

    kind: ClassVar[str] = "unavailable"


class Corrupt(Error):
    """Bytes fail their checksum or format."""

    kind: ClassVar[str] = "corrupt"


class Rejected(Error):
    """The device answered, and said no."""

    kind: ClassVar[str] = "rejected"


class Canceled(Error):
    """The caller gave up."""

    kind: ClassVar[str] = "canceled"


class RemoteError(Error):
    """The method of the other agent raised.

    ``type`` is the exception's class there, such as ``ValueError``; ``args`` are its arguments as
    far as JSON can say them. ``trace`` is where it was raised, and empty unless the caller holds
    ``trace`` or administers.
    """

    kind: ClassVar[str] = "remote"

    def __init__(
        self,
        message: str,
        *,
        subject: str = "",
        type: str = "",
        arguments: tuple[Any, ...] = (),
        trace: str = "",
    ) -> None:
        super().__init__(message, subject=subject)
        self.type = type
        self.args = arguments
        self.trace = trace

    def __str__(self) -> str:
        """Return the other agent's exception as Python prints one."""
        text = f"{self.type}: {self.message}" if self.type else self.message
        return f"{self.subject}: {text}" if self.subject else text


_KINDS: dict[str, type[Error]] = {
    cls.kind: cls
    for cls in (
        Error,
        Invalid,
        NotFound,
        Unreachable,
        Timeout,
        Refused,
        Conflict,
        Unavailable,
        Corrupt,
        Rejected,
        Canceled,
        RemoteError,
    )
}


def of_kind(kind: str) -> type[Error]:
    """Return the exception for a kind's name; ``Error`` for one that is unknown."""
    return _KINDS.get(kind, Error)
