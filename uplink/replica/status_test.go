package replica_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
)

func TestEachNodeKnowsAllBelowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region := plant("region", nil)
		campus := plant("campus", region)
		house := plant("house", campus)
		house.set(func(s *replica.Status) { s.Devices, s.Alerts = 7, 0 })
		live(t, []*site{region, campus, house}, func() {
			far, known := region.table.Look("campus", "house")
			if !known || far.Devices != 7 || far.Version != "0.6.0-rc1+build4711" || *far.Temperature != 54.5 {
				t.Errorf("the region knows of the house: %v, %+v", known, far)
			}
			if age := time.Since(far.Heard); age < 0 || age > replica.Every+2*time.Second {
				t.Errorf("the house was heard of %v ago", age)
			}
			if near, _ := region.table.Look("campus", "campus"); near.Devices != 10_000 {
				t.Errorf("the region knows of the campus: %+v", near)
			}
			house.set(func(s *replica.Status) { s.Alerts, s.Temperature = 3, nil })
		}, func() {
			far, _ := region.table.Look("Campus", "HOUSE")
			if far.Alerts != 3 || far.Temperature != nil || far.Devices != 7 {
				t.Errorf("what changed did not come: %+v", far)
			}
		})
	})
}

func TestAReportIsSmallAndHoldsOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		child := plant("plant-with-a-long-name", centre)
		live(t, []*site{centre, child}, func() {
			sizes := child.reports()
			if len(sizes) != 5 {
				t.Fatalf("%d reports in 35 s: %v", len(sizes), sizes)
			}
			t.Log("bytes of the reports:", sizes)
			if sizes[1] >= 1000 {
				t.Errorf("the whole report of a node that has something to say everywhere has %d bytes", sizes[1])
			}
			for _, n := range sizes[2:] {
				if n > 100 {
					t.Errorf("a report of a node on which nothing changed has %d bytes", n)
				}
			}
		})
	})
}

func TestAParentThatForgotIsToldEverythingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		child := plant("plant", centre)
		live(t, []*site{centre, child}, func() {
			centre.forget()
		}, func() {
			if s, known := centre.table.Look("plant", "plant"); !known || s.Devices != 10_000 {
				t.Errorf("after it forgot, on the same connection: %v, %+v", known, s)
			}
			child.link(false)
			centre.forget()
		}, func() {
			if _, known := centre.table.Look("plant", "plant"); known {
				t.Error("a child that is away was heard of")
			}
			child.link(true)
		}, func() {
			if s, known := centre.table.Look("plant", "plant"); !known || s.Devices != 10_000 {
				t.Errorf("after a new connection: %v, %+v", known, s)
			}
		})
	})
}

// forget makes the table one that knows nothing.
func (s *site) forget() {
	s.mu.Lock()
	kept := s.below
	s.below = map[string]*site{}
	s.mu.Unlock()
	s.table.Nodes()
	s.mu.Lock()
	s.below = kept
	s.mu.Unlock()
}

func TestTheFirstReportOnAConnectionSaysHowItIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		child := plant("plant", centre)
		link := func(up bool, state string) {
			child.set(func(s *replica.Status) { s.Link = state })
			child.link(up)
		}
		link(false, "connecting")
		live(t, []*site{centre, child}, func() {
			time.Sleep(3 * time.Second) //nolint:forbidigo // virtual time: between two looks
			link(true, "connected")
			time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // as above
			synctest.Wait()
			if s, known := centre.table.Look("plant", "plant"); !known || s.Link != "connected" {
				t.Errorf("a second after it came: %v, %q", known, s.Link)
			}
			if n := len(child.reports()); n != 2 {
				t.Errorf("it compared, and told that, in %d reports", n)
			}
		})
	})
}

func TestAClockThatIsWrongByHoursShowsAtBothEndsAndMovesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead = 5*time.Hour + 250*time.Millisecond
		centre := plant("centre", nil)
		campus := plant("campus", centre)
		child := plant("plant", campus)
		child.ahead, child.way = ahead, 80*time.Millisecond
		live(t, []*site{centre, campus, child}, func() {
			seen, known := campus.table.Look("plant", "plant")
			if !known || seen.RTT != 80 || seen.Offset != float64(ahead.Milliseconds()) {
				t.Errorf("the child measured round trip %g ms, offset %g ms", seen.RTT, seen.Offset)
			}
			if seen.Skew.Round(time.Millisecond) != ahead {
				t.Errorf("the parent measured %v", seen.Skew)
			}
			far, _ := centre.table.Look("campus", "plant")
			if age := time.Since(far.Heard); far.Offset != seen.Offset || age < 0 || age > 15*time.Second {
				t.Errorf("the centre heard %v ago of an offset of %g ms", age, far.Offset)
			}
		})
	})
}

func TestANodeThatIsNoMoreInTheTreeIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		campus := plant("campus", centre)
		child := plant("plant", campus)
		live(t, []*site{centre, campus, child}, func() {
			if _, known := centre.table.Look("campus", "plant"); !known {
				t.Error("it is not known")
			}
			child.link(false)
			campus.mu.Lock()
			delete(campus.below, "plant")
			campus.mu.Unlock()
		}, func() {
			if _, known := centre.table.Look("campus", "plant"); known || len(centre.table.Nodes()) != 1 {
				t.Error("it is still known")
			}
		})
	})
}

