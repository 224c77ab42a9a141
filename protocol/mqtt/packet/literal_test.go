package packet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// appender is what every packet can do.
type appender func(b []byte, v Version) ([]byte, error)

// decode decodes a packet of any type and returns it with the way to encode it again.
func decode(d *Decoder, f Frame) (any, appender, error) {
	switch f.Type {
	case CONNECT:
		p, err := d.Connect(f)
		return p, func(b []byte, _ Version) ([]byte, error) { return p.Append(b) }, err
	case CONNACK:
		p, err := d.Connack(f)
		return p, p.Append, err
	case PUBLISH:
		p, err := d.Publish(f)
		return p, p.Append, err
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		p, err := d.Ack(f)
		return p, p.Append, err
	case SUBSCRIBE:
		p, err := d.Subscribe(f)
		return p, p.Append, err
	case UNSUBSCRIBE:
		p, err := d.Unsubscribe(f)
		return p, p.Append, err
	case SUBACK, UNSUBACK:
		p, err := d.Suback(f)
		return p, p.Append, err
	case DISCONNECT:
		p, err := d.Disconnect(f)
		return p, p.Append, err
	case AUTH:
		p, err := d.Auth(f)
		return p, func(b []byte, _ Version) ([]byte, error) { return p.Append(b) }, err
	default:
		return f.Type, func(b []byte, _ Version) ([]byte, error) { return AppendPing(b, f.Type), nil }, d.Ping(f)
	}
}

// wire turns "10 0D 'MQTT' 05" into bytes.
func wire(t testing.TB, s string) []byte {
	t.Helper()
	var b []byte
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			b = append(b, part...)
			continue
		}
		bytes, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b = append(b, bytes...)
	}
	return b
}

