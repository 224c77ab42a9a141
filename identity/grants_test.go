package identity_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

func list(p ...point.Pattern) []point.Pattern { return p }

func TestARefusalNamesTheMissingCapability(t *testing.T) {
	g := identity.Grants{
		Publish: list("analysis/**"), Record: list("r"), Subscribe: list("campus/b1/**"), Read: list("campus/*/temp"),
		Command: []identity.CommandGrant{{Path: "campus/b1", Level: 8, Min: new(10.0), Max: new(30.0)}},
		Call: []identity.CallGrant{
			{Agent: "boiler", Method: "set", Where: identity.Constraints{
				"device": {Pattern: "campus/b1/**"}, "limit": {Min: new(10.0), Max: new(20.0)}, "mode": {Values: []any{"auto", 1.0, true}},
			}},
			{Agent: "pump"},
		},
		Hold: []identity.CapabilityGrant{{Name: "tune"}},
	}
	good := map[string]any{"device": "campus/b1/ahu1", "limit": 15, "mode": "auto", "more": nil}
	with := func(name string, value any) map[string]any {
		m := map[string]any{}
		maps.Copy(m, good)
		if m[name] = value; value == nil {
			delete(m, name)
		}
		return m
	}
	for _, tt := range []struct {
		name string
		err  error
		want string // what is missing and why; "" if nothing is
	}{
		{"publish below", g.MayPublish("analysis/x"), ""},
		{"publish elsewhere", g.MayPublish("other/x"), "missing: publish other/x"},
		{"record itself", g.MayRecord("r"), ""},
		{"record a neighbour", g.MayRecord("rr"), "missing: record rr"},
		{"subscribe", g.MaySubscribe("campus/b1/x/y"), ""},
		{"subscribe elsewhere", g.MaySubscribe("campus/b2/x"), "missing: subscribe campus/b2/x"},
		{"read by a pattern", g.MayRead("campus/b2/temp"), ""},
		{"read deeper", g.MayRead("campus/b2/x/temp"), "missing: read campus/b2/x/temp"},
		{"command", g.MayCommand("campus/b1/ahu1", 8, point.FloatOf(20)), ""},
		{"command less urgently", g.MayCommand("campus/b1/ahu1", 16, point.IntOf(30)), ""},
		{"command more urgently", g.MayCommand("campus/b1/ahu1", 7, point.FloatOf(20)), "missing: command campus/b1/ahu1@7"},
		{"command too much", g.MayCommand("campus/b1/ahu1", 8, point.FloatOf(31)), "missing: command campus/b1/ahu1@8: the value must be a number from 10 to 30"},
		{"command a text", g.MayCommand("campus/b1/ahu1", 8, point.TextOf("on")), "missing: command campus/b1/ahu1@8: the value must be a number from 10 to 30"},
		{"command elsewhere", g.MayCommand("x", 8, point.FloatOf(20)), "missing: command x@8"},
		{"call any method", g.MayCall("pump", "any", map[string]any{}), ""},
		{"call as it is restricted", g.MayCall("boiler", "set", good), ""},
		{"call without telling the arguments", g.MayCall("boiler", "set", nil), ""},
		{"call a number for a number", g.MayCall("boiler", "set", with("mode", 1)), ""},
		{"call another method", g.MayCall("boiler", "stop", good), "missing: call boiler:stop"},
		{"call another agent", g.MayCall("x", "set", good), "missing: call x:set"},
		{"call for another device", g.MayCall("boiler", "set", with("device", "campus/b2")), "missing: call boiler:set: the argument device must be a text that matches campus/b1/**"},
		{"call beyond the range", g.MayCall("boiler", "set", with("limit", 20.5)), "missing: call boiler:set: the argument limit must be a number from 10 to 20"},
		{"call with a text for a number", g.MayCall("boiler", "set", with("limit", "15")), "missing: call boiler:set: the argument limit must be a number from 10 to 20"},
		{"call with another value", g.MayCall("boiler", "set", with("mode", "off")), "missing: call boiler:set: the argument mode must be one of [auto 1 true]"},
		{"call without a restricted argument", g.MayCall("boiler", "set", with("limit", nil)), "missing: call boiler:set: the argument limit must be given, since it is restricted"},
		{"hold", g.Holds("tune", nil), ""},
		{"hold something else", g.Holds("trace", nil), "missing: hold trace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				if tt.err != nil {
					t.Errorf("refused: %v", tt.err)
				}
				return
			}
			if !fault.Is(tt.err, fault.Refused) || tt.err.Error() != tt.want {
				t.Fatalf("the answer is %v, want %q", tt.err, tt.want)
			}
			if words := identity.MissingOf(tt.err); !strings.HasPrefix(tt.want, "missing: "+words) {
				t.Errorf("missing is %q", words)
			}
		})
	}
	root := identity.Grants{Administer: true}
	for _, err := range []error{
		root.MayPublish("x"), root.MayRecord("x"), root.MaySubscribe("x"), root.MayRead("x"),
		root.MayCommand("x", 1, point.TextOf("x")), root.MayCall("x", "y", map[string]any{}), root.Holds("x", nil),
	} {
		if err != nil {
			t.Errorf("who administers is refused: %v", err)
		}
	}
}

