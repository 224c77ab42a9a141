package node_test

import (
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// octets turns "10 0D 'MQTT' 05" into bytes.
func octets(t testing.TB, s string) []byte {
	t.Helper()
	var b []byte
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			b = append(b, part...)
			continue
		}
		data, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b = append(b, data...)
	}
	return b
}

// rawClient is a client that sends bytes as they are.
type rawClient struct {
	net.Conn
	t testing.TB
}

func dialRaw(t testing.TB, address string) *rawClient {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(mqttLimit))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{conn, t}
}

func (c *rawClient) send(s string) {
	c.t.Helper()
	if _, err := c.Write(octets(c.t, s)); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next packet in hexadecimal digits, "end" when the broker closed the connection.
func (c *rawClient) receive() string {
	c.t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(c, head); err != nil {
		return "end"
	}
	length, shift := int(head[1]&0x7f), 7
	packet := head
	for head[len(head)-1]&0x80 != 0 {
		next := make([]byte, 1)
		if _, err := io.ReadFull(c, next); err != nil {
			return "end"
		}
		length |= int(next[0]&0x7f) << shift
		shift += 7
		packet, head = append(packet, next...), next
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c, body); err != nil {
		return "end"
	}
	return strings.ToUpper(hex.EncodeToString(append(packet, body...)))
}

const (
	connect5   = "10 0E 00 04 'MQTT' 05 02 00 00 00 00 01 'c' " // a new session of the client c
	connect311 = "10 0D 00 04 'MQTT' 04 02 00 00 00 01 'c' "
)

// What MQTT 5.0 and 3.1.1 demand of a server, by the numbers of the statements, of the whole node over TCP. Each answer is what the packet
// begins with, in hexadecimal digits; "end" is a closed connection. What comes before CONNACK is left out.
func TestTheNodeConformsToTheStandard(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	for _, c := range []struct{ number, name, send, want string }{
		{"MQTT-3.1.0-1", "the first packet is not CONNECT", "C000", "end"},
		{"MQTT-3.1.0-2", "a second CONNECT", connect5 + connect5, "20|E0__82 end"},
		{"MQTT-3.1.2-1", "another protocol name", "10 0E 00 04 'MQTX' 05 02 00 00 00 00 01 'c'", "any end"},
		{"MQTT-3.1.2-2", "a version that is not known", "10 0E 00 04 'MQTT' 07 02 00 00 00 00 01 'c'", "any end"},
		{"MQTT-3.1.2-3", "the reserved flag of CONNECT", "10 0E 00 04 'MQTT' 05 03 00 00 00 00 01 'c'", "20__81 end"},
		{"MQTT-3.1.2-9", "will QoS 3", "10 14 00 04 'MQTT' 05 1E 00 00 00 00 01 'c' 00 00 01 'w' 00 00", "20__81 end"},
		{"MQTT-3.1.3-5", "a client identifier of digits and letters is taken", "10 0F 00 04 'MQTT' 05 02 00 00 00 00 02 'aZ'", "20__00"},
		{"MQTT-3.1.3-7", "3.1.1 without an identifier and a clean session", "10 0C 00 04 'MQTT' 04 00 00 00 00 00", "20020002 end"},
		{"MQTT-3.1.4-3", "CONNECT in two halves", "10 0E 00 04 'MQ' | 'TT' 05 02 00 00 00 00 01 'c'", "20__00"},
		{"MQTT-3.2.0-1", "CONNACK comes before anything else", connect5 + "C0 00", "20|D000"},
		{"MQTT-1.5.4-1", "a surrogate in a text", connect5 + "30 06 00 03 ED A0 80 00", "20|E0__81 end"},
		{"MQTT-1.5.4-2", "a null in a text", connect5 + "30 05 00 02 61 00 00", "20|E0__81 end"},
		{"MQTT-1.5.5-1", "a length in more bytes than it needs is taken by its value", connect5 + "C0 80 00", "20|E0__81 end"},
		{"MQTT-2.1.3-1", "reserved flags of SUBSCRIBE", connect5 + "80 07 00 01 00 00 01 'x' 00", "20|E0__81 end"},
		{"MQTT-2.2.1-3", "a SUBSCRIBE with the packet identifier 0", connect5 + "82 07 00 00 00 00 01 'x' 00", "20|E0 end"},
		{"MQTT-3.3.1-2", "DUP with QoS 0", connect5 + "38 04 00 01 'x' 00", "20|E0__81 end"},
		{"MQTT-3.3.1-4", "QoS 3", connect5 + "36 06 00 01 'x' 00 01 00", "20|E0__81 end"},
		{"MQTT-3.3.2-1", "PUBLISH without a topic and without an alias", connect5 + "30 03 00 00 00", "20|E0__82 end"},
		{"MQTT-3.3.2-2", "PUBLISH to a wildcard", connect5 + "30 04 00 01 '#' 00", "20|E0__90 end"},
		{"MQTT-3.3.2-8", "topic alias 0", connect5 + "30 07 00 01 'x' 03 23 00 00", "20|E0__94 end"},
		{"MQTT-3.3.2-9", "a topic alias beyond the maximum", connect5 + "30 07 00 01 'x' 03 23 FF FF", "20|E0__94 end"},
		{"MQTT-3.3.4-6", "PUBLISH with a subscription identifier", connect5 + "30 06 00 01 'x' 02 0B 01", "20|E0__82 end"},
		{"MQTT-3.8.3-2", "a SUBSCRIBE without filters", connect5 + "82 03 00 01 00", "20|E0__82 end"},
		{"MQTT-3.8.3-4", "no local on a shared subscription", connect5 + "82 10 00 01 00 00 0A '$share/g/xx' 04", "20|E0 end"},
		{"MQTT-3.8.3-5", "reserved bits of the options", connect5 + "82 07 00 01 00 00 01 'x' C0", "20|E0__81 end"},
		{"MQTT-3.8.4-1", "SUBACK has the packet identifier", connect5 + "82 07 12 34 00 00 01 'x' 02", "20|9004123400 02"},
		{"MQTT-3.8.4-5", "many filters are answered one by one", connect5 + "82 0F 00 01 00 00 01 'x' 00 00 01 'y' 01 00 01 'z' 02", "20|9006000100 000102"},
		{"MQTT-3.9.3-1", "3.1.1: SUBACK has the granted QoS", connect311 + "82 06 00 01 00 01 'x' 01", "20020000|9003000101"},
		{"MQTT-3.10.3-2", "an UNSUBSCRIBE without filters", connect5 + "A2 03 00 01 00", "20|E0__82 end"},
		{"MQTT-3.10.4-4", "an UNSUBSCRIBE of nothing is answered", connect5 + "A2 06 00 07 00 00 01 'x'", "20|B004000700 11"},
		{"MQTT-3.11.2-1", "3.1.1: UNSUBACK", connect311 + "A2 05 00 07 00 01 'x'", "20020000|B0020007"},
		{"MQTT-3.12.4-1", "PINGREQ is answered", connect311 + "C0 00", "20020000|D000"},
		{"MQTT-3.14.1-1", "reserved flags of DISCONNECT", connect5 + "E1 00", "20|E0__81 end"},
		{"MQTT-3.14.4-1", "after DISCONNECT the connection is closed", connect5 + "E0 00", "20 end"},
		{"MQTT-4.3.2-4", "QoS 1 is acknowledged", connect5 + "32 06 00 01 'x' 00 09 00", "20|4003000910"},
		{"MQTT-4.3.3-8", "QoS 2 is acknowledged in two steps", connect5 + "34 06 00 01 'x' 00 09 00 62 02 00 09", "20|5003000910|70020009"},
		{"MQTT-4.3.3-10", "a PUBREL of nothing", connect5 + "62 02 00 09", "20|7003000992"},
		{"MQTT-4.7.1-1", "# in the middle of a filter", connect5 + "82 09 00 01 00 00 03 '#/x' 00", "20|90__8F"},
		{"MQTT-4.7.1-2", "+ beside other characters", connect5 + "82 08 00 01 00 00 02 'x+' 00", "20|90__8F"},
		{"MQTT-4.7.3-1", "an empty filter", connect5 + "82 06 00 01 00 00 00 00", "20|90__8F"},
		{"MQTT-4.8.2-1", "a shared subscription without a filter", connect5 + "82 0E 00 01 00 00 08 '$share/g' 00", "20|90__8F"},
		{"MQTT-4.12.0-1", "an authentication method that is not known", "10 12 00 04 'MQTT' 05 02 00 00 04 15 00 01 'x' 00 01 'c'", "20__8C end"},
		{"MQTT-4.13.1-1", "a packet type that is reserved", connect5 + "00 00", "20|E0__81 end"},
		{"MQTT-4.13.2-1", "a packet that is larger than the node takes", connect5 + "30 FF FF 7F", "20|E0__95 end"},
	} {
		t.Run(c.number+" "+c.name, func(t *testing.T) {
			client := dialRaw(t, r.MQTTAddr(false))
			for half := range strings.SplitSeq(c.send, "|") {
				client.send(half)
			}
			want, ends := strings.CutSuffix(c.want, " end")
			if want == "any" {
				want = client.receive()
			}
			if want == "end" {
				want, ends = "", true
			}
			for begin := range strings.SplitSeq(strings.ReplaceAll(want, " ", ""), "|") {
				if begin == "" || strings.HasPrefix(c.want, "any") {
					continue
				}
				got := client.receive()
				kind, code, coded := strings.Cut(begin, "__")
				if !strings.HasPrefix(got, kind) || coded && !hasCode(got, code) {
					t.Fatalf("got %s, want %s", got, begin)
				}
			}
			if ends {
				if got := client.receive(); got != "end" {
					t.Errorf("the connection is open, and brings %s", got)
				}
			}
		})
	}
}

// hasCode reports whether an answer has a reason code where its kind has it: behind the flags in CONNACK, first in DISCONNECT, last in SUBACK.
func hasCode(packet, code string) bool {
	switch packet[:2] {
	case "20":
		return packet[6:8] == code
	case "E0":
		return len(packet) > 4 && packet[4:6] == code
	}
	return strings.HasSuffix(packet, code)
}
