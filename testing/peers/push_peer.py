"""A push service and the browser behind it: takes messages over HTTPS as RFC 8030 says, checks who signed them by py_vapid, decrypts them by http_ece, and
says each as a line "push {...}". A line of the control connection with a number has it answer with that status from then on."""

import base64
import json
import os
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import http_ece
import py_vapid
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

certificate, key = sys.argv[1:3]
private = ec.generate_private_key(ec.SECP256R1())
auth = os.urandom(16)
status = 201
control = None


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def say(kind: str, what) -> None:
    control.write(f"{kind} {json.dumps(what)}\n")
    control.flush()


class Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        heard = {name.lower(): value for name, value in self.headers.items()}
        answered = status
        if answered == 201:
            who = heard["authorization"]
            heard["signed"] = py_vapid.Vapid02.verify(who)
            claims = who.split("t=")[1].split(".")[1]
            heard["claims"] = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            heard["text"] = http_ece.decrypt(body, private_key=private, auth_secret=auth, version=heard["content-encoding"]).decode()
        self.send_response(answered)
        self.send_header("Retry-After", "120")
        self.send_header("Content-Length", "0")
        self.end_headers()
        heard["status"] = answered
        say("push", heard)

    def log_message(self, *_) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()

listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn, _ = listener.accept()
with conn, conn.makefile("rw") as control:
    public = private.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    say("subscription", {"port": server.server_port, "p256dh": encode(public), "auth": encode(auth)})
    for line in control:
        status = int(line)
        say("status", status)
