package wire_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/wire"
)

func TestANameIsOneToken(t *testing.T) {
	for name, want := range map[string]string{
		"boiler":            "boiler",
		"platform.actuator": "platform%2Eactuator",
		"a b/c":             "a%20b%2Fc",
		"":                  "%00",
		"*":                 "%2A",
		"a/":                "a%2F",
	} {
		if got := wire.Token(name); got != want {
			t.Errorf("Token(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestEveryTokenLeadsBackToItsName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("ab/. *>%é\"")), 0, 20, -1).Draw(t, "name")
		token := wire.Token(name)
		if token == "" || strings.ContainsAny(token, ". *>/\t") {
			t.Fatalf("%q is not one token", token)
		}
		if back, err := wire.ParseToken(token); err != nil || back != name {
			t.Fatalf("ParseToken(%q) = %q, %v; want %q", token, back, err, name)
		}
	})
}

func TestSubjectsOfAgentsReadBack(t *testing.T) {
	subject := wire.CallSubject("platform.actuator", "a.b", "set limit")
	if want := "rpc.platform%2Eactuator.a%2Eb.set%20limit"; subject != want {
		t.Errorf("the subject is %q, want %q", subject, want)
	}
	call, err := wire.ParseCall(subject)
	if want := (wire.Call{Callee: "platform.actuator", Caller: "a.b", Method: "set limit"}); err != nil || call != want {
		t.Errorf("it reads back as %+v, %v", call, err)
	}
	from, topic, err := wire.ParseMessage(wire.MessageSubject("a.b", "alert/too hot"))
	if err != nil || from != "a.b" || topic != point.Path("alert/too hot") {
		t.Errorf("the message reads back as %q, %q, %v", from, topic, err)
	}
	if got := wire.NewsSubject("a.b", wire.NewsStop); got != "news.a%2Eb.stop" {
		t.Errorf("news are told on %q", got)
	}
}

func TestForeignSubjectsAreNoCallsAndNoMessages(t *testing.T) {
	for _, s := range []string{"", "rpc.a.b", "rpc.a.b.c.d", "rpc.a..c", "msg.a.b.c", "rpc.a.*.c"} {
		if _, err := wire.ParseCall(s); err == nil {
			t.Errorf("%q is taken for a call", s)
		}
	}
	for _, s := range []string{"", "msg.a", "msg..a", "msg.a.", "live.scan.a", "msg.a.*"} {
		if _, _, err := wire.ParseMessage(s); err == nil {
			t.Errorf("%q is taken for a message", s)
		}
	}
}

func TestARefusedSubjectNamesTheCapability(t *testing.T) {
	for _, tt := range []struct {
		subject string
		publish bool
		want    string
	}{
		{"live.scan.campus.b%201", true, "publish campus/b 1"},
		{"live.point.campus.>", false, "subscribe campus/**"},
		{"live.point.*.temp", false, "subscribe */temp"},
		{"live.scan.>", false, "subscribe **"},
		{"live.breadth.point.temp.*.campus", false, "subscribe campus/*/temp"},
		{"live.breadth.scan.ahu.b%201", false, "subscribe b 1/ahu"},
		{"live.breadth.point.temp.>", false, "subscribe **"},
		{"live.breadth.scan.ahu", true, ""},
		{"msg.a.x.y", true, "publish x/y"},
		{"msg.*.x.>", false, "subscribe x/**"},
		{"rpc.platform%2Eactuator.a.set%20limit", true, "call platform.actuator:set limit"},
		{"rpc.node.other.hello", true, ""},
		{"_INBOX.other.>", false, ""},
		{"$JS.API.INFO", true, ""},
		{"live.>", false, ""},
		{">", false, ""},
		{"live.scan.%zz", true, ""},
		{"live.scan.a..b", true, ""},
	} {
		if got := wire.Capability(tt.subject, tt.publish); got != tt.want {
			t.Errorf("%s lacks %q, want %q", tt.subject, got, tt.want)
		}
	}
}
