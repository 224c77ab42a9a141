package permit_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/bus/permit"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/wire"
)

func TestAChildMayDoOnlyWhatItsOwnNameAndPrefixAllow(t *testing.T) {
	c := registry.Child{
		Name: "plant", Public: "UNEW", State: registry.ChildApproved, Prefix: "campus/b1", Previous: []string{"UOLD"},
		Grants: identity.Grants{Subscribe: patterns("weather/**")},
	}
	p := permit.Child(&c, "UNEW", time.Now())
	if p.Name != "@plant" || !p.Exclusive || p.Quarantine != nil {
		t.Errorf("the permit is %+v", p)
	}
	allowed := func(subject string) bool {
		return slices.ContainsFunc(p.Publish, func(wide string) bool { return wire.Covers(wide, subject) })
	}
	for subject, want := range map[string]bool{
		"up.@plant.n": true, "up.@plant.u": true, "up.@other.n": false, "up.@plant.x": false,
		"rpc.node.@plant.hello": true, "rpc.node.@other.hello": false, "rpc.boiler.@plant.set": false, "rpc.node.node.x": false,
		"live.scan.campus.b1.ahu": true, "live.scan.campus.b2": false, "live.point.campus.b1.ahu.t": true,
		"$JS.API.STREAM.PURGE.LOG": false,
	} {
		if allowed(subject) != want {
			t.Errorf("may publish on %s: %v", subject, !want)
		}
	}
	for subject, want := range map[string]bool{
		"rpc.@plant.>": true, "rpc.@other.>": false, "_INBOX.@plant.>": true, "_INBOX.>": false, "up.>": false,
		"live.point.weather.>": true, "live.point.campus.>": false,
	} {
		if p.Subscribable(subject) != want {
			t.Errorf("may subscribe to %s: %v", subject, !want)
		}
	}
}

func TestWhoWaitsIsShutOutOrShowsAnOldKeyIsKeptAside(t *testing.T) {
	for name, test := range map[string]struct {
		state registry.ChildState
		key   string
		why   string
	}{
		"waits":                    {registry.ChildPending, "UNEW", permit.QuarantinePending},
		"is shut out":              {registry.ChildRevoked, "UNEW", permit.QuarantineRevoked},
		"old key":                  {registry.ChildApproved, "UOLD", permit.QuarantineReplaced},
		"old key of who is out":    {registry.ChildRevoked, "UOLD", permit.QuarantineRevoked},
		"a state that nobody knew": {"", "UNEW", permit.QuarantinePending},
		"old key of a bundle":      {registry.ChildApproved, "UOLD", permit.QuarantineReplaced},
		"key of a bundle":          {registry.ChildApproved, "UNEW", permit.QuarantineExpired},
		"bundle of who is out":     {registry.ChildRevoked, "UNEW", permit.QuarantineRevoked},
	} {
		now := time.Now()
		c := &registry.Child{Name: "plant", Public: "UNEW", Previous: []string{"UOLD"}, State: test.state, Expires: now}
		p := permit.Child(c, test.key, now)
		if p.Quarantine == nil || p.Quarantine.Why != test.why || len(p.Publish)+len(p.Subscribe) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestTheHolderOfAnInvitationMayOnlyAskToBeEnrolled(t *testing.T) {
	p := permit.Invitation(&registry.Invitation{ID: "abcd2345"})
	if !slices.Equal(p.Publish, []string{"rpc.node.+abcd2345.enrol"}) || !slices.Equal(p.Subscribe, []string{"_INBOX.+abcd2345.>"}) || p.Responses {
		t.Errorf("the permit is %+v", p)
	}
}