// packets are all types in both versions, in the form that this package writes.
var packets = []struct {
	name    string
	version Version
	wire    string
	want    any
}{
	{
		"a CONNECT of 3.1.1 with nothing but a client identifier", V311, "10 0E 00 04 'MQTT' 04 02 00 3C 00 02 'c1'",
		Connect{Version: V311, CleanStart: true, KeepAlive: 60, ClientID: []byte("c1")},
	},
	{
		"a CONNECT of 3.1.1 with everything", V311, "10 21 00 04 'MQTT' 04 EE 00 0A 00 02 'c1' 00 03 'a/w' 00 04 'gone' 00 02 'me' 00 02 'pw'",
		Connect{
			Version: V311, CleanStart: true, KeepAlive: 10, ClientID: []byte("c1"),
			Will:     &Will{QoS: 1, Retain: true, Topic: []byte("a/w"), Payload: []byte("gone")},
			UserName: []byte("me"), Password: []byte("pw"),
		},
	},
	{
		"a CONNECT of 5.0 with properties, a will and a password alone", V5,
		"10 2F 00 04 'MQTT' 05 54 00 00 0B 11 00 00 0E 10 21 00 14 22 00 05 00 02 'c1'" +
			"0A 18 00 00 00 05 02 00 00 00 1E 00 01 'w' 00 00 00 03 'key'",
		Connect{
			Version: V5, ClientID: []byte("c1"), Password: []byte("key"),
			Properties: Properties(nil).WithUint(SessionExpiry, 3600).WithUint(ReceiveMaximum, 20).WithUint(TopicAliasMaximum, 5),
			Will: &Will{
				QoS: 2, Topic: []byte("w"), Payload: []byte{},
				Properties: Properties(nil).WithUint(WillDelay, 5).WithUint(MessageExpiry, 30),
			},
		},
	},
	{
		"a CONNACK of 3.1.1 that refuses a name", V311, "20 02 00 04",
		Connack{Code: BadUserNameOrPassword},
	},
	{
		"a CONNACK of 5.0 with properties", V5, "20 0F 01 00 0C 21 00 0A 24 01 12 00 01 'x' 13 00 1E",
		Connack{SessionPresent: true, Properties: Properties(nil).WithUint(ReceiveMaximum, 10).WithUint(MaximumQoS, 1).
			WithText(AssignedClientIdentifier, "x").WithUint(ServerKeepAlive, 30)},
	},
	{
		"a PUBLISH with QoS 0 of 3.1.1", V311, "31 06 00 03 'a/b' '1'",
		Publish{Retain: true, Topic: []byte("a/b"), Payload: []byte("1")},
	},
	{
		"a PUBLISH with QoS 1 of 5.0, sent again", V5, "3A 0F 00 01 'a' 00 07 07 26 00 01 'k' 00 01 'v' '21'",
		Publish{Dup: true, QoS: 1, Topic: []byte("a"), ID: 7, Properties: Properties(nil).WithUser("k", "v"), Payload: []byte("21")},
	},
	{
		"a PUBLISH with QoS 2 and an alias without a topic", V5, "34 08 00 00 01 00 03 23 00 01",
		Publish{QoS: 2, Topic: []byte{}, ID: 256, Properties: Properties(nil).WithUint(TopicAlias, 1), Payload: []byte{}},
	},
	{"a PUBACK of 3.1.1", V311, "40 02 00 07", Ack{Type: PUBACK, ID: 7}},
	{"a PUBACK of 5.0 that says nothing more", V5, "40 02 00 07", Ack{Type: PUBACK, ID: 7}},
	{"a PUBACK of 5.0 with a reason", V5, "40 03 00 07 97", Ack{Type: PUBACK, ID: 7, Code: QuotaExceeded}},
	{
		"a PUBREC of 5.0 with a reason string", V5, "50 09 00 07 87 05 1F 00 02 'no'",
		Ack{Type: PUBREC, ID: 7, Code: NotAuthorized, Properties: Properties(nil).WithText(ReasonString, "no")},
	},
	{"a PUBREL", V5, "62 02 00 07", Ack{Type: PUBREL, ID: 7}},
	{"a PUBREL for nothing", V5, "62 03 00 07 92", Ack{Type: PUBREL, ID: 7, Code: PacketIdentifierNotFound}},
	{"a PUBCOMP", V311, "70 02 00 07", Ack{Type: PUBCOMP, ID: 7}},
	{
		"a SUBSCRIBE of 3.1.1", V311, "82 0D 00 01 00 03 'a/b' 01 00 02 '+/' 02",
		Subscribe{ID: 1, Subscriptions: []Subscription{{[]byte("a/b"), 1}, {[]byte("+/"), 2}}},
	},
	{
		"a SUBSCRIBE of 5.0", V5, "82 0A 00 01 03 0B 80 01 00 01 '#' 2E",
		Subscribe{ID: 1, Properties: Properties(nil).WithUint(SubscriptionIdentifier, 128), Subscriptions: []Subscription{
			{[]byte("#"), (NoLocal | RetainAsPublished).WithQoS(2).WithRetainHandling(RetainedNever)},
		}},
	},
	{"a SUBACK of 3.1.1", V311, "90 04 00 01 02 80", Suback{Type: SUBACK, ID: 1, Codes: []Code{GrantedQoS2, UnspecifiedError}}},
	{"a SUBACK of 5.0", V5, "90 05 00 01 00 00 8F", Suback{Type: SUBACK, ID: 1, Codes: []Code{Success, TopicFilterInvalid}}},
	{"an UNSUBSCRIBE of 3.1.1", V311, "A2 05 00 02 00 01 'a'", Unsubscribe{ID: 2, Filters: [][]byte{[]byte("a")}}},
	{"an UNSUBSCRIBE of 5.0", V5, "A2 09 00 02 00 00 01 'a' 00 01 '#'", Unsubscribe{ID: 2, Filters: [][]byte{[]byte("a"), []byte("#")}}},
	{"an UNSUBACK of 3.1.1", V311, "B0 02 00 02", Suback{Type: UNSUBACK, ID: 2}},
	{"an UNSUBACK of 5.0", V5, "B0 04 00 02 00 11", Suback{Type: UNSUBACK, ID: 2, Codes: []Code{NoSubscriptionExisted}}},
	{"a PINGREQ", V311, "C0 00", PINGREQ},
	{"a PINGRESP", V5, "D0 00", PINGRESP},
	{"a DISCONNECT of 3.1.1", V311, "E0 00", Disconnect{}},
	{"a DISCONNECT of 5.0 that says nothing more", V5, "E0 00", Disconnect{}},
	{"a DISCONNECT of 5.0 with the will", V5, "E0 01 04", Disconnect{Code: DisconnectWithWill}},
	{
		"a DISCONNECT of 5.0 with another expiry", V5, "E0 07 00 05 11 00 00 00 3C",
		Disconnect{Properties: Properties(nil).WithUint(SessionExpiry, 60)},
	},
	{"an AUTH that is done", V5, "F0 00", Auth{}},
	{
		"an AUTH that goes on", V5, "F0 0D 18 0B 15 00 01 'm' 16 00 04 DE AD BE EF",
		Auth{ContinueAuthentication, Properties(nil).WithText(AuthenticationMethod, "m").WithBytes(AuthenticationData, []byte{0xDE, 0xAD, 0xBE, 0xEF})},
	},
}

