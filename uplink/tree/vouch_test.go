package tree_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
)

// claim has a neighbour ask for somebody, and returns the error.
func claim(t *testing.T, at *site, from tree.Hop, node, who string) error {
	t.Helper()
	body, err := json.Marshal(map[string]any{"node": node, "agent": "boiler", "method": "tune", "caller": "agent:weather", "path": []string{"elsewhere"}, "timeout": 5, "for": who})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tree.Parse("", at.tree.Relay(t.Context(), from, body))
	return err
}

func TestWhoAsksIsKnownAtTheEndOfTheWay(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		for _, who := range []string{"agent:weather", "agent:optimizer", "person:ada", "token:gate", ""} {
			if _, err := region.tree.Ask(t.Context(), tree.Caller{Name: who}, tree.Request{Node: "building", Agent: "boiler", Method: "tune"}); err != nil {
				t.Fatal(err)
			}
		}
		// Who is neither an agent nor a person has no name elsewhere.
		want := []string{"agent:region/weather", "agent:region/optimizer", "person:region/ada", "agent:@campus", "agent:@campus"}
		if !slices.Equal(building.owners, want) {
			t.Errorf("building knows %q, want %q", building.owners, want)
		}
		campus.grants["building"], region.grants["campus"] = calls("region/tariff"), calls("tariff:price")
		if _, err := ask(t, building, "region", "tariff", "price"); err != nil || region.owners[0] != "agent:building/weather" {
			t.Errorf("region knows %q, %v", region.owners, err)
		}
		for at, from := range map[*site]string{campus: "region", building: "campus"} {
			if e := at.told[0]; e.Request.For != "agent:region/weather" || e.From != from || e.Claimed != "" {
				t.Errorf("%s is told %+v for %q", at.name, e, e.Request.For)
			}
		}
	})
}

func TestAttackANodeSpeaksOnlyForThoseWhoAreReachedByIt(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		harbour := plant(t, "harbour", region)
		run(t, harbour)
		settle()
		region.grants["campus"], region.grants["harbour"] = calls("boiler"), calls("boiler", "building/boiler")
		campus.grants["building"] = calls("boiler", "region/boiler")
		byCampus, byHarbour, byBuilding := tree.Hop{Name: "campus"}, tree.Hop{Name: "harbour"}, tree.Hop{Name: "building"}
		above := tree.Hop{Name: "campus", Above: true}
		for _, tt := range []struct {
			what string
			at   *site
			from tree.Hop
			who  string
			as   string // to whom belongs what is done; "" if it is refused
		}{
			{"a child for itself", region, byCampus, "agent:campus/x", "agent:campus/x"},
			{"in other letters", region, byCampus, "agent:CAMPUS/x", "agent:campus/x"},
			{"a child for one below it", region, byCampus, "person:Building/ada", "person:building/ada"},
			{"a child that says nothing", region, byCampus, "", "agent:@campus"},
			{"a child for the parent", region, byCampus, "agent:region/x", ""},
			{"a child for a sibling", region, byHarbour, "agent:campus/x", ""},
			{"a child for one below a sibling", region, byHarbour, "agent:building/x", ""},
			{"a child for one above its parent", campus, byBuilding, "agent:region/x", ""},
			{"a child for nobody who is known", region, byCampus, "agent:nowhere/x", ""},
			{"a child in letters that look alike", region, byHarbour, "agent:campu\u017f/x", ""},
			{"the parent for itself", building, above, "agent:campus/x", "agent:campus/x"},
			{"the parent for one above it", building, above, "agent:region/x", "agent:region/x"},
			{"the parent for one beside it", building, above, "person:harbour/ada", "person:harbour/ada"},
			{"the parent for this node", building, above, "agent:building/x", ""},
			{"the parent for one below this node", campus, tree.Hop{Name: "region", Above: true}, "agent:Building/x", ""},
			{"somebody of no node", region, byCampus, "agent:x", ""},
			{"a neighbour as a name of somebody", region, byHarbour, "agent:@campus", ""},
			{"words that would be a line of a log", region, byCampus, "agent:campus/x\n2026-01-01 ok", ""},
			{"a kind that there is not", region, byCampus, "node:campus/x", ""},
		} {
			node := tt.at.name
			if tt.at == campus {
				campus.allow = calls("boiler")
			}
			asked, told := len(tt.at.owners), len(tt.at.told)
			err := claim(t, tt.at, tt.from, node, tt.who)
			e := tt.at.told[len(tt.at.told)-1]
			kind := fault.Refused
			if tt.who == "agent:nowhere/x" { // it may have joined just now
				kind = fault.Unavailable
			}
			switch {
			case tt.as != "" && (err != nil || tt.at.owners[asked] != tt.as || e.Claimed != ""):
				t.Errorf("%s: %v, %q, %+v, want it done for %s", tt.what, err, tt.at.owners[asked:], e, tt.as)
			case tt.as == "" && (!fault.Is(err, kind) || len(tt.at.owners) > asked):
				t.Errorf("%s: %v, done for %q, want refused", tt.what, err, tt.at.owners[asked:])
			case tt.as == "" && (len(tt.at.told) != told+1 || e.From != tt.from.Name || e.Claimed != tt.who || e.Err == nil):
				t.Errorf("%s: the audit log is told %+v", tt.what, e)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("%s: the error is %q", tt.what, err)
			}
		}
		// What is passed on is judged, too: the lie goes no further.
		told := len(region.told)
		if err := claim(t, campus, byBuilding, "region", "agent:region/x"); !fault.Is(err, fault.Refused) || len(region.told) > told {
			t.Errorf("a lie is passed on: %v", err)
		}
	})
}

