package permit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/bus/permit"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
	"voltbus/wire"
)

// everyAgent lists what an agent without grants may do.
func everyAgent(self string) (publish, subscribe []string) {
	return []string{"msg." + self + ".alert", "msg." + self + ".alert.>", "msg." + self + ".health", "rpc.node." + self + ".*"},
		[]string{"_INBOX." + self + ".>", "news." + self + ".>", "rpc." + self + ".>"}
}

// breadthFirst are the subjects of a branch whose path is given the other way round, and of what lies up to 8 levels below it.
func breadthFirst(branch string) (list []string) {
	for depth := range 9 {
		below := strings.Repeat("*.", depth) + branch
		list = append(list, "live.breadth.point."+below, "live.breadth.scan."+below)
	}
	return list
}

func TestGrantsBecomeSubjects(t *testing.T) {
	tests := []struct {
		name      string
		agent     string
		grants    identity.Grants
		publish   []string
		subscribe []string
	}{
		{"without grants an agent speaks with the node, and is heard with health and alerts", "boiler", identity.Grants{}, nil, nil},
		{"a name with dots is one token", "platform.actuator", identity.Grants{}, nil, nil},
		{
			"a path gives itself and all below", "a",
			identity.Grants{Publish: patterns("x/y")},
			[]string{
				"live.point.x.y", "live.point.x.y.>", "live.scan.x.y", "live.scan.x.y.>", "msg.a.x.y", "msg.a.x.y.>",
			},
			nil,
		},
		{
			"** at the end is the same", "a",
			identity.Grants{Subscribe: patterns("x/**")},
			nil,
			append(breadthFirst("x"), "live.point.x", "live.point.x.>", "live.scan.x", "live.scan.x.>", "msg.*.x", "msg.*.x.>"),
		},
		{
			"** alone is everything", "a",
			identity.Grants{Subscribe: patterns("**")},
			nil,
			[]string{"live.breadth.point.>", "live.breadth.scan.>", "live.point.>", "live.scan.>", "msg.*.>"},
		},
		{
			"a pattern of points gives no scan, which would hold more", "a",
			identity.Grants{Subscribe: patterns("x/*/temp")},
			nil,
			[]string{"live.breadth.point.temp.*.x", "live.point.x.*.temp", "msg.*.x.*.temp"},
		},
		{
			"a device whose name is a pattern is granted as a whole", "a",
			identity.Grants{Subscribe: patterns("x/*/ahu/**")},
			nil,
			append(breadthFirst("ahu.*.x"),
				"live.point.x.*.ahu", "live.point.x.*.ahu.>", "live.scan.x.*.ahu", "live.scan.x.*.ahu.>",
				"msg.*.x.*.ahu", "msg.*.x.*.ahu.>"),
		},
		{
			"what a subject cannot hold is escaped", "a",
			identity.Grants{Publish: patterns("b 1/c.d/>")},
			[]string{
				"live.point.b%201.c%2Ed.%3E", "live.point.b%201.c%2Ed.%3E.>", "live.scan.b%201.c%2Ed.%3E", "live.scan.b%201.c%2Ed.%3E.>",
				"msg.a.b%201.c%2Ed.%3E", "msg.a.b%201.c%2Ed.%3E.>",
			},
			nil,
		},
		{
			"calls carry the own name", "a.b",
			identity.Grants{Call: []identity.CallGrant{{Agent: "boiler", Method: "set.limit"}, {Agent: "x.y"}}},
			[]string{"rpc.boiler.a%2Eb.set%2Elimit", "rpc.x%2Ey.a%2Eb.*"},
			nil,
		},
		{
			"what the node judges opens nothing", "a", identity.Grants{
				Record: patterns("x"), Read: patterns("x"), Hold: []identity.CapabilityGrant{{Name: "tune"}},
				Command: []identity.CommandGrant{{Path: "x", Level: 8}},
			}, nil, nil,
		},
		{
			"who administers may do all that an agent can, in the own name", "a",
			identity.Grants{Administer: true},
			[]string{"live.point.>", "live.scan.>", "msg.a.>", "rpc.*.a.*"},
			[]string{"live.>", "msg.>"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := permit.Agent(&registry.Agent{Name: tt.agent, Grants: tt.grants})
			publish, subscribe := everyAgent(wire.Token(tt.agent))
			if d := cmp.Diff(sorted(publish, tt.publish), p.Publish); d != "" {
				t.Errorf("publish: %s", d)
			}
			if d := cmp.Diff(sorted(subscribe, tt.subscribe), p.Subscribe); d != "" {
				t.Errorf("subscribe: %s", d)
			}
			if p.Node || !p.Exclusive || !p.Responses || p.Name != tt.agent {
				t.Errorf("the permit is %+v", p)
			}
		})
	}
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

// A subject is allowed exactly if the grants allow its path.
func TestSubjectsAllowWhatTheGrantsAllow(t *testing.T) {
	segment := rapid.SampledFrom([]string{"a", "b", "a b", "c.d", ">", ""})
	path := rapid.Map(rapid.SliceOfN(segment, 1, 4), func(s []string) string { return strings.Join(s, "/") })
	pattern := rapid.Map(rapid.SliceOfN(rapid.OneOf(segment, rapid.Just("*")), 1, 3), func(s []string) string { return strings.Join(s, "/") })
	rapid.Check(t, func(t *rapid.T) {
		g := identity.Grants{}
		for _, p := range rapid.SliceOfN(pattern, 0, 3).Draw(t, "patterns") {
			if rapid.Bool().Draw(t, "deep") {
				p += "/**"
			}
			g.Subscribe = append(g.Subscribe, point.Pattern(p))
		}
		if len(g.Validate()) > 0 {
			t.Skip("not for the server")
		}
		permit := permit.Agent(&registry.Agent{Name: "x", Grants: g})
		at := point.Path(path.Draw(t, "path"))
		if at == "" {
			t.Skip("no path")
		}
		granted := g.MaySubscribe(at) == nil
		if got := permit.Subscribable(wire.Subject(wire.PointPrefix, at)); got != granted {
			t.Fatalf("the point %q is granted by %q: %v, but its subject is allowed: %v", at, g.Subscribe, granted, got)
		}
		// A scan holds any point below the device, so all of them must be granted.
		if permit.Subscribable(wire.Subject(wire.ScanPrefix, at)) && g.MaySubscribe(at+"/any/thing") != nil {
			t.Fatalf("scans of %q are allowed by %q, which do not grant all below", at, g.Subscribe)
		}
	})
}

func patterns(list ...point.Pattern) []point.Pattern { return list }
