package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation"
	"voltbus/operation/mqtt"
)

// counts returns the counts of the broker.
func (r *running) brokerCounts() answer.MQTTStatus {
	r.t.Helper()
	s, err := client.Do(context.Background(), r.Client, mqtt.Status, operation.None{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// publishOf is a PUBLISH of MQTT 5.0 with QoS 0.
func publishOf(topic, properties, payload string) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(topic)))
	body = append(body, topic...)
	body = append(varint(len(properties), body), properties...)
	body = append(body, payload...)
	return append(varint(len(body), []byte{0x30}), body...)
}

func varint(n int, b []byte) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// A packet that is too much of something ends its connection with the reason, and nobody else notices.
func TestAttackOversizePacketsAreRefused(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	property := "\x26\x00\x01k" + "\x00\x01v"
	for name, c := range map[string]struct {
		send []byte
		want string
	}{
		"65,535 levels":               {publishOf(strings.Repeat("/", 65_534), "", ""), "E0"},
		"a name of 65,535 bytes":      {publishOf(strings.Repeat("a", 65_535), "", ""), "30"},
		"1,000 user properties":       {publishOf("x", strings.Repeat(property, 1000), ""), "E0"},
		"a property that is not one":  {publishOf("x", "\x7f\x00", ""), "E0"},
		"properties beyond the end":   {[]byte{0x30, 4, 0, 1, 'x', 0x7f}, "E0"},
		"a filter of 65,535 levels":   {append(varint(65_541, []byte{0x82}), append([]byte{0, 1, 0, 0xff, 0xff}, append([]byte(strings.Repeat("+/", 32_767)+"+"), 0)...)...), "90"},
		"a filter of many wildcards":  {append(varint(6+127, []byte{0x82}), append([]byte{0, 1, 0, 0, 127}, append([]byte(strings.Repeat("+/", 63)+"+"), 0)...)...), "90"},
		"more filters than are taken": {manyFilters(1000), "E0"},
	} {
		t.Run(name, func(t *testing.T) {
			c1 := dialRaw(t, r.MQTTAddr(false))
			c1.send(connect5 + "82 07 00 01 00 00 01 '#' 00")
			for _, want := range []string{"20", "90"} {
				if got := c1.receive(); !strings.HasPrefix(got, want) {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
			if _, err := c1.Write(c.send); err != nil {
				t.Fatal(err)
			}
			if got := c1.receive(); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %.100s, want %s", got, c.want)
			}
		})
	}
	well := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "well", CleanStart: true, KeepAlive: 60})
	if code := well.publish(t, "thermostats/t1/state", `{"room":{"temperature":21}}`, 1); code != 0 {
		t.Errorf("another client is answered with %#x", code)
	}
}

// manyFilters is a SUBSCRIBE with so many filters.
func manyFilters(n int) []byte {
	body := []byte{0, 1, 0}
	for i := range n {
		name := fmt.Sprintf("f%05d", i)
		body = append(body, 0, byte(len(name)))
		body = append(append(body, name...), 0)
	}
	return append(varint(len(body), []byte{0x82}), body...)
}

// A subscriber that never reads slows nobody down: what it does not take is dropped for it, and counted.
func TestAttackASubscriberThatNeverReadsDelaysNobody(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	deaf := dialRaw(t, r.MQTTAddr(false))
	deaf.send(connect5 + "82 07 00 01 00 00 01 '#' 01")
	for range 2 {
		deaf.receive()
	}
	hearing := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "hearing", CleanStart: true, KeepAlive: 60})
	hearing.subscribe(t, "last", 1)
	writer := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "writer", CleanStart: true, KeepAlive: 60})
	payload := bytes.Repeat([]byte("x"), 64<<10)
	for range 500 { // 32 MiB, more than its socket and its queue hold
		if _, err := writer.Publish(t.Context(), &paho.Publish{Topic: "flood", QoS: 1, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	writer.publish(t, "last", "1", 1)
	if m := hearing.next(t); string(m.Payload) != "1" {
		t.Errorf("got %s", m.Payload)
	}
	if s := r.brokerCounts(); s.Dropped == 0 || s.Connected < 2 {
		t.Errorf("the counts are %+v", s)
	}
}

// Many clients are lost at once, each with a will: all wills are published, once.
func TestAStormOfWillsIsPublishedOnce(t *testing.T) {
	const clients = 300
	r := run(t, load(t, t.TempDir(), thermostats))
	watcher := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "watcher", CleanStart: true, KeepAlive: 60})
	watcher.subscribe(t, "gone/+", 1)
	lost := make([]*rawClient, clients)
	for i := range lost {
		lost[i] = dialRaw(t, r.MQTTAddr(false))
		lost[i].send(fmt.Sprintf("10 22 00 04 'MQTT' 05 0E 00 00 00 00 04 'c%03d' 00 00 08 'gone/%03d' 00 04 'lost'", i, i))
		if got := lost[i].receive(); !strings.HasPrefix(got, "20") {
			t.Fatalf("client %d is answered %s", i, got)
		}
	}
	for _, c := range lost {
		_ = c.Close()
	}
	seen := map[string]int{}
	for range clients {
		seen[watcher.next(t).Topic]++
	}
	if len(seen) != clients {
		t.Errorf("%d different wills came, want %d", len(seen), clients)
	}
	eventually(t, "all are gone", func() bool { return r.brokerCounts().Connected == 1 })
	select {
	case m := <-watcher.messages:
		t.Errorf("one more will came: %s", m.Topic)
	default:
	}
}
