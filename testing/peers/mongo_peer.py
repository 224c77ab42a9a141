"""Asks a server with the protocol of MongoDB by its own driver: for each line with a collection, its documents as one line of JSON. A number behind
the collection has so many documents inserted, and their rate a second printed."""

import json
import socket
import sys
import time

import pymongo

uri, database = sys.argv[1:3]


def documents(collection: str) -> str:
    try:
        with pymongo.MongoClient(uri, serverSelectionTimeoutMS=3000, authMechanism="SCRAM-SHA-256") as client:
            return json.dumps(list(client[database][collection].find()), default=str)
    except pymongo.errors.PyMongoError as err:
        return json.dumps({"error": str(err)})


def insert(collection: str, number: int) -> float:
    """The rate at which the server takes readings from the driver."""
    size = 5000
    with pymongo.MongoClient(uri, authMechanism="SCRAM-SHA-256") as client:
        begun = time.monotonic()
        for first in range(0, number, size):
            client[database][collection].insert_many(
                (
                    {"_id": {"point": f"plant/building/device/point-{i % 20}", "us": i}, "value": i / 8, "quality": "good", "unit": "degC"}
                    for i in range(first, first + size)
                ),
                ordered=False,
            )
        return number / (time.monotonic() - begun)


listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn, _ = listener.accept()
with conn, conn.makefile("rw") as lines:
    for line in lines:
        collection, *number = line.split()
        lines.write(f"rate {insert(collection, int(number[0]))}\n" if number else f"rows {documents(collection)}\n")
        lines.flush()
