"""A stock client of web services. Reads requests from standard input, one JSON object a line:
{"port": "Metering", "call": "RecordReadings", "arguments": {...}}; answers each with one line.

usage: zeep_peer.py WSDL-ADDRESS TOKEN
"""

import json
import sys

import requests
import zeep
from zeep.exceptions import Fault
from zeep.helpers import serialize_object
from zeep.transports import Transport


def main() -> None:
    session = requests.Session()
    session.trust_env = False
    session.headers["Authorization"] = "Bearer " + sys.argv[2]
    client = zeep.Client(sys.argv[1], transport=Transport(session=session))
    for line in sys.stdin:
        request = json.loads(line)
        service = client.bind("Metering", request["port"])
        try:
            answer = {"result": serialize_object(service[request["call"]](**request["arguments"]), dict)}
        except Fault as fault:
            answer = {"fault": fault.message, "code": str(fault.code)}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
