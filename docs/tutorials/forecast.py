"""An application outside: it sees the temperatures of rooms live, and moves the set points that it may.

    python forecast.py account.json [rounds]

It knows MQTT and nothing of the nodes behind the broker; paho-mqtt is all that it needs. A real one would have a model of the
building and the weather. This one wants each room half a degree cooler at first, and then half a degree warmer.
"""

import json
import queue
import sys

import paho.mqtt.client as mqtt

account = json.load(open(sys.argv[1]))
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
base = f"applications/{account['user']}"
status: dict[str, float] = {}
seen: queue.Queue = queue.Queue()
answers: queue.Queue = queue.Queue()


def on_connect(client, _data, _flags, reason, _properties):
    if reason.is_failure:
        sys.exit(f"The broker lets it not in: {reason}")
    client.subscribe([(f"{base}/status/#", 1), (f"{base}/answers/+", 1)])


def on_message(_client, _data, message):
    body = json.loads(message.payload)
    if message.topic.startswith(f"{base}/answers/"):
        answers.put(body)
    elif body["quality"] == "good":
        status[body["point"]] = body["value"]
        seen.put(body["point"])


def await_status(point: str) -> float:
    while point not in status:
        seen.get(timeout=60)
    return status[point]


def ask(command: str, **request) -> dict:
    client.publish(f"{base}/set/{command}", json.dumps(request), qos=1)
    answer = answers.get(timeout=60)
    if answer["status"] == "accepted":
        print(f"{command}: accepted, {answer['output']} at {answer['reported']} until {answer['until']}")
    else:
        print(f"{command}: {answer['status']}: it {answer['why']}")
    return answer


client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=account["user"], protocol=mqtt.MQTTv5)
client.username_pw_set(account["user"], account["secret"])
client.on_connect, client.on_message = on_connect, on_message
client.connect(account["host"], int(account["port"]))
client.loop_start()
for number in range(rounds):
    for zone in ("zone-1", "zone-2"):
        temperature = await_status(f"building/{zone}/room1/temp")
        setpoint = await_status(f"building/{zone}/room1/setpoint")
        print(f"{zone}: {temperature:.1f} degC, wanted {setpoint:.1f} degC")
        ask(f"{zone}-setpoint", value=setpoint + (0.5 if number % 2 else -0.5), lease=300)
ask("zone-1-setpoint", value=30)
client.disconnect()
client.loop_stop()