func TestPacketsReadAndWriteAsTheStandardSays(t *testing.T) {
	for _, tt := range packets {
		t.Run(tt.name, func(t *testing.T) {
			b := wire(t, tt.wire)
			f, n, err := Split(b, 0)
			if err != nil || n != len(b) {
				t.Fatalf("split: %d bytes of %d, %v", n, len(b), err)
			}
			got, again, err := decode(&Decoder{Version: tt.version}, f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
			if out, err := again(nil, tt.version); err != nil || !bytes.Equal(out, b) {
				t.Errorf("encoded % X, want % X (%v)", out, b, err)
			}
		})
	}
}

func TestBrokenPacketsNameTheRule(t *testing.T) {
	tests := []struct {
		name    string
		version Version
		wire    string
		code    Code
		clause  string
	}{
		{"packet type 0", V5, "00 00", MalformedPacket, "§2.1.2"},
		{"flags of a SUBSCRIBE", V5, "80 00", MalformedPacket, "MQTT-2.1.3-1"},
		{"flags of a PINGREQ", V311, "C1 00", MalformedPacket, "MQTT-2.1.3-1"},
		{"a remaining length of five bytes", V5, "30 FF FF FF FF 01", MalformedPacket, "§1.5.5"},
		{"a remaining length longer than it needs", V5, "C0 80 00", MalformedPacket, "MQTT-1.5.5-1"},
		{"a PINGREQ with a body", V5, "C0 01 00", MalformedPacket, "§2.1.4"},
		{"an AUTH of 3.1.1", V311, "F0 00", MalformedPacket, "§2.2.1 of 3.1.1"},

		{"MQTT 3.1", V5, "10 0E 00 06 'MQIsdp' 03 02 00 3C 00 00", UnsupportedProtocolVersion, "MQTT-3.1.2-2"},
		{"another protocol", V5, "10 0C 00 04 'mqtt' 05 02 00 3C 00 00", UnsupportedProtocolVersion, "MQTT-3.1.2-1"},
		{"MQTT 6", V5, "10 0C 00 04 'MQTT' 06 02 00 3C 00 00", UnsupportedProtocolVersion, "MQTT-3.1.2-2"},
		{"the reserved connect flag", V5, "10 0D 00 04 'MQTT' 05 03 00 3C 00 00 00", MalformedPacket, "MQTT-3.1.2-3"},
		{"a QoS without a will", V5, "10 0D 00 04 'MQTT' 05 0A 00 3C 00 00 00", MalformedPacket, "MQTT-3.1.2-11"},
		{"a retained will that is not there", V5, "10 0D 00 04 'MQTT' 05 22 00 3C 00 00 00", MalformedPacket, "MQTT-3.1.2-13"},
		{"a will with QoS 3", V5, "10 0D 00 04 'MQTT' 05 1E 00 3C 00 00 00", MalformedPacket, "MQTT-3.1.2-12"},
		{"a password without a user name in 3.1.1", V311, "10 10 00 04 'MQTT' 04 42 00 3C 00 00 00 02 'pw'", MalformedPacket, "MQTT-3.1.2-22 of 3.1.1"},
		{"no client identifier and no clean session in 3.1.1", V311, "10 0C 00 04 'MQTT' 04 00 00 3C 00 00", ClientIdentifierNotValid, "MQTT-3.1.3-8 of 3.1.1"},
		{"a user name that is announced only", V5, "10 0D 00 04 'MQTT' 05 82 00 3C 00 00 00", MalformedPacket, "§2.1.4"},
		{"a password that is not announced", V5, "10 0F 00 04 'MQTT' 05 02 00 3C 00 00 00 00 00", MalformedPacket, "§2.1.4"},
		{"a will for a filter", V5, "10 13 00 04 'MQTT' 05 06 00 3C 00 00 00 00 00 01 '#' 00 00", TopicNameInvalid, "MQTT-4.7.0-1"},
		{"a client identifier with the null character", V5, "10 0E 00 04 'MQTT' 05 02 00 3C 00 00 01 00", MalformedPacket, "MQTT-1.5.4-2"},
		{"a client identifier with a surrogate", V5, "10 10 00 04 'MQTT' 05 02 00 3C 00 00 03 ED A0 80", MalformedPacket, "MQTT-1.5.4-1"},
		{"authentication data without a method", V5, "10 11 00 04 'MQTT' 05 02 00 3C 04 16 00 01 00 00 00", ProtocolError, "§3.1.2.11.10"},
		{"a receive maximum of 0", V5, "10 10 00 04 'MQTT' 05 02 00 3C 03 21 00 00 00 00", ProtocolError, "§2.2.2.2"},
		{"a maximum packet size of 0", V5, "10 12 00 04 'MQTT' 05 02 00 3C 05 27 00 00 00 00 00 00", ProtocolError, "§2.2.2.2"},
		{"a flag that is 2", V5, "10 0F 00 04 'MQTT' 05 02 00 3C 02 17 02 00 00", ProtocolError, "§2.2.2.2"},
		{"a property twice", V5, "10 13 00 04 'MQTT' 05 02 00 3C 06 21 00 01 21 00 01 00 00", ProtocolError, "§2.2.2.2"},
		{"a property of another packet", V5, "10 0F 00 04 'MQTT' 05 02 00 3C 02 01 01 00 00", MalformedPacket, "§2.2.2.2"},
		{"a property that does not exist", V5, "10 0F 00 04 'MQTT' 05 02 00 3C 02 7F 01 00 00", MalformedPacket, "§2.2.2.2"},
		{"properties that end within a value", V5, "10 0F 00 04 'MQTT' 05 02 00 3C 02 21 00 00 00", MalformedPacket, "§2.1.4"},
		{"properties longer than the packet", V5, "10 0D 00 04 'MQTT' 05 02 00 3C 7F 00 00", MalformedPacket, "§2.1.4"},
		{"a length of properties longer than it needs", V5, "10 0E 00 04 'MQTT' 05 02 00 3C 80 00 00 00", MalformedPacket, "MQTT-1.5.5-1"},

		{"reserved flags of a CONNACK", V5, "20 03 02 00 00", MalformedPacket, "MQTT-3.2.2-1"},
		{"a session with a refusal", V5, "20 03 01 87 00", ProtocolError, "MQTT-3.2.2-6"},
		{"a code that a CONNACK has not", V5, "20 03 00 01 00", MalformedPacket, "MQTT-3.2.2-8"},
		{"a return code of 6 in 3.1.1", V311, "20 02 00 06", MalformedPacket, "§3.2.2.3 of 3.1.1"},

		{"QoS 3", V5, "36 06 00 01 'a' 00 01 00", MalformedPacket, "MQTT-3.3.1-4"},
		{"QoS 0 sent again", V5, "38 04 00 01 'a' 00", MalformedPacket, "MQTT-3.3.1-2"},
		{"packet identifier 0", V5, "32 06 00 01 'a' 00 00 00", MalformedPacket, "MQTT-2.2.1-3"},
		{"a topic with a wildcard", V5, "30 06 00 03 'a/#' 00", TopicNameInvalid, "MQTT-4.7.0-1"},
		{"no topic in 3.1.1", V311, "30 02 00 00", TopicNameInvalid, "MQTT-4.7.3-1"},
		{"neither topic nor alias", V5, "30 03 00 00 00", ProtocolError, "§3.3.2.1"},
		{"alias 0", V5, "30 06 00 00 03 23 00 00", TopicAliasInvalid, "MQTT-3.3.2-8"},
		{"subscription identifier 0", V5, "30 06 00 01 'a' 02 0B 00", ProtocolError, "§2.2.2.2"},
		{"a response topic with a wildcard", V5, "30 08 00 01 'a' 04 08 00 01 '+'", ProtocolError, "MQTT-3.3.2-14"},
		{"a topic longer than the packet", V5, "30 03 00 05 'a'", MalformedPacket, "§2.1.4"},

		{"a code that a PUBACK has not", V5, "40 03 00 01 92", MalformedPacket, "MQTT-3.4.2-1"},
		{"a code that a PUBREC has not", V5, "50 03 00 01 01", MalformedPacket, "MQTT-3.5.2-1"},
		{"a code that a PUBREL has not", V5, "62 03 00 01 80", MalformedPacket, "MQTT-3.6.2-1"},
		{"a code that a PUBCOMP has not", V5, "70 03 00 01 10", MalformedPacket, "MQTT-3.7.2-1"},
		{"a reason code in 3.1.1", V311, "40 03 00 01 00", MalformedPacket, "§2.1.4"},
		{"a PUBACK for 0", V311, "40 02 00 00", MalformedPacket, "MQTT-2.2.1-3"},

		{"a SUBSCRIBE without a filter", V5, "82 03 00 01 00", ProtocolError, "MQTT-3.8.3-2"},
		{"a subscription with QoS 3", V5, "82 07 00 01 00 00 01 'a' 03", MalformedPacket, "§3.8.3.1"},
		{"reserved options", V5, "82 07 00 01 00 00 01 'a' 40", MalformedPacket, "MQTT-3.8.3-5"},
		{"options in 3.1.1", V311, "82 06 00 01 00 01 'a' 04", MalformedPacket, "MQTT-3.8.3-5"},
		{"retain handling 3", V5, "82 07 00 01 00 00 01 'a' 30", ProtocolError, "§3.8.3.1"},
		{"subscription identifiers twice", V5, "82 0B 00 01 04 0B 01 0B 02 00 01 'a' 00", ProtocolError, "§2.2.2.2"},
		{"a filter that is not UTF-8", V5, "82 07 00 01 00 00 01 FF 00", MalformedPacket, "MQTT-1.5.4-1"},
		{"a SUBACK without a code", V5, "90 03 00 01 00", MalformedPacket, "MQTT-3.8.4-6"},
		{"a code that a SUBACK of 3.1.1 has not", V311, "90 03 00 01 87", MalformedPacket, "MQTT-3.9.3-2"},
		{"an UNSUBSCRIBE without a filter", V5, "A2 03 00 01 00", ProtocolError, "MQTT-3.10.3-2"},
		{"a DISCONNECT of 3.1.1 with a code", V311, "E0 01 00", MalformedPacket, "§2.1.4"},
		{"a code that a DISCONNECT has not", V5, "E0 01 01", MalformedPacket, "MQTT-3.14.2-1"},
		{"a code that an AUTH has not", V5, "F0 01 80", MalformedPacket, "MQTT-3.15.2-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := wire(t, tt.wire)
			f, n, err := Split(b, 0)
			if err == nil && n != len(b) {
				t.Fatalf("packet has %d bytes of %d", n, len(b))
			}
			if err == nil {
				_, _, err = decode(&Decoder{Version: tt.version}, f)
			}
			var e *Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Clause != tt.clause {
				t.Errorf("got %v, want %s [%s]", err, tt.code, tt.clause)
			}
		})
	}
}

