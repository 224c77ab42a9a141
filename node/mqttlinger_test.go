package node_test

import (
	"io"
	"net"
	"testing"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// A client that sends more than the broker's Receive Maximum without reading gets the DISCONNECT that says so, MQTT 5.0, clause 3.3.4.
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
	out := []byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 0, 0, 0, 1, 'c'}
	out = append(out, 0x82, 7, 0, 1, 0, 0, 1, 'x', 0)
	for id := 1; id < 40_000; id++ { // QoS 2, and no PUBREL
		out = append(out, 0x34, 6, 0, 1, 'x', byte(id>>8), byte(id), 0)
	}
	if _, err := conn.Write(out); err != nil {
		t.Fatalf("the connection is closed while the client sends: %v", err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %d bytes: %v", len(answer), err)
	}
	var last []byte
	for len(answer) > 1 { // every packet here is shorter than 128 bytes
		n := min(len(answer), 2+int(answer[1]))
		last, answer = answer[:n], answer[n:]
	}
	if len(last) < 3 || packet.Type(last[0]>>4) != packet.DISCONNECT || packet.Code(last[2]) != packet.ReceiveMaximumExceeded {
		t.Errorf("the last packet is % x", last)
	}
}
