"""One half of a ZeroMQ network with CURVE encryption, as a part of an experiment.

Reads its work as one JSON line from standard input, and ends when standard input is closed.
"publish" binds a PUB socket, says the address, and on each further line sends all messages once.
"listen" connects as many SUB sockets as it is told to and says when one has all messages of a scrape.
"""

import json
import sys
import threading
import time

import zmq


def say(**what):
    print(json.dumps(what), flush=True)


def publish(work, context):
    socket = context.socket(zmq.PUB)
    socket.curve_server = True
    socket.curve_publickey, socket.curve_secretkey = (work[k].encode() for k in ("public", "secret"))
    socket.sndhwm = 0
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    say(port=port)
    messages = [(m["topic"].encode(), m["body"].encode()) for m in work["messages"]]
    for line in sys.stdin:
        began = time.time_ns()
        if line.startswith("probe"):
            socket.send_multipart((b"probe", b""))
            continue
        for message in messages:
            socket.send_multipart(message)
        say(began=began)


def listen(work, context):
    poller, received, probed = zmq.Poller(), {}, set()
    for _ in range(work["listeners"]):
        socket = context.socket(zmq.SUB)
        socket.curve_serverkey = work["public"].encode()
        socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
        socket.rcvhwm = 0
        socket.subscribe(b"")
        socket.connect(f"tcp://127.0.0.1:{work['port']}")
        poller.register(socket, zmq.POLLIN)
        received[socket] = 0
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    while not stop.is_set():
        for socket, _ in poller.poll(100):
            if socket.recv_multipart()[0] == b"probe":
                if socket not in probed:
                    probed.add(socket)
                    if len(probed) == len(received):
                        say(ready=True)
                continue
            received[socket] += 1
            if received[socket] % work["messages"] == 0:
                say(arrived=time.time_ns())


def main():
    work = json.loads(sys.stdin.readline())
    context = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4096)
    if work["part"] == "keys":
        public, secret = zmq.curve_keypair()
        say(public=public.decode(), secret=secret.decode())
    elif work["part"] == "publish":
        publish(work, context)
    else:
        listen(work, context)
    context.destroy(linger=0)


main()
