package live

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

func TestAttackABodyThatSpeaksOfAnotherDeviceThanItsSubject(t *testing.T) {
	for name, body := range map[string]string{
		"another device":               `{"device":"other","points":{}}`,
		"a second key":                 `{"device":"plant/a","points":{},"device":"other"}`,
		"a second key that is escaped": `{"device":"plant/a","\u0064evice":"other"}`,
		"a second key in capitals":     `{"device":"plant/a","Device":"other"}`,
		"only one in capitals":         `{"DEVICE":"plant/a"}`,
		"none":                         `{"points":{"device":"plant/a"}}`,
		"a number":                     `{"device":7}`,
		"a list":                       `[{"device":"plant/a"}]`,
		"two objects":                  `{"device":"plant/a"}{"device":"other"}`,
		"cut short":                    `{"device":"plant/a"`,
		"nothing":                      ``,
		"lines that end an event":      "{\"device\":\"plant/a\",\n\n\"points\":{}}",
		"a carriage return":            "{\"device\":\"plant/a\",\r\"points\":{}}",
	} {
		if err := about([]byte(body), deviceKey, "plant/a"); err == nil {
			t.Errorf("%s is taken for a message about plant/a: %s", name, body)
		}
	}
	for name, body := range map[string]string{
		"as the node writes it":  `{"device":"plant/a","time":"x","points":{"t":[1,{"device":"other"}]}}`,
		"as other programs do":   `{ "time" : "x" , "device" : "plant/a", "note": "\"device\":\"other\"" }`,
		"escaped where it needs": `{"device":"plant\/a"}`,
	} {
		if err := about([]byte(body), deviceKey, "plant/a"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzWhatIsTakenForOneDeviceIsReadAsThatDevice(f *testing.F) {
	for _, body := range []string{`{"device":"a","x":{"y":"}"}}`, `{"device":"a","Device":"b"}`, `{"device":"a" ,"\\":",{"}`, `{}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if about(body, deviceKey, "a") != nil {
			return
		}
		var read struct {
			Device string `json:"device"`
		}
		if err := json.Unmarshal(body, &read); err == nil && read.Device != "a" {
			t.Errorf("%q is taken for one of a and read as one of %q", body, read.Device)
		}
	})
}

// judgeOf judges as a parent does a child below a prefix.
func judgeOf(prefix point.Pattern, nodes ...string) *Judge {
	g := identity.Grants{Publish: []point.Pattern{prefix}}
	return &Judge{MayPublish: g.MayPublish, Speaks: func(node string) bool { return strings.Contains(strings.Join(nodes, " "), node) }}
}

func TestAttackAChildPublishesBesideItsPrefixAndForOthers(t *testing.T) {
	j := judgeOf("plant", "plant", "cell")
	for name, m := range map[string]Message{
		"another place":                    {Subject: "live.scan.other.a", Data: []byte(`{"device":"other/a"}`)},
		"a place that begins alike":        {Subject: "live.scan.plants", Data: []byte(`{"device":"plants"}`)},
		"the parent's root":                {Subject: "live.scan.>", Data: []byte(`{"device":">"}`)},
		"a wildcard below the prefix":      {Subject: "live.scan.plant.*", Data: []byte(`{"device":"plant/*"}`)},
		"another spelling of a place":      {Subject: "live.scan.plant.%61", Data: []byte(`{"device":"plant/a"}`)},
		"a point elsewhere":                {Subject: "live.point.other", Data: []byte(`{"point":"other"}`)},
		"a point with another inside":      {Subject: "live.point.plant.a", Data: []byte(`{"point":"other"}`)},
		"a request":                        {Subject: "rpc.node.admin.stop", Data: []byte(`{}`)},
		"an answer":                        {Subject: "_INBOX.admin.1", Data: []byte(`{}`)},
		"a block":                          {Subject: "up.@other.n"},
		"the log":                          {Subject: "log.x"},
		"the server's own":                 {Subject: "$SYS.REQ.SERVER.PING"},
		"no subject":                       {Subject: ""},
		"control characters":               {Subject: "live.scan.plant.\r\nPUB x 1"},
		"a message of an agent here":       {Subject: "msg.boiler.plant.x"},
		"a message of the node here":       {Subject: "msg.node.plant.x"},
		"a message of a node elsewhere":    {Subject: "msg.region%2Fx.plant.x"},
		"a message of no agent":            {Subject: "msg.plant%2F.plant.x"},
		"a message with two nodes":         {Subject: "msg.plant%2Fcell%2Fx.plant.x"},
		"a message on a topic elsewhere":   {Subject: "msg.plant%2Fx.control.granted"},
		"an alert without the prefix":      {Subject: "msg.plant%2Fx.alert.fire"},
		"a message that is much too large": {Subject: "live.scan.plant.a", Data: make([]byte, maxMessage+1)},
	} {
		if err := j.judge(&m); !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is taken: %v", name, err)
		}
	}
	for _, m := range []Message{
		{Subject: "live.scan.plant.a", Data: []byte(`{"device":"plant/a","points":{}}`)},
		{Subject: "msg.plant%2Fx.plant.topic", Data: []byte("any bytes\n")},
		{Subject: "msg.cell%2Fx.plant.topic"},
	} {
		if err := j.judge(&m); err != nil {
			t.Errorf("%s: %v", m.Subject, err)
		}
	}
}

func TestAttackFramesThatAreDamagedOrGrowTooLarge(t *testing.T) {
	p, u := &packer{}, &unpacker{}
	defer u.close()
	pack := func(f *packed) []byte {
		frame, err := p.pack(nil, f)
		if err != nil {
			t.Fatal(err)
		}
		return frame
	}
	bomb := pack(&packed{number: 1, messages: []Message{{Subject: "live.scan.a", Data: make([]byte, 64<<20)}}})
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	good := pack(&packed{number: 7, lost: 3, messages: []Message{{"a", map[string][]string{"K": {"v"}}, []byte("x")}, {Subject: "b"}}})
	for name, frame := range map[string][]byte{
		"a bomb": bomb, "nothing": {}, "another version": {9, 1, 1}, "no numbers": {dataFrame}, "rubbish": {dataFrame, 1, 0, 1, 2, 3, 4, 5},
		"half of one": good[:len(good)/2], "a count that is too long": append([]byte{dataFrame}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		if f, err := u.unpack(frame); err == nil {
			t.Errorf("%s is taken: %d messages", name, len(f.messages))
		}
	}
	got, err := u.unpack(good)
	if err != nil || got.number != 7 || got.lost != 3 || len(got.messages) != 2 || got.messages[0].Header["K"][0] != "v" || string(got.messages[0].Data) != "x" {
		t.Errorf("a good frame: %+v, %v", got, err)
	}
}

func TestAScanGoesUnderItsNameAtTheOtherEnd(t *testing.T) {
	body := `{"device":"ahu","time":"t","points":{"temp":1,"fan/speed":2,"mode":null},"quality":{"mode":"bad(timeout)"}}`
	for _, c := range []struct {
		name   string
		rules  Rules
		body   string
		wants  []string
		expect map[string]string
	}{
		{
			"below a prefix",
			Rules{Naming: uplink.Naming{Prefix: "plant"}, Grants: identity.Grants{Administer: true}},
			body, nil,
			map[string]string{"live.scan.plant.ahu": strings.Replace(body, `"ahu"`, `"plant/ahu"`, 1)},
		},
		{
			"written by another program",
			Rules{Naming: uplink.Naming{Prefix: "plant"}, Grants: identity.Grants{Administer: true}},
			`{ "points": {"x": 1}, "device" : "ahu"}`, nil,
			map[string]string{"live.scan.plant.ahu": `{"device":"plant/ahu","points":{"x":1}}`},
		},
		{
			"without what the parent may not hear",
			Rules{Grants: identity.Grants{Subscribe: []point.Pattern{"ahu/fan/**"}}},
			body, nil,
			map[string]string{"live.scan.ahu": `{"device":"ahu","time":"t","points":{"fan/speed":2}}`},
		},
		{"of which nothing may go", Rules{Grants: identity.Grants{Subscribe: []point.Pattern{"boiler/**"}}}, body, nil, map[string]string{}},
		{
			"put into two places",
			Rules{
				Naming: uplink.Naming{Renames: []uplink.Rename{{From: "ahu", To: "x"}, {From: "ahu/fan", To: "y/f"}}}, Grants: identity.Grants{Administer: true},
			},
			body, nil,
			map[string]string{
				"live.scan.x":   `{"device":"x","time":"t","points":{"mode":null,"temp":1},"quality":{"mode":"bad(timeout)"}}`,
				"live.scan.y.f": `{"device":"y/f","time":"t","points":{"speed":2}}`,
			},
		},
		{
			"of which one of two places is wanted",
			Rules{
				Naming: uplink.Naming{Renames: []uplink.Rename{{From: "ahu/fan", To: "y/f"}}}, Grants: identity.Grants{Administer: true},
			},
			body,
			[]string{"live.scan.y.>"},
			map[string]string{"live.scan.y.f": `{"device":"y/f","time":"t","points":{"speed":2}}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := outlet{}
			wants := c.wants
			if wants == nil {
				wants = []string{"live.scan.>"}
			}
			o.set(wants, &c.rules)
			got := map[string]string{}
			if p := o.plan("live.scan.ahu"); p != nil {
				list, err := o.apply(&queued{message: Message{Subject: "live.scan.ahu", Data: []byte(c.body)}, plan: p})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range list {
					got[m.Subject] = string(m.Data)
				}
			}
			if diff := cmp.Diff(c.expect, got); diff != "" {
				t.Error(diff)
			}
			for subject, body := range got {
				path, err := wire.ParseSubject(wire.ScanPrefix, subject)
				if err := errors.Join(err, about([]byte(body), deviceKey, path)); err != nil {
					t.Errorf("the other end refuses %s: %v", body, err)
				}
			}
		})
	}
}
