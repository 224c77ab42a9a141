import pytest

from voltbus.errors import Invalid
from voltbus.path import Pattern, check_name, parse_subject, parse_token, subject, token


@pytest.mark.parametrize(
    ("pattern", "path", "selected"),
    [
        ("", "anything/at/all", True),
        ("campus/b1", "campus/b1", True),
        ("campus/b1", "campus/b1/ahu/temp", True),
        ("campus/b1", "campus/b10", False),
        ("campus/*/ahu*/temp", "campus/b1/ahu2/temp", True),
        ("campus/*/ahu*/temp", "campus/b1/floor/ahu2/temp", False),
        ("**/temp", "temp", True),
        ("**/temp", "a/b/temp", True),
        ("**/temp", "a/b/temperature", False),
        ("a/**", "a", True),
        ("a/**", "a/b/c", True),
        ("a/**", "ab", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/y/c", False),
        ("**/**/x", "x", True),
        ("**/x/**", "a/x", True),
        ("a/*", "a", False),
        ("a/*", "a/", True),
        ("a*c", "abc", True),
        ("a.c", "abc", False),
        ("(a", "(a/b", True),
    ],
)
def test_a_pattern_selects_as_the_node_does(pattern: str, path: str, selected: bool) -> None:
    assert Pattern(pattern).match(path) is selected


@pytest.mark.parametrize(
    ("path", "tokens"),
    [
        ("campus/b 1/ahu", "campus.b%201.ahu"),
        ("a.b/*/>", "a%2Eb.%2A.%3E"),
        ("100%", "100%25"),
        ("a//b", "a.%00.b"),
        ("Süd/Büro", "Süd.Büro"),
    ],
)
def test_a_path_becomes_a_subject_and_comes_back(path: str, tokens: str) -> None:
    assert subject("live.scan.", path) == f"live.scan.{tokens}"
    assert parse_subject(tokens) == path


def test_a_name_is_one_token_even_with_dots_and_slashes() -> None:
    assert token("platform.actuator") == "platform%2Eactuator"
    assert parse_token(token("a/b.c d")) == "a/b.c d"


@pytest.mark.parametrize("text", ["", "a b", "a*", "%zz", "%0", "%2e", "a%00b"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_token(text)


@pytest.mark.parametrize("name", ["", ".hidden", "a b", "node", "x" * 65, "a/b", "ä"])
def test_no_agent_can_have_such_a_name(name: str) -> None:
    with pytest.raises(Invalid):
        check_name(name)
