package replica_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"voltbus/fault"
	"voltbus/uplink/replica"
)

// formerOnly is a parent that does not know how nodes report now.
func formerOnly(method string) error {
	if method == replica.ReportMethod {
		return fault.E("service", fault.NotFound, method, errors.New("there is no such method"))
	}
	return nil
}

// A node speaks as the version before to a parent that does not know better, and takes what such a child says.
func TestNodesOfTheFormerVersionKnowAndAreKnown(t *testing.T) {
	for _, former := range []string{"house", "campus", "house campus"} {
		t.Run(former, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				region, campus, house := chain()
				campus.outages = map[string][]replica.Outage{"house": {{From: 7}}}
				for _, s := range []*site{campus, house} {
					if strings.Contains(former, s.name) {
						s.refuses = formerOnly
					}
				}
				check := func(devices int) {
					t.Helper()
					if got := region.states(); got != "campus current 950, campus/house current 1000" {
						t.Errorf("the accounts are %s", got)
					}
					s, known := region.table.Look("campus", "house")
					if !known || s.Devices != devices || len(s.Outages) != 1 || s.Outages[0].From != 7 {
						t.Errorf("of the house is known %v, %+v", known, s)
					}
					n, _, _ := region.table.Find("house")
					if strings.Join(n.Path, "/") != "campus/house" || n.Prefix != "below/sites/house" || len(n.Origins) != 1 || !n.Away.IsZero() {
						t.Errorf("the house stands at %+v", n)
					}
					if above, _ := house.line.Ancestors(); strings.Join(above, " ") != "campus region" {
						t.Errorf("above the house are %v", above)
					}
				}
				live(t, []*site{region, campus, house}, func() {}, func() {
					check(10_000)
					house.set(func(s *replica.Status) { s.Devices = 5 })
				}, func() {
					check(5)
					house.link(false)
				}, func() {
					if n, missing, _ := region.table.Find("house"); n.Away.IsZero() || missing.Name != "house" {
						t.Errorf("the house is %+v, missing is %+v", n, missing)
					}
					house.link(true)
				}, func() {}, func() {
					check(5)
					for _, s := range []*site{campus, house} { // the parents are updated, and reached again
						s.refuses = nil
						s.link(true)
					}
				}, func() { check(5) })
				if n := house.asked[replica.ReportMethod]; n < 3 {
					t.Errorf("the updated parent was asked %d times", n)
				}
			})
		})
	}
}

func TestAttackAChildOfTheFormerVersionIsBoundedToo(t *testing.T) {
	for _, c := range []struct{ method, body string }{
		{replica.FormerTreeMethod, `{"nodes":[]}`},
		{replica.FormerTreeMethod, `{"nodes":[{"name":"plant","path":["x"]}]}`},
		{replica.FormerTreeMethod, `{"nodes":[` + strings.Repeat(`{"name":"a"},`, replica.MaxNodes) + `{}]}`},
		{replica.FormerTreeMethod, `{"nodes":7}`},
		{replica.FormerFleetMethod, `{"nodes":[{"f":true,"s":{"version":"` + strings.Repeat("x", 600) + `"}}]}`},
		{replica.FormerFleetMethod, `{"nodes":[{"n":"` + strings.Repeat("x", 65) + `","f":true}]}`},
		{replica.FormerFleetMethod, `{"nodes":[` + strings.Repeat(`{"f":true},`, 100_000) + `{}]}`},
	} {
		table := tableOf("plant")
		if _, err := table.TakeFormer("plant", c.method, []byte(c.body), ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s %.60s: %v", c.method, c.body, err)
		}
		if n := len(table.Nodes()); n != 1 {
			t.Errorf("%s %.60s: %d nodes", c.method, c.body, n)
		}
	}
	table := tableOf("plant")
	if _, err := table.TakeFormer("plant", replica.FormerFleetMethod, []byte(`{"nodes":[{"f":true,"s":{"node":{"prefix":"all"},"origin:a":1,"outages":[{"f":1}],"alerts":2}}]}`), ""); err != nil {
		t.Error(err)
	}
	s, _ := table.Look("plant", "plant")
	if n := table.Nodes()[0]; s.Alerts != 2 || len(s.Outages) > 0 || n.Prefix != "" || table.Accounts()[0].State != "silent" {
		t.Errorf("of it is known %+v, %+v", s, n)
	}
}