func TestFactsOfAnotherVersionArePassedOnAndDoNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		campus := plant("campus", centre)
		plant("new", campus).online = false
		answer, err := campus.table.Take("new", []byte(`{"time":"2026-11-22T03:00:00Z","later":1,"nodes":[{"v":1,"x":2,"s":{"version":"0.7.0","spin":{"a":1},"devices":"many","points":12}}]}`), "")
		if err != nil || strings.Contains(string(answer), "want") {
			t.Fatalf("%s, %v", answer, err)
		}
		live(t, []*site{centre, campus}, func() {
			s, known := centre.table.Look("campus", "new")
			if !known || s.Version != "0.7.0" || s.Points != 12 || s.Devices != 0 {
				t.Errorf("%v, %+v", known, s)
			}
		})
	})
}

func TestAParentOfAnOlderVersionIsAskedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := plant("old", nil)
		child := plant("plant", old)
		child.refuses = func(method string) error {
			return fault.E("service", fault.NotFound, method, errors.New("there is no such method"))
		}
		live(t, []*site{child}, func() {
			if n := child.asked[replica.FormerTreeMethod]; n != 1 {
				t.Errorf("it was asked %d times in 35 s", n)
			}
		}, func() {
			if n := child.asked[replica.FormerTreeMethod]; n != 2 {
				t.Errorf("it was asked %d times in 70 s", n)
			}
		})
	})
}

// tableOf is a table of a node with children that are connected.
func tableOf(children ...string) *replica.Table {
	return replica.NewTable(replica.TableConfig{
		Children: func() (list []replica.Child) {
			for _, name := range children {
				list = append(list, replica.Child{Name: name, Online: true})
			}
			return list
		},
		Place:   func(p point.Path) point.Path { return p },
		Lineage: lineage.New("centre", func() (lineage.Parent, bool) { return lineage.Parent{}, false }),
		Refused: func(string, lineage.Refused) {}, Now: time.Now,
	})
}

func TestWhatCannotBeAReportIsRefused(t *testing.T) {
	many := map[string]int{}
	for i := range 200 {
		many[fmt.Sprint("f", i)] = i
	}
	lots, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, body string }{
		{"no JSON", "{"},
		{"a name that is too long", `{"nodes":[{"n":"` + strings.Repeat("x", 65) + `","v":1}]}`},
		{"a fact that is too long", `{"nodes":[{"v":1,"s":{"version":"` + strings.Repeat("x", 600) + `"}}]}`},
		{"too many facts", `{"nodes":[{"v":1,"s":` + string(lots) + `}]}`},
		{"too much", `{"nodes":[` + strings.Repeat(`{"v":1111},`, 100_000) + `{}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := tableOf("plant", "campus", "Lake", "flood")
			if _, err := table.Take("plant", []byte(c.body), ""); !fault.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
			if s, known := table.Look("plant", "plant"); known {
				t.Errorf("something is known: %+v", s)
			}
		})
	}
}

func TestFactsAddUpToBoundsAndNotBeyond(t *testing.T) {
	table := tableOf("plant", "campus", "Lake", "flood")
	for i := range 100 {
		body := fmt.Sprintf(`{"nodes":[{"b":%d,"v":%d,"s":{"a%d":1,"b%d":1,"c%d":1}}]}`, i, i+1, i, i, i)
		if _, err := table.Take("plant", []byte(body), ""); err != nil {
			if i*3 >= 96 {
				return // it had enough
			}
			t.Fatal(err)
		}
	}
	t.Error("facts pile up without end")
}

func TestALongTextIsCutBetweenRunes(t *testing.T) {
	table := tableOf("plant", "campus", "Lake", "flood")
	table.Own(replica.Status{Note: strings.Repeat("ä", 200)}, nil)
	if n := table.Self().Note; len(n) > 170 || strings.Trim(n, "ä") != "…" {
		t.Errorf("%q", n)
	}
}

// BenchmarkTake measures a report of each of 1,000 children in which some figures changed, as every ten
// seconds brings.
func BenchmarkTake(b *testing.B) {
	const children = 1000
	names := make([]string, children)
	for i := range names {
		names[i] = fmt.Sprintf("plant-%04d", i)
	}
	table := tableOf(names...)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		body := fmt.Appendf(nil, `{"time":"2026-11-22T03:00:00Z","nodes":[{"b":%d,"v":%d,"s":{"rtt_ms":%d,"memory":%d,"cpu":0.2,"waiting":%d}}]}`, n, n+1, n%90, n, n)
		for _, name := range names {
			if _, err := table.Take(name, body, ""); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/children, "µs/report")
}

func TestWhatWaitsBelowAChildIsSummed(t *testing.T) {
	table := tableOf("campus", "Lake", "flood")
	take := func(child, body string) {
		t.Helper()
		if _, err := table.Take(child, []byte(body), ""); err != nil {
			t.Fatal(err)
		}
	}
	take("campus", `{"nodes":[{"v":1,"s":{"waiting":5}},{"n":"Plant","v":1,"s":{"node":{"path":["Plant"]},"waiting":7}},{"n":"hill","v":1,"s":{"node":{"path":["hill"]},"waiting":11}}]}`)
	take("Lake", `{"nodes":[{"v":1,"s":{"waiting":13}},{"n":"dam","v":1,"s":{"node":{"path":["dam"]},"waiting":"much"}}]}`)
	take("flood", `{"nodes":[{"n":"a","v":1,"s":{"node":{"path":["a"]},"waiting":18446744073709551615}},{"n":"b","v":1,"s":{"node":{"path":["b"]},"waiting":2}}]}`)
	if got := table.Waiting(); len(got) != 2 || got["campus"] != 18 || got["flood"] != math.MaxUint64 {
		t.Errorf("behind the children wait %v", got)
	}
	take("campus", `{"nodes":[{"n":"plant","b":1,"v":2,"s":{"waiting":null}},{"n":"hill","b":1,"v":2,"s":{"waiting":1}}]}`)
	if got := table.Waiting(); got["campus"] != 1 {
		t.Errorf("later %v", got)
	}
}
