"""Clients of paho-mqtt that use an MQTT broker: paho_mqtt_peer.py HOST PORT.

Prints one line for each thing that worked and ends with 0, or says what did not and ends with 1.
"""

import queue
import sys

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

LIMIT = 30  # seconds that anything may take


class Client:
    """A client with its messages in a queue."""

    def __init__(self, name: str, version: MQTTProtocolVersion, expiry: int = 0, clean: bool = True) -> None:
        five = version == MQTTProtocolVersion.MQTTv5
        args = {} if five else {"clean_session": clean}
        self.five, self.clean, self.expiry = five, clean, expiry
        self.messages: queue.Queue[mqtt.MQTTMessage] = queue.Queue()
        self.events: queue.Queue[tuple[str, object]] = queue.Queue()
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=version, **args)
        self.client.on_message = lambda _c, _u, m: self.messages.put(m)
        self.client.on_connect = lambda _c, _u, flags, code, _p: self.events.put(
            ("connected", (flags.session_present, code))
        )
        self.client.on_subscribe = lambda _c, _u, _i, codes, _p: self.events.put(("subscribed", codes))
        self.client.on_disconnect = lambda _c, _u, _f, code, _p: self.events.put(("disconnected", code))

    def connect(self, host: str, port: int) -> bool:
        """Connects and returns whether the broker had the session."""
        args = {}
        if self.five:
            properties = Properties(PacketTypes.CONNECT)
            properties.SessionExpiryInterval = self.expiry
            args = {"clean_start": self.clean, "properties": properties}
        self.client.connect(host, port, **args)
        self.client.loop_start()
        present, code = self.await_event("connected")
        assert not code.is_failure, code
        return present

    def await_event(self, name: str) -> object:
        while True:
            got, value = self.events.get(timeout=LIMIT)
            if got == name:
                return value

    def subscribe(self, topic: str, qos: int, **options: object) -> None:
        if self.five:
            self.client.subscribe(topic, options=SubscribeOptions(qos=qos, **options))
        else:
            self.client.subscribe(topic, qos)
        codes = self.await_event("subscribed")
        assert [c.value for c in codes] == [qos], codes

    def publish(
        self, topic: str, payload: str, qos: int = 0, retain: bool = False, properties: Properties | None = None
    ) -> None:
        self.client.publish(topic, payload, qos, retain, properties).wait_for_publish(LIMIT)

    def expect(self, topic: str, payload: str) -> mqtt.MQTTMessage:
        m = self.messages.get(timeout=LIMIT)
        assert (m.topic, m.payload) == (topic, payload.encode()), (m.topic, m.payload)
        return m

    def disconnect(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


def check(host: str, port: int, version: MQTTProtocolVersion) -> None:
    """Uses the broker in one version of the protocol."""
    name = f"v{int(version)}"
    a, b = Client(name + "-a", version), Client(name + "-b", version, expiry=600, clean=False)
    a.connect(host, port)
    assert not b.connect(host, port)
    b.subscribe(name + "/+/q", 2)
    for qos in (0, 1, 2):
        a.publish(f"{name}/{qos}/q", f"m{qos}", qos)
        assert b.expect(f"{name}/{qos}/q", f"m{qos}").qos == qos
    print(name, "QoS 0, 1 and 2")

    a.publish(name + "/kept", "r", 1, retain=True)
    b.subscribe(name + "/kept", 1)
    assert b.expect(name + "/kept", "r").retain
    print(name, "retained message")

    b.disconnect()
    for i in range(3):
        a.publish(f"{name}/late/q", str(i), 1 + i // 2)
    b = Client(name + "-b", version, expiry=600, clean=False)
    assert b.connect(host, port)
    for i in range(3):
        b.expect(f"{name}/late/q", str(i))
    print(name, "session over a reconnect")

    c = Client(name + "-c", version)
    c.client.will_set(name + "/will/q", "gone", 1)
    c.connect(host, port)
    c.client.loop_stop()
    c.client.socket().close()
    b.expect(name + "/will/q", "gone")
    print(name, "will")

    if version == MQTTProtocolVersion.MQTTv5:
        properties = Properties(PacketTypes.PUBLISH)
        properties.UserProperty = [("k", "1"), ("k", "2")]
        properties.ContentType = "text/plain"
        properties.ResponseTopic = "answers"
        properties.CorrelationData = b"\x01\x02"
        properties.MessageExpiryInterval = 100
        properties.PayloadFormatIndicator = 1
        a.publish(name + "/p/q", "m", 1, properties=properties)
        got = b.expect(name + "/p/q", "m").properties
        assert got.UserProperty == properties.UserProperty and got.ContentType == "text/plain", got
        assert got.ResponseTopic == "answers" and got.CorrelationData == b"\x01\x02", got
        assert 0 < got.MessageExpiryInterval <= 100 and got.PayloadFormatIndicator == 1, got
        print(name, "properties")
    a.disconnect()
    b.disconnect()


if __name__ == "__main__":
    for protocol in (MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5):
        check(sys.argv[1], int(sys.argv[2]), protocol)