// A node that does not know of principals leaves the field out, and its own name of who asks is only what it says.
func TestAttackANodeOfBeforeCannotBeUsedToSpeakForItsNeighbour(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		campus.grants["building"], region.grants["campus"] = calls("region/boiler"), calls("boiler")
		for _, path := range [][]string{nil, {}, {"building"}} {
			body, _ := json.Marshal(tree.Request{Node: "region", Agent: "boiler", Method: "tune", Caller: "agent:optimizer", Path: path, Timeout: 5})
			if _, err := tree.Parse("", campus.tree.Relay(t.Context(), tree.Hop{Name: "building"}, body)); err != nil {
				t.Fatal(err)
			}
			if got := region.owners[len(region.owners)-1]; got != "agent:@campus" {
				t.Errorf("a request with the path %q belongs to %s, want all who ask by campus", path, got)
			}
		}
		_ = building
	})
}

func TestAttackWhoIsNotLetIntoTheTreeAsksForNobody(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, _ *site) {
		other := plant(t, "harbour", region)
		twin := plant(t, "Building", other)
		run(t, other, twin)
		settle()
		other.grants["Building"], region.grants["harbour"] = calls("region/tariff"), calls("tariff")
		if _, err := ask(t, twin, "region", "tariff", "price"); !fault.Is(err, fault.Refused) || len(region.owners) > 0 {
			t.Errorf("a second node of a name asks: %v, for %q", err, region.owners)
		}
		long := "campu\u017f"
		_, _ = region.table.Take("harbour", []byte(`{"nodes":[{"n":"`+long+`","v":1,"s":{"node":{"path":["`+long+`"]}}},{"n":"a\nb","v":1,"s":{"node":{"path":["a\nb"]}}}]}`), "")
		_, _ = region.table.TakeFormer("harbour", replica.FormerTreeMethod, []byte(`{"nodes":[{"name":"harbour"},{"name":"`+long+`","path":["`+long+`"]},{"name":"a\nb","path":["a\nb"]}]}`), "")
		for _, n := range region.table.Nodes() {
			if !identity.IsNodeName(n.Name) {
				t.Errorf("%q is let into the tree", n.Name)
			}
		}
		_ = campus
	})
}

func TestANodeIsReachedAsLongAsTheWayToItStands(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		for _, name := range []string{"region", "campus", "Building"} {
			if !region.tree.Reaches(name) || !building.tree.Reaches(name) {
				t.Errorf("%s is not reached", name)
			}
		}
		if region.tree.Reaches("nowhere") {
			t.Error("a root reaches a node that nobody knows")
		}
		campus.link(false)
		<-time.After(5 * time.Second)
		if region.tree.Reaches("building") || campus.tree.Reaches("region") || !campus.tree.Reaches("building") || !region.tree.Reaches("region") {
			t.Error("behind a link that is cut nodes are reached, or others are not")
		}
	})
}
