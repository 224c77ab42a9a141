package tree_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/tree"
)

// Each node is one that calls itself otherwise than its parent does: whoever asks hears the names that it asks by.
func TestErrorsNameNodesAsTheirParentsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region := plant(t, "region", nil)
		campus := plant(t, "campus", region)
		building := plant(t, "building", campus)
		for _, s := range []*site{campus, building} {
			s.own = "box-of-" + s.name
			s.open(t.TempDir())
		}
		run(t, region, campus, building)
		settle()
		ask := func(node, agent string) string {
			t.Helper()
			_, err := region.tree.Ask(t.Context(), tree.Caller{Name: "person:ada", Role: identity.Engineer}, tree.Request{Node: node, Agent: agent, Method: "tune"})
			if err == nil {
				t.Fatalf("%s does it", node)
			}
			return err.Error()
		}
		for name, want := range map[string]string{"campus": "campus says: ", "building": "campus says: missing: call building/boiler:tune"} {
			if got := ask(name, "boiler"); !strings.Contains(got, want) || strings.Contains(got, "box-of-") {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		campus.allow = calls("building/boiler")
		if got := ask("building", "boiler"); !strings.Contains(got, "building says: ") || strings.Contains(got, "box-of-") {
			t.Errorf("the building: %q", got)
		}
		building.link(false)
		settle()
		got := ask("building", "boiler")
		if !strings.Contains(got, "building is not connected to campus") || strings.Contains(got, "box-of-") {
			t.Errorf("without the building: %q", got)
		}
		_, err := building.tree.Ask(t.Context(), tree.Caller{Name: "person:ada", Role: identity.Engineer}, tree.Request{Node: "region", Agent: "boiler", Method: "tune"})
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "campus is not connected to box-of-building") {
			t.Errorf("who asks at the building hears its own name: %v", err)
		}
	})
}
