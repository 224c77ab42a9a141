"""Alerts on a node in memory, told to a mail server and a web server on loopback."""

from __future__ import annotations

import asyncio
import email
import email.policy
import logging
import socket
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from voltbus import Bus, Grants
from voltbus.testing import Node, Runner, virtual

from notify.agent import Notify
from notify.outbox import MOST, Event, Outbox
from notify.settings import Quiet, Settings

from .peer import PASSWORD, MailServer, WebServer, make_certificate, web_server


@pytest.fixture
def web() -> Iterator[tuple[WebServer, str]]:
    with web_server() as found:
        yield found


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server


async def started(node: Node, folder: Path, **settings: Any) -> tuple[Runner, Bus]:
    """Run the agent; returns it, and an agent that raises alerts."""
    node.set_document("notify", "config", settings)
    runner = await node.run(Notify(folder))
    return runner, await node.connect("boiler", Grants(call=[]))


def hook(url: str, **more: Any) -> dict[str, Any]:
    return {"webhook": {"chat": {"url": url}}} | more


def smtp(server: MailServer, **more: Any) -> dict[str, Any]:
    mail = {"host": "localhost", "port": server.port, "sender": "node@example.org", "tls": "none"}
    return {"mail": {"operators": mail | {"to": ["operator@example.org"]} | more}}


def keys(web: WebServer) -> list[list[str]]:
    return [[f"{e['key']}{' over' * e['cleared']}" for e in body["events"]] for _, body in web.posts]


@virtual
async def test_alerts_that_come_together_go_together(
    web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, **hook(web[1], group=10))
        await boiler.alert("hot", "boiler is 90 °C", "critical")
        await asyncio.sleep(5)
        await boiler.alert("silent", "no reading")
        await asyncio.sleep(7)
        assert keys(web[0]) == [["hot", "silent"]]
        _, body = web[0].posts[0]
        assert body["text"] == "[memory] 2 alerts"
        assert body["events"][0]["text"] == "boiler is 90 °C"


@virtual
async def test_an_alert_is_told_once_and_again_when_it_is_worse_or_over(
    web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, **hook(web[1], group=0))
        for severity in ("warning", "warning", "critical", "warning"):
            await boiler.alert("hot", f"{severity}", severity)
            await asyncio.sleep(3)
        await boiler.clear("hot")
        await boiler.clear("never-raised")
        await asyncio.sleep(3)
        assert keys(web[0]) == [["hot"], ["hot"], ["hot over"]]


@virtual
async def test_what_is_less_severe_than_wanted_is_not_told(
    web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, **hook(web[1], group=0, severity="critical"))
        await boiler.alert("hot", "warm")
        await boiler.clear("hot")
        await asyncio.sleep(3)
        assert web[0].posts == []


@virtual
async def test_more_than_the_limit_waits_and_goes_in_one(
    web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, **hook(web[1], group=0, limit=2))
        for n in range(6):
            await boiler.alert(f"a{n}", "x")
            await asyncio.sleep(10)
        assert keys(web[0]) == [["a0"], ["a1"]]
        await asyncio.sleep(3600)
        assert keys(web[0])[2] == ["a2", "a3", "a4", "a5"]


