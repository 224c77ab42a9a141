package tree_test

import (
	"encoding/json"
	"slices"
	"testing"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// asked has somebody of the region ask the building, and returns with which rights that comes there.
func asked(t *testing.T, region, building *site, c tree.Caller) *tree.RemoteCaller {
	t.Helper()
	if _, err := region.tree.Ask(t.Context(), c, tree.Request{Node: "building", Agent: "boiler", Method: "tune"}); err != nil {
		t.Fatal(err)
	}
	return building.visitors[len(building.visitors)-1]
}

func TestAttackARoleIsLoweredOnTheWayAndNeverRaised(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		all := identity.Grants{Administer: true}
		limited, end := campus.allow, building.allow
		for _, tt := range []struct {
			at, to      identity.Grants // what the links let those above do at campus and at the building
			said, comes identity.Role
		}{
			{limited, end, identity.Viewer, identity.Viewer},
			{limited, end, identity.Engineer, identity.Engineer},
			{limited, end, identity.Administrator, identity.Engineer},
			{all, end, identity.Administrator, identity.Engineer},
			{limited, all, identity.Administrator, identity.Engineer},
			{all, all, identity.Administrator, identity.Administrator},
			{all, all, identity.Operator, identity.Operator},
		} {
			campus.allow, building.allow = tt.at, tt.to
			v := asked(t, region, building, tree.Caller{Name: "person:ada", Role: tt.said})
			if v.Role != tt.comes || v.As(identity.Administrator) != tt.comes || v.IsAgent() {
				t.Errorf("an %v by %+v and %+v comes as %v", tt.said, tt.at, tt.to, v.Role)
			}
		}
		// A node on the way that does not know of roles: the least with which that can be asked for.
		campus.allow, building.allow = all, all
		v := asked(t, region, building, tree.Caller{Name: "person:ada"})
		for _, needed := range []identity.Role{identity.Viewer, identity.Operator, identity.Engineer, identity.Administrator} {
			if got := v.As(needed); got != min(needed, identity.Engineer) {
				t.Errorf("without a role it asks for what needs %v as %v", needed, got)
			}
		}
	})
}

func TestAttackAnAgentHoldsElsewhereWhatItHoldsAtHome(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		mine := calls("building/boiler")
		mine.Hold = []identity.CapabilityGrant{{Name: "tune"}}
		building.allow.Hold = []identity.CapabilityGrant{{Name: "tune"}, {Name: "drain"}}
		r := &tree.Request{Agent: "boiler", Method: "tune"}
		v := asked(t, region, building, tree.Caller{Name: "agent:weather", Grants: &mine})
		if v.As(identity.Viewer) != identity.Nobody || v.Holds(r, "tune") != nil || !fault.Is(v.Holds(r, "drain"), fault.Refused) {
			t.Errorf("an agent that holds tune: %+v", v)
		}
		building.allow.Hold = nil
		if v := asked(t, region, building, tree.Caller{Name: "agent:weather", Grants: &mine}); !fault.Is(v.Holds(r, "tune"), fault.Refused) {
			t.Error("it holds what the link does not")
		}
		v = asked(t, region, building, tree.Caller{Name: "agent:weather", Grants: &identity.Grants{Administer: true}})
		if v.Own.Administer || v.Role != identity.Nobody {
			t.Errorf("an agent administers by links that do not: %+v", v.Own)
		}
		building.allow.Hold = []identity.CapabilityGrant{{Name: "tune"}}
		if v := asked(t, region, building, tree.Caller{Name: "agent:weather"}); !fault.Is(v.Holds(r, "tune"), fault.Refused) {
			t.Error("an agent whose node does not say what it holds, holds it")
		}
	})
}

func TestAttackWhatIsSaidOfRightsMustBeReadable(t *testing.T) {
	inChain(t, func(t *testing.T, _, _, building *site) {
		for _, said := range []map[string]any{
			{"role": "god"},
			{"role": "nobody"},
			{"role": "Administrator"},
			{"role": 4},
			{"grants": map[string]any{"hold": slices.Repeat([]map[string]string{{"name": "x"}}, 1001)}},
			{"grants": map[string]any{"hold": []map[string]string{{"name": ""}}}},
		} {
			said["node"], said["agent"], said["method"], said["caller"] = "building", "boiler", "tune", "person:eve"
			said["path"], said["timeout"], said["for"] = []string{"campus"}, 5, "person:campus/eve"
			body, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := wire.ParseReply(building.tree.Relay(t.Context(), tree.Hop{Name: "campus", Above: true}, body))
			if err != nil || reply.Error == nil || len(building.visitors) > 0 {
				t.Errorf("%.100s is answered %+v, %v", body, reply, err)
			}
		}
	})
}
