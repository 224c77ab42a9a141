package node_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"
)

// at connects a client to a replica; its session is kept for so many seconds.
func (s *replicaSet) at(t *testing.T, replica, id string, expiry uint32) *mqttClient {
	t.Helper()
	return connectMQTT(t, s.processes[replica].mqtt, &paho.Connect{
		ClientID: id, CleanStart: expiry == 0, KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry},
	})
}

// eventuallyAt connects a client to a replica that has just started, or whose session was at one that does not answer: until others lead the
// journal, a CONNECT may be refused with Server unavailable.
func (s *replicaSet) eventuallyAt(t *testing.T, replica, id string) (c *mqttClient) {
	t.Helper()
	expiry := uint32(3600)
	eventually(t, replica+" takes the session over", func() bool {
		probe, err := net.Dial("tcp", s.processes[replica].mqtt)
		if err != nil {
			return false // it does not listen yet
		}
		_ = probe.Close()
		c, err = dialMQTT(t, s.processes[replica].mqtt, &paho.Connect{
			ClientID: id, KeepAlive: 60, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry},
		})
		return err == nil
	})
	return c
}

// takesClients waits until the brokers of all replicas listen, and have found each other.
func (s *replicaSet) takesClients(t *testing.T) {
	t.Helper()
	for _, name := range s.names {
		s.eventuallyAt(t, name, "early-"+name).leave()
	}
}

// payloads waits for n messages, and returns what is in them, sorted.
func (c *mqttClient) payloads(t *testing.T, n int) (list []string) {
	t.Helper()
	for len(list) < n {
		list = append(list, string(c.next(t).Payload))
	}
	slices.Sort(list)
	return list
}

// leave ends a connection without a goodbye.
func (c *mqttClient) leave() { _ = c.conn.Close() }

func sent(from, to int) (list []string) {
	for i := from; i < to; i++ {
		list = append(list, strconv.Itoa(i))
	}
	slices.Sort(list)
	return list
}

// twentyInARow publishes twenty messages with QoS 0, and reports whether exactly these came, of all that came meanwhile.
func twentyInARow(t *testing.T, pub, sub *mqttClient, topic string) bool {
	t.Helper()
	row := strconv.FormatInt(time.Now().UnixNano(), 10) + "/"
	var want, got []string
	for i := range 20 {
		want = append(want, row+strconv.Itoa(i))
		if code := pub.publish(t, topic, want[i], 0); code != 0 {
			t.Fatalf("the answer is %#x", code)
		}
	}
	for late := time.After(answerWait); len(got) < len(want); {
		select {
		case m := <-sub.messages:
			if strings.HasPrefix(string(m.Payload), row) { // others are of the row before
				got = append(got, string(m.Payload))
			}
		case <-late:
			return false
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("there came %q", got)
	}
	return true
}

// Three replicas are one broker: a message goes to whoever subscribed, wherever that is.
func TestReplicasAreOneBroker(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	t.Run("a message gets to a subscriber elsewhere", func(t *testing.T) {
		sub, pub := s.at(t, "r1", "sub", 0), s.at(t, "r2", "pub", 0)
		for qos := range byte(3) {
			topic := fmt.Sprint("route/", qos)
			if code := sub.subscribe(t, topic, qos); code != qos {
				t.Fatalf("the answer is %#x", code)
			}
			if qos == 0 { // may be lost while the replicas find each other
				eventually(t, "20 messages in a row", func() bool { return twentyInARow(t, pub, sub, topic) })
				continue
			}
			for i := range 20 {
				if code := pub.publish(t, topic, strconv.Itoa(i), qos); code != 0 {
					t.Fatalf("the answer to a message with QoS %d is %#x", qos, code)
				}
			}
			if got := sub.payloads(t, 20); !slices.Equal(got, sent(0, 20)) {
				t.Errorf("with QoS %d came %q", qos, got)
			}
		}
		_ = pub.publish(t, "route/2", "end", 2)
		if got := sub.next(t); string(got.Payload) != "end" {
			t.Errorf("%q came twice", got.Payload)
		}
	})
	t.Run("a shared subscription gets each message once", func(t *testing.T) {
		var members []*mqttClient
		for _, name := range s.names {
			m := s.at(t, name, "member-"+name, 0)
			if code := m.subscribe(t, "$share/g/shared/#", 1); code != 1 {
				t.Fatalf("the answer is %#x", code)
			}
			members = append(members, m)
		}
		pub := s.at(t, "r2", "sharer", 0)
		for i := range 60 {
			if code := pub.publish(t, "shared/x", strconv.Itoa(i), 1); code != 0 {
				t.Fatalf("the answer is %#x", code)
			}
		}
		var got []string
		eventually(t, "60 messages", func() bool {
			for _, m := range members {
				for more := true; more; {
					select {
					case p := <-m.messages:
						got = append(got, string(p.Payload))

					default:
						more = false
					}
				}
			}
			return len(got) >= 60
		})
		if slices.Sort(got); !slices.Equal(got, sent(0, 60)) {
			t.Errorf("there came %q", got)
		}
	})
	t.Run("a retained message is at each", func(t *testing.T) {
		pub := s.at(t, "r1", "keeper", 0)
		ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
		defer cancel()
		if _, err := pub.Publish(ctx, &paho.Publish{Topic: "kept/a", Payload: []byte("1"), QoS: 1, Retain: true}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "r3 has it", func() bool {
			c := s.at(t, "r3", "late", 0)
			defer c.leave()
			_ = c.subscribe(t, "kept/#", 1)
			_ = c.publish(t, "kept/end", "end", 1)
			m := c.next(t)
			return m.Retain && string(m.Payload) == "1"
		})
	})
	t.Run("a client identifier is taken over", func(t *testing.T) {
		old := s.at(t, "r1", "twin", 0)
		_ = s.at(t, "r2", "twin", 0)
		select {
		case code := <-old.ended:
			if code != 0x8E {
				t.Errorf("the reason is %#x", code)
			}
		case <-time.After(mqttLimit):
			t.Error("the first connection stays")
		}
	})
	t.Run("a session moves with its messages", func(t *testing.T) {
		old := s.at(t, "r1", "mover", 3600)
		if code := old.subscribe(t, "moving/#", 2); code != 2 {
			t.Fatalf("the answer is %#x", code)
		}
		old.leave()
		pub := s.at(t, "r3", "to-mover", 0)
		for i := range 10 {
			_ = pub.publish(t, "moving/a", strconv.Itoa(i), byte(1+i%2))
		}
		c := s.at(t, "r2", "mover", 3600)
		if !c.ack.SessionPresent {
			t.Error("there is no session")
		}
		var got []string
		known := map[uint16]bool{} // identifiers of messages that the client has
		for len(got) < 10 {
			m := c.next(t)
			got, known[m.PacketID] = append(got, string(m.Payload)), true
		}
		if slices.Sort(got); !slices.Equal(got, sent(0, 10)) {
			t.Errorf("there came %q", got)
		}
		third := s.at(t, "r3", "mover", 3600) // while it is connected
		select {
		case code := <-c.ended:
			if code != 0x8E {
				t.Errorf("the reason is %#x", code)
			}
		case <-time.After(mqttLimit):
			t.Error("the connection before stays")
		}
		_ = pub.publish(t, "moving/a", "end", 2)
		for {
			m := third.next(t)
			if string(m.Payload) == "end" {
				break
			}
			again := m.Duplicate() && known[m.PacketID] // what had no PUBREC yet comes with its identifier (MQTT-4.4.0-1)
			if m.QoS == 2 && !again {
				t.Errorf("%q came again", m.Payload)
			}
		}
	})
}