func TestLimitsAreKept(t *testing.T) {
	d := Decoder{Version: V5, Limits: Limits{Levels: 2, UserProperties: 1, Filters: 1}}
	tests := map[string]struct {
		wire string
		code Code
	}{
		"three levels":        {"30 08 00 05 'a/b/c' 00", TopicNameInvalid},
		"two user properties": {"30 0E 00 01 'a' 0A 26 00 00 00 00 26 00 00 00 00", QuotaExceeded},
		"two filters":         {"A2 09 00 02 00 00 01 'a' 00 01 '#'", QuotaExceeded},
	}
	for name, tt := range tests {
		f, _, err := Split(wire(t, tt.wire), 0)
		if err == nil {
			_, _, err = decode(&d, f)
		}
		if e := (*Error)(nil); !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
	if _, _, err := Split(wire(t, "30 FF FF FF 7F"), 1000); err == nil || !strings.HasPrefix(err.Error(), "packet too large: PUBLISH has 268435460 bytes") {
		t.Errorf("a PUBLISH as large as MQTT allows: %v", err)
	}
}

func TestCodesOf311AreThoseOf5(t *testing.T) {
	for code, want := range map[Code]byte{
		Success: 0, UnsupportedProtocolVersion: 1, ClientIdentifierNotValid: 2, ServerUnavailable: 3, ServerBusy: 3, QuotaExceeded: 3,
		BadUserNameOrPassword: 4, NotAuthorized: 5, Banned: 5,
	} {
		p := Connack{Code: code}
		b, err := p.Append(nil, V311)
		if err != nil || b[3] != want {
			t.Errorf("%s: return code %d, want %d (%v)", code, b[3], want, err)
		}
	}
}

func TestFieldsThatDoNotFitAreNotEncoded(t *testing.T) {
	long := make([]byte, 65_536)
	for name, p := range map[string]appender{
		"a client identifier": func(b []byte, _ Version) ([]byte, error) { return (&Connect{Version: V5, ClientID: long}).Append(b) },
		"a topic":             (&Publish{Topic: long}).Append,
		"a filter":            (&Subscribe{Subscriptions: []Subscription{{Filter: long}}}).Append,
		"a filter to end":     (&Unsubscribe{Filters: [][]byte{long}}).Append,
		"a payload":           (&Publish{Topic: long[:1], Payload: make([]byte, maxRemaining)}).Append,
	} {
		if b, err := p(nil, V5); err == nil || len(b) > 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

func TestPropertiesAreFound(t *testing.T) {
	p := Properties(nil).WithUint(PayloadFormat, 1).WithUser("a", "1").WithText(ContentType, "x").WithUint(SubscriptionIdentifier, 5).
		WithUser("b", "").WithUint(SubscriptionIdentifier, 268_435_455).WithBytes(CorrelationData, nil)
	if v, ok := p.Uint(PayloadFormat); v != 1 || !ok {
		t.Errorf("payload format %d, %v", v, ok)
	}
	if _, ok := p.Uint(MessageExpiry); ok || p.UintOr(MessageExpiry, 9) != 9 || p.Bytes(ResponseTopic) != nil {
		t.Error("properties are found that are absent")
	}
	if string(p.Bytes(ContentType)) != "x" || p.Bytes(CorrelationData) == nil {
		t.Errorf("content type %q, correlation data %v", p.Bytes(ContentType), p.Bytes(CorrelationData))
	}
	var user []string
	for name, value := range p.User() {
		user = append(user, string(name)+"="+string(value))
	}
	var ids []uint32
	for id := range p.Subscriptions() {
		ids = append(ids, id)
	}
	if diff := cmp.Diff([]string{"a=1", "b="}, user); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint32{5, 268_435_455}, ids); diff != "" {
		t.Error(diff)
	}
	want := Properties(nil).WithUser("a", "1").WithText(ContentType, "x").WithUser("b", "")
	if got := p.Without(PayloadFormat, SubscriptionIdentifier, CorrelationData); !bytes.Equal(got, want) {
		t.Errorf("without three: % X, want % X", got, want)
	}
}
