package live

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
)

func TestWhatAChildDoesNotAllowIsToldToItsParent(t *testing.T) {
	for name, c := range map[string]struct {
		grants  identity.Grants
		renames []uplink.Rename
		want    string
		expect  []Withheld
	}{
		"read alone":            {grants: identity.Grants{Read: []point.Pattern{"**"}}, want: "live.scan.plant.>", expect: []Withheld{{"live.scan.plant.>", "plant", false, "subscribe **"}}},
		"one device":            {grants: identity.Grants{Read: []point.Pattern{"**"}}, want: "live.scan.plant.ahu", expect: []Withheld{{"live.scan.plant.ahu", "plant", false, "subscribe ahu"}}},
		"everything":            {grants: identity.Grants{Subscribe: []point.Pattern{"**"}}, want: "live.scan.plant.>"},
		"an administrator":      {grants: identity.Grants{Administer: true}, want: "live.scan.plant.>"},
		"what is wanted":        {grants: identity.Grants{Subscribe: []point.Pattern{"ahu"}}, want: "live.scan.plant.ahu"},
		"all below what is":     {grants: identity.Grants{Subscribe: []point.Pattern{"ahu/**"}}, want: "live.scan.plant.ahu.>"},
		"names with the prefix": {grants: identity.Grants{Subscribe: []point.Pattern{"plant/**"}}, want: "live.scan.plant.>"},
		"a part":                {grants: identity.Grants{Subscribe: []point.Pattern{"ahu/**"}}, want: "live.scan.plant.>", expect: []Withheld{{"live.scan.plant.>", "plant", true, "subscribe **"}}},
		"something else":        {grants: identity.Grants{Subscribe: []point.Pattern{"boiler/**"}}, want: "live.scan.plant.ahu", expect: []Withheld{{"live.scan.plant.ahu", "plant", false, "subscribe ahu"}}},
		"a point":               {grants: identity.Grants{}, want: "live.point.plant.a%20b.c", expect: []Withheld{{"live.point.plant.a%20b.c", "plant", false, `subscribe a b/c`}}},
		"free messages":         {grants: identity.Grants{}, want: "msg.*.plant.>", expect: []Withheld{{"msg.*.plant.>", "plant", false, "subscribe **"}}},
		"another name":          {grants: identity.Grants{}, renames: []uplink.Rename{{From: "ahu", To: "x"}}, want: "live.scan.x", expect: []Withheld{{"live.scan.x", "plant", false, "subscribe ahu"}}},
	} {
		rules := Rules{Naming: uplink.Naming{Prefix: "plant", Renames: c.renames}, Grants: c.grants, Self: "plant"}
		if d := cmp.Diff(c.expect, rules.withheld([]string{c.want})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A node in the middle passes on what those below it withhold, under the names that its parent knows, and only what that wants.
func TestANodeInTheMiddlePassesOnWhatIsWithheldBelow(t *testing.T) {
	rules := Rules{Naming: uplink.Naming{Prefix: "campus"}, Grants: identity.Grants{Subscribe: []point.Pattern{"**"}}, Self: "campus"}
	below := []Withheld{{"live.scan.plant.>", "plant", false, "subscribe **"}, {"live.scan.house.>", "house", false, "subscribe **"}}
	want := []Withheld{{"live.scan.campus.plant.>", "plant", false, "subscribe **"}}
	if d := cmp.Diff(want, rules.placed(below, []string{"live.scan.campus.plant.ahu"})); d != "" {
		t.Error(d)
	}
}

func TestBothEndsOfALinkKnowWhatIsWithheldUntilItIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t, "live.scan.a.>", "live.scan.b.>")
		var rules atomic.Pointer[Rules]
		strict, open := allowed("a"), allowed("a")
		strict.Grants = identity.Grants{Read: []point.Pattern{"**"}}
		rules.Store(&strict)
		up := f.childBy("a", newDesk(), func() Rules { return *rules.Load() })
		f.child("b", newDesk(), allowed("b"))
		pass(sayAgain)
		synctest.Wait()
		got := f.hub.Status()
		if d := cmp.Diff([]Withheld{{"live.scan.a.>", "a", false, "subscribe **"}}, got["a"].Withheld); d != "" || len(got["b"].Withheld) != 0 {
			t.Errorf("the parent knows %+v of b, and of a %s", got["b"].Withheld, d)
		}
		if d := cmp.Diff(f.hub.Status()["a"].Withheld, up.Status().Withheld); d != "" {
			t.Errorf("the ends differ: %s", d)
		}
		rules.Store(&open)
		up.Review()
		pass(sayAgain)
		synctest.Wait()
		if got := f.hub.Status()["a"].Withheld; len(got) != 0 {
			t.Errorf("after it was allowed the parent still knows %+v", got)
		}
	})
}

// Nodes that do not know of it say nothing, and are told what they leave unread.
func TestNodesOfBeforeWorkWithWhatIsWithheld(t *testing.T) {
	lacks := []Withheld{{"live.scan.a", "a", false, "subscribe **"}}
	w := word{Wanted: 3, Withheld: &lacks}
	var before struct {
		Wanted uint64 `json:"wanted"`
	}
	if err := json.Unmarshal(w.encode(), &before); err != nil || before.Wanted != 3 {
		t.Errorf("%+v, %v", before, err)
	}
	var now word
	if err := json.Unmarshal([]byte(`{"wanted":3}`), &now); err != nil || now.Withheld != nil {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestAttackAChildSaysThatAnotherNodeWithholds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t, "live.scan.a.>")
		f.child("a", newDesk(), allowed("a"))
		pass(sayAgain)
		synctest.Wait()
		say := func(list ...Withheld) {
			w := word{Withheld: &list}
			f.mu.Lock()
			id := f.wires["a"].id
			f.mu.Unlock()
			f.hub.Receive("a", id, w.encode())
			synctest.Wait()
		}
		say(Withheld{"live.scan.a", "b", false, "administer"}, Withheld{"live.scan.a", "a", false, strings.Repeat("x", maxSubject)})
		if got := f.hub.Status()["a"].Withheld; len(got) != 0 {
			t.Errorf("it is believed %+v", got)
		}
		say(slices.Repeat([]Withheld{{"live.scan.a", "a", false, "subscribe **"}}, 200)...)
		if got := f.hub.Status()["a"].Withheld; len(got) != mostWithheld {
			t.Errorf("%d are kept, want %d", len(got), mostWithheld)
		}
	})
}
