"""Where answers may go."""

from __future__ import annotations

import pytest

from voltbus._protocol import Raw
from voltbus._serve import _answerable


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("", True),
        ("_INBOX.a%2Eb.x", True),
        ("_INBOX.a.b.x", False),
        ("_INBOX.other.x", False),
        ("_INBOX.a%2Eb", False),
        ("live.scan.site", False),
        ("rpc.node.me.config_set", False),
        ("$JS.API.STREAM.PURGE.LOG", False),
    ],
)
def test_only_who_asks_gets_the_answer(reply: str, wanted: bool) -> None:
    assert _answerable(Raw("rpc.me.a%2Eb.limit", reply, b"", b"")) is wanted


def test_the_node_gets_its_answer_in_any_inbox() -> None:
    assert _answerable(Raw("rpc.me.node.limit", "_INBOX.whatever.1", b"", b""))
