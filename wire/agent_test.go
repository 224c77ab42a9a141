package wire_test

import (
	"testing"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

func TestRequestsHaveThreeNamesOnTheirSubject(t *testing.T) {
	subject := wire.RequestSubject("platform.actuator", "boiler 1", "set_limit")
	if subject != "rpc.platform%2Eactuator.boiler%201.set_limit" {
		t.Errorf("the subject is %s", subject)
	}
	got, err := wire.ParseRequestSubject(subject)
	if got != (wire.Request{Callee: "platform.actuator", Caller: "boiler 1", Method: "set_limit"}) || err != nil {
		t.Errorf("%+v %v", got, err)
	}
	for _, wrong := range []string{"", "rpc.a.b", "rpc.a.b.c.d", "rpc.a..c", "rpc.a.b.%4", "msg.a.b.c", "rpc.a.>.c"} {
		if _, err := wire.ParseRequestSubject(wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q gives %v", wrong, err)
		}
	}
}

func TestMessagesHaveTheirSenderOnTheirSubject(t *testing.T) {
	for topic, want := range map[point.Path]string{
		"health": "msg.a%2Eb.health", "alert/too hot": "msg.a%2Eb.alert.too%20hot", "x//y": "msg.a%2Eb.x.%00.y",
	} {
		subject := wire.MessageSubject("a.b", topic)
		if subject != want {
			t.Errorf("%q is %s", topic, subject)
		}
		sender, got, err := wire.ParseMessageSubject(subject)
		if sender != "a.b" || got != topic || err != nil {
			t.Errorf("%s is %q %q %v", subject, sender, got, err)
		}
	}
	for _, wrong := range []string{"", "msg.a", "msg..b", "rpc.a.b", "msg.a.*"} {
		if _, _, err := wire.ParseMessageSubject(wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q gives %v", wrong, err)
		}
	}
}

func TestArgumentsMayBeMissingAndNothingElseMayBeThere(t *testing.T) {
	for _, body := range []string{"", " ", "{}", `{"args":[1]}`, `{"kwargs":{"a":null}}`, `{"args":[],"kwargs":{}}`} {
		if _, err := wire.ParseArguments([]byte(body)); err != nil {
			t.Errorf("%s gives %v", body, err)
		}
	}
	for _, body := range []string{"7", "[]", `{"arg":[]}`, `{"args":{}}`, `{} {}`, `{"args":[1}`} {
		if _, err := wire.ParseArguments([]byte(body)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s gives %v", body, err)
		}
	}
}