func TestWrongGrantsAreToldAllAtOnce(t *testing.T) {
	g := identity.Grants{
		Publish:   list("", "a/**/b", "a*", "ok/*"),
		Subscribe: list("x/*", "*", "\x00"),
		Record:    list("**/any*"),
		Command:   []identity.CommandGrant{{Path: "", Level: 0, Min: new(2.0), Max: new(1.0)}},
		Call: []identity.CallGrant{
			{Agent: "a b"},
			{Agent: "x", Method: "\n"},
			{Agent: "x", Where: identity.Constraints{"d": {}}},
			{Agent: "x", Where: identity.Constraints{"d": {Values: []any{[]any{}}}}},
		},
		Hold: []identity.CapabilityGrant{{}},
	}
	var places []string
	for _, err := range g.Validate() {
		place, _, _ := strings.Cut(err.Error(), ": ")
		places = append(places, place)
	}
	want := []string{
		"publish[0]", "publish[1]", "publish[2]", "subscribe[0]", "subscribe[1]", "subscribe[2]",
		"command[0].path", "command[0].level", "command[0]", "call[0].agent", "call[1].method",
		"call[2].where.d", "call[3].where.d", "hold[0].name",
	}
	if d := cmp.Diff(want, places); d != "" {
		t.Error(d)
	}
}

func TestCapabilitiesReadBack(t *testing.T) {
	var g identity.Grants
	words := []string{
		"publish a/**", "record a b", "subscribe **", "read */x", "command a@b@16", "call x:y:z", "call p", "hold tune", "administer",
	}
	for _, w := range words {
		verb, object, _ := strings.Cut(w, " ")
		one, err := identity.ParseCapability(verb, object)
		if err != nil {
			t.Fatal(err)
		}
		g = g.With(one)
	}
	if d := cmp.Diff(words, g.Capabilities()); d != "" {
		t.Error(d)
	}
	for _, bad := range [][2]string{{"dance", "x"}, {"publish", ""}, {"command", "x"}, {"command", "x@y"}, {"administer", "x"}} {
		if _, err := identity.ParseCapability(bad[0], bad[1]); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q gives %v", bad, err)
		}
	}
}

func TestGrantsAreAddedAndTakenAwayByName(t *testing.T) {
	g := identity.Grants{Publish: list("a", "b"), Call: []identity.CallGrant{{Agent: "x", Method: "m", Where: identity.Constraints{"l": {Min: new(1.0)}}}, {Agent: "x"}}}
	more := g.With(identity.Grants{Publish: list("b", "c"), Call: []identity.CallGrant{{Agent: "x", Method: "m"}}})
	if d := cmp.Diff([]string{"publish a", "publish b", "publish c", "call x", "call x:m"}, more.Capabilities()); d != "" {
		t.Error(d)
	}
	less, err := g.Without(identity.Grants{Publish: list("a"), Call: []identity.CallGrant{{Agent: "x", Method: "m"}}})
	if d := cmp.Diff([]string{"publish b", "call x"}, less.Capabilities()); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, absent := range []identity.Grants{
		{Publish: list("c")}, {Read: list("a")}, {Administer: true}, {Call: []identity.CallGrant{{Agent: "y"}}}, {Publish: list("a", "c")},
	} {
		if _, err := g.Without(absent); !fault.Is(err, fault.NotFound) {
			t.Errorf("taking away %q gives %v", absent.Capabilities(), err)
		}
	}
	if len(g.Capabilities()) != 4 {
		t.Error("the grants themselves were changed")
	}
}

func TestACallToAnotherNodeNamesNodeAndAgent(t *testing.T) {
	for _, c := range []struct {
		grant, method string
		agent         string
		may           bool
	}{
		{"plant/boiler", "", "plant/boiler", true},
		{"Plant/boiler", "", "plant/boiler", true},
		{"plant/*", "", "plant/boiler", true},
		{"*/boiler", "tune", "plant/boiler", true},
		{"*/*", "", "plant/boiler", true},
		{"*/boiler", "stop", "plant/boiler", false},
		{"plant/boiler", "", "boiler", false},
		{"boiler", "", "plant/boiler", false},
		{"*/*", "", "boiler", false},
		{"plant/chiller", "", "plant/boiler", false},
	} {
		g := identity.Grants{Call: []identity.CallGrant{{Agent: c.grant, Method: c.method}}}
		if bad := g.Validate(); len(bad) > 0 {
			t.Errorf("%s is not a grant: %v", c.grant, bad)
		}
		if err := g.MayCall(c.agent, "tune", nil); (err == nil) != c.may {
			t.Errorf("with call %s:%s, calling %s:tune gives %v", c.grant, c.method, c.agent, err)
		}
	}
	for _, bad := range []string{"*", "plant/", "/boiler", "a b/boiler", "plant/bo iler", "plant/x/y", "pl*/boiler"} {
		g := identity.Grants{Call: []identity.CallGrant{{Agent: bad}}}
		if len(g.Validate()) == 0 {
			t.Errorf("%q passes as who may be called", bad)
		}
	}
}
