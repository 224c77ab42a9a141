import contextlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voltbus._protocol import (
    BrokenError,
    Parser,
    Raw,
    encode_headers,
    message,
    parse_headers,
    parse_violation,
)

STREAM = (
    b'INFO {"nonce":"x"}\r\nMSG a.b 7 5\r\nhello\r\nPING\r\n'
    b"MSG a.c 8 _INBOX.w.1 0\r\n\r\n"
    b"HMSG a.d 9 24 26\r\nNATS/1.0\r\nKey: v a l\r\n\r\nhi\r\n"
    b"-ERR 'Stale Connection'\r\nHMSG r 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
)
EXPECTED = [
    ("INFO", '{"nonce":"x"}'),
    ("7", Raw("a.b", "", b"", b"hello")),
    ("PING", ""),
    ("8", Raw("a.c", "_INBOX.w.1", b"", b"")),
    ("9", Raw("a.d", "", b"NATS/1.0\r\nKey: v a l\r\n\r\n", b"hi")),
    ("-ERR", "'Stale Connection'"),
    ("1", Raw("r", "", b"NATS/1.0 503\r\n\r\n", b"")),
]


def read(*pieces: bytes) -> list[tuple[str, object]]:
    seen: list[tuple[str, object]] = []
    parser = Parser(lambda sid, raw: seen.append((sid, raw)), lambda v, r: seen.append((v, r)))
    for piece in pieces:
        parser.feed(piece)
    return seen


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_it_does_not_matter_in_which_pieces_a_stream_comes(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in pairwise(edges))) == EXPECTED


def test_headers_and_status_are_read() -> None:
    raws = [item for _, item in read(STREAM) if isinstance(item, Raw)]
    assert raws[2].headers == {"Key": "v a l"}
    assert [r.status for r in raws] == [0, 0, 0, 503]


@given(st.binary(max_size=400))
def test_whatever_comes_the_parser_either_reads_it_or_says_that_it_is_broken(data: bytes) -> None:
    with contextlib.suppress(BrokenError):
        read(data)
    with contextlib.suppress(BrokenError):
        read(b"MSG " + data)
    with contextlib.suppress(BrokenError):
        read(b"HMSG a 1 " + data)


@pytest.mark.parametrize(
    "stream",
    [
        b"MSG a\r\n",
        b"MSG a 1 x\r\n",
        b"MSG a 1 -1\r\n",
        b"MSG a 1 99999999999\r\n",
        b"HMSG a 1 9 3\r\n",
        b"MSG a 1 2\r\nhello\r\n",
        b"x" * 70_000,
    ],
)
def test_a_broken_stream_is_told(stream: bytes) -> None:
    with pytest.raises(BrokenError):
        read(stream)


@given(
    st.dictionaries(
        st.text("abcXYZ-", min_size=1),
        st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=":")),
    ),
    st.binary(),
)
def test_headers_come_back_as_they_were(headers: dict[str, str], data: bytes) -> None:
    assert parse_headers(encode_headers(headers)) == headers
    line, _, rest = message("a.b", data, "r", headers).partition(b"\r\n")
    assert line.startswith(b"HPUB a.b r " if headers else b"PUB a.b r ")
    assert rest.endswith(data + b"\r\n")


@pytest.mark.parametrize("headers", [{"": "x"}, {"a:b": "x"}, {"a": "x\r\ny"}, {" a": "x"}])
def test_a_header_that_none_can_be_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a header is one line"):
        encode_headers(headers)


def test_violations_are_recognised_with_odd_subjects() -> None:
    assert parse_violation('Permissions Violation for Publish to "a.\\"b"') == ("publish", 'a."b')
    text = 'Permissions Violation for Subscription to "live.>" using queue "q"'
    assert parse_violation(text) == ("subscription", "live.>")
    assert parse_violation("Stale Connection") is None
