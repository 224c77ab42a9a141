"""The wire: SMTP and HTTP. These functions block; they run in threads."""

from __future__ import annotations

import http.client
import re
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import make_msgid
from urllib.parse import urlsplit

import msgspec

from .outbox import Event, letter, summary
from .settings import Mail, Secret, Webhook

SECONDS = 30.0  # that a server may take for an answer
FAILURES = (OSError, smtplib.SMTPException, http.client.HTTPException, ValueError)


class Answered(OSError):
    """The server took the request and said no."""


def send(target: Mail | Webhook, node: str, events: list[Event], dropped: int) -> None:
    """Send one message; raises one of ``FAILURES``, or ``NotFound`` for a secret that is missing."""
    if isinstance(target, Mail):
        _mail(target, node, events, dropped)
    else:
        _post(target, node, events, dropped)


def _mail(mail: Mail, node: str, events: list[Event], dropped: int) -> None:
    message = EmailMessage()
    message["From"], message["To"] = mail.sender, ", ".join(mail.to)
    message["Subject"] = re.sub(r"[\x00-\x1f\x7f]+", " ", summary(node, events))[:200]
    message["Message-ID"] = make_msgid(domain=mail.sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    message.set_content(letter(events, dropped))
    trust = ssl.create_default_context(cafile=mail.ca or None)
    if mail.tls == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            mail.host, mail.port or 465, timeout=SECONDS, context=trust
        )
    else:
        port = mail.port or (587 if mail.tls == "starttls" else 25)
        server = smtplib.SMTP(mail.host, port, timeout=SECONDS)
    with server:
        if mail.tls == "starttls":
            server.starttls(context=trust)
        if mail.password is not None:
            server.login(mail.user, mail.password.read())
        refused = server.send_message(message)
    if refused:
        raise Answered(f"the server took it, but not for {', '.join(sorted(refused))}")


def _post(hook: Webhook, node: str, events: list[Event], dropped: int) -> None:
    url = hook.url.read() if isinstance(hook.url, Secret) else hook.url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the url of the webhook is none; it begins with https:// or http://")
    if parts.scheme == "https":
        trust = ssl.create_default_context(cafile=hook.ca or None)
        line: http.client.HTTPConnection = http.client.HTTPSConnection(
            parts.hostname, parts.port, timeout=SECONDS, context=trust
        )
    else:
        line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=SECONDS)
    body = {"node": node, "text": summary(node, events), "events": events, "dropped": dropped}
    headers = {"Content-Type": "application/json", "User-Agent": "voltbus-notify"}
    if hook.token is not None:
        headers["Authorization"] = f"Bearer {hook.token.read()}"
    place = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        line.request("POST", place, msgspec.json.encode(body), headers)
        status = line.getresponse().status
    finally:
        line.close()
    if not 200 <= status < 300:  # another place than the one that was set gets nothing
        raise Answered(f"{parts.hostname} answered with status {status}")
