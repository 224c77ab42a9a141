package node_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// A client that goes on sending when the broker ends its connection reads the DISCONNECT with the reason all the same. Before it has read
// that, no write fails: many clients take that for a lost connection, and never read why.
func TestAClientThatIsCutOffWhileItSendsLearnsWhy(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.MQTTAddr(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(mqttLimit)); err != nil {
		t.Fatal(err)
	}
	const most = 1000 // more than the broker's Receive Maximum, MQTT 5.0, clause 3.3.4
	out := []byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 0, 0, 0, 1, 'c'}
	for id := 1; id < most; id++ { // QoS 2, and no PUBREL
		out = append(out, 0x34, 6, 0, 1, 'x', byte(id>>8), byte(id), 0)
	}
	if _, err := conn.Write(out); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for {
		head, err := in.ReadByte()
		if err != nil {
			t.Fatalf("the broker says nothing more: %v", err)
		}
		length, err := in.ReadByte() // every packet here is shorter than 128 bytes
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, length)
		if packet.Type(head>>4) != packet.DISCONNECT {
			if _, err := io.ReadFull(in, body); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for range 100 { // the connection is over, but the client does not know yet
			if _, err := conn.Write([]byte{0x62, 2, 0, 1}); err != nil {
				t.Fatalf("the client cannot send any more: %v", err)
			}
		}
		if _, err := io.ReadFull(in, body); err != nil || packet.Code(body[0]) != packet.ReceiveMaximumExceeded {
			t.Errorf("the reason is % x, %v", body, err)
		}
		return
	}
}
