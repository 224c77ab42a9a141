"""Reads datasets of Parquet from an object store with pyarrow, or from a folder with DuckDB: for each line with a folder, its rows as one line of JSON."""

import json
import socket
import sys

import pyarrow.dataset as ds
from pyarrow import fs

address, user, secret = sys.argv[1:4]
store = fs.S3FileSystem(endpoint_override=address, scheme="http", access_key=user, secret_key=secret, region="us-east-1")


def rows(folder: str) -> str:
    try:
        table = ds.dataset(folder, filesystem=store, partitioning="hive").to_table()
    except FileNotFoundError:
        return "[]"
    except OSError as err:  # the store is away
        return json.dumps({"error": str(err)})
    out = table.to_pylist()
    for row in out:
        row["time"] = int(row["time"].timestamp() * 1_000_000 + 0.5)
    return json.dumps(out)


listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn, _ = listener.accept()
with conn, conn.makefile("rw") as lines:
    for line in lines:
        lines.write("rows " + rows(line.strip()) + "\n")
        lines.flush()
