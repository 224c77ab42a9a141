"""Asks a server with the protocol of MongoDB by its own driver: for each line with a collection, its documents as one line of JSON."""

import json
import socket
import sys

import pymongo

uri, database = sys.argv[1:3]


def documents(collection: str) -> str:
    try:
        with pymongo.MongoClient(uri, serverSelectionTimeoutMS=3000, authMechanism="SCRAM-SHA-256") as client:
            return json.dumps(list(client[database][collection].find()), default=str)
    except pymongo.errors.PyMongoError as err:
        return json.dumps({"error": str(err)})


listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn, _ = listener.accept()
with conn, conn.makefile("rw") as lines:
    for line in lines:
        lines.write("rows " + documents(line.strip()) + "\n")
        lines.flush()