@virtual
async def test_in_quiet_hours_only_critical_alerts_are_sent(
    web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:  # its clock begins at midnight
        quiet = {"from": "22:00", "to": "06:00"}
        _, boiler = await started(node, tmp_path, **hook(web[1], group=0, quiet=quiet))
        await boiler.alert("dirty", "filter")
        await boiler.alert("fire", "fire", "critical")
        await asyncio.sleep(5 * 3600)
        assert keys(web[0]) == [["fire"]]
        await asyncio.sleep(3601)
        assert keys(web[0]) == [["fire"], ["dirty"]]


@virtual
async def test_a_server_that_is_out_of_order_is_tried_until_it_is_not(
    mail: MailServer, web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        mail.out_of_order = True
        settings = smtp(mail) | hook(web[1], group=0)
        _, boiler = await started(node, tmp_path, **settings)
        await boiler.alert("hot", "90 °C")
        await asyncio.sleep(40)
        assert keys(web[0]) == [["hot"]]  # the other target does not wait
        assert "out of order" in str(node.health["notify"])
        mail.out_of_order = False
        await asyncio.sleep(120)
        assert len(mail.mails) == 1
        assert node.health["notify"]["status"] == "good"


@virtual
async def test_what_cannot_be_sent_for_too_long_is_given_up_and_counted(tmp_path: Path) -> None:
    with socket.socket() as nobody:  # a port that nothing listens at
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
        async with Node() as node:
            _, boiler = await started(node, tmp_path, **hook(url, group=0, patience=1))
            grants = msgspec.convert({"call": [{"agent": "notify"}]}, Grants)
            panel = await node.connect("panel", grants)
            await boiler.alert("hot", "90 °C")
            await asyncio.sleep(600)
            assert await panel.call("notify", "waiting") == {"chat": 1}
            await asyncio.sleep(2 * 3600)
            assert await panel.call("notify", "waiting") == {"chat": 0}
        book = msgspec.json.decode((tmp_path / "outbox.json").read_bytes())
        assert book["boxes"]["chat"]["dropped"] == 1


@virtual
async def test_a_redirect_is_not_followed(web: tuple[WebServer, str], tmp_path: Path) -> None:
    async with Node() as node:
        web[0].status = 307
        _, boiler = await started(node, tmp_path, **hook(web[1], group=0))
        await boiler.alert("hot", "90 °C")
        await asyncio.sleep(2)
        assert "status 307" in str(node.health["notify"])
        assert len(web[0].posts) == 1


@virtual
async def test_what_waits_outlives_a_restart(web: tuple[WebServer, str], tmp_path: Path) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, **hook(web[1], group=60))
        await boiler.alert("hot", "90 °C")
        await asyncio.sleep(1)
    async with Node() as node:
        node.set_document("notify", "config", hook(web[1], group=0))
        await node.run(Notify(tmp_path))
        boiler = await node.connect("boiler")
        await asyncio.sleep(2)
        assert keys(web[0]) == [["hot"]]
        await boiler.alert("hot", "90 °C")  # still open: nothing new
        await asyncio.sleep(2)
        assert len(web[0].posts) == 1


@virtual
async def test_a_mail_says_what_is_wrong_in_plain_text(mail: MailServer, tmp_path: Path) -> None:
    async with Node() as node:
        _, boiler = await started(node, tmp_path, group=0, **smtp(mail))
        await boiler.alert("hot", "supply is 90 °C\r\nBcc: all@example.org", "critical")
        await asyncio.sleep(2)
        (envelope,) = mail.mails
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert message["Subject"] == "[memory] critical: boiler hot"
        assert message["Bcc"] is None
        assert envelope.rcpt_tos == ["operator@example.org"]
        assert "supply is 90 °C" in message.get_content()


@virtual
async def test_tls_and_a_password_from_a_file_which_no_log_shows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    certificate = make_certificate(tmp_path)
    secret = tmp_path / "password"
    secret.write_text("wrong one\n")
    login = {"tls": "starttls", "user": "voltbus", "password": {"file": str(secret)}}
    with MailServer(certificate) as server:
        async with Node() as node:
            trust = {"ca": str(tmp_path / "cert.pem")}
            _, boiler = await started(node, tmp_path, group=0, **smtp(server, **login, **trust))
            await boiler.alert("hot", "90 °C")
            await asyncio.sleep(2)
            assert "SMTPAuthenticationError" in str(node.health["notify"])
            secret.write_text(f"{PASSWORD}\n")
            await asyncio.sleep(10)
            assert len(server.mails) == 1
    assert PASSWORD not in caplog.text
    assert "wrong one" not in caplog.text


@virtual
async def test_a_server_that_nobody_vouches_for_gets_nothing(tmp_path: Path) -> None:
    with MailServer(make_certificate(tmp_path)) as server:
        async with Node() as node:
            _, boiler = await started(node, tmp_path, group=0, **smtp(server, tls="starttls"))
            await boiler.alert("hot", "90 °C")
            await asyncio.sleep(2)
            assert "CERTIFICATE_VERIFY_FAILED" in str(node.health["notify"])
            assert server.mails == []


@virtual
async def test_the_test_says_which_target_works(
    mail: MailServer, web: tuple[WebServer, str], tmp_path: Path
) -> None:
    async with Node() as node:
        token = {"token": {"env": "VOLTBUS_NO_SUCH_VARIABLE"}}
        settings = smtp(mail) | {"webhook": {"chat": {"url": web[1]} | token}}
        await started(node, tmp_path, **settings)
        grants = msgspec.convert({"call": [{"agent": "notify"}]}, Grants)
        panel = await node.connect("panel", grants)
        said = await panel.call("notify", "test")
        assert said["operators"] == "sent"
        assert "the environment has no such variable" in said["chat"]


@virtual
async def test_a_token_goes_along(
    web: tuple[WebServer, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0ken")
    async with Node() as node:
        target = {"url": web[1], "token": {"env": "HOOK_TOKEN"}}
        _, boiler = await started(node, tmp_path, group=0, webhook={"chat": target})
        await boiler.alert("hot", "90 °C")
        await asyncio.sleep(2)
        assert web[0].posts[0][0]["Authorization"] == "Bearer t0ken"


def test_an_outbox_that_is_full_counts_what_gave_way() -> None:
    box, now = Outbox(), datetime(2026, 1, 1, tzinfo=timezone.utc)
    for n in range(MOST + 3):
        box.add(Event("a", str(n), "", "warning", now))
    assert (len(box.waiting), box.dropped, box.waiting[0].key) == (MOST, 3, "3")


@pytest.mark.parametrize(
    ("span", "hour", "quiet"),
    [(("22:00", "06:00"), 23, True), (("22:00", "06:00"), 6, False), (("12:00", "13:00"), 12, True)],
)
def test_quiet_hours_may_go_over_midnight(span: tuple[str, str], hour: int, quiet: bool) -> None:
    assert Quiet(*span).covers(datetime(2026, 1, 1, hour, tzinfo=timezone.utc)) is quiet
    east = Quiet(*span, zone="Asia/Tokyo")  # nine hours ahead
    assert east.covers(datetime(2026, 1, 1, (hour - 9) % 24, tzinfo=timezone.utc)) is quiet


MAIL = {"host": "h", "to": ["a@example.org"], "sender": "b@example.org"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mail": {"m": MAIL | {"to": ["someone"]}}}, "addresses such as"),
        ({"mail": {"m": MAIL | {"user": "u"}}}, "user and password go together"),
        ({"mail": {"m": MAIL | {"user": "u", "password": "word"}}}, "Expected `object"),
        (
            {"mail": {"m": MAIL | {"user": "u", "password": {"env": "A"}, "tls": "none"}}},
            "use starttls",
        ),
        ({"mail": {"m": MAIL | {"user": "u", "password": {}}}}, "give a file, or env"),
        ({"mail": {"m": MAIL}, "webhook": {"m": {"url": "http://h/"}}}, "rename one"),
        ({"webhook": {"w": {"url": "ftp://h"}}}, "begins with https"),
        ({"quiet": {"from": "25:00", "to": "06:00"}}, "no time of the day"),
        ({"quiet": {"from": "22:00", "to": "06:00", "zone": "Mars"}}, "write one such as"),
        ({"limit": 0}, "from 1 to 3600"),
        ({"severity": "loud"}, "Invalid enum value 'loud'"),
    ],
)
def test_settings_that_are_wrong_say_what_to_write(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(settings, Settings)
