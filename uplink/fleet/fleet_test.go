package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/uplink/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a node of a chain whose connections are calls.
type site struct {
	name   string
	book   *fleet.Book
	report *fleet.Reporter
	above  *site

	mu      sync.Mutex
	status  fleet.Status
	online  bool
	since   time.Time
	ahead   time.Duration // its clock
	way     time.Duration // to the parent and back
	sizes   []int         // octets of its reports
	gone    map[string]bool
	refuses error
	outages map[string][]fleet.Outage // of its children
}

func plant(name string, above *site) *site {
	s := &site{name: name, above: above, online: above != nil, since: time.Now(), gone: map[string]bool{}, status: usual()}
	if above == nil {
		s.status.Link = ""
	}
	s.book = fleet.NewBook(s.now)
	s.report = fleet.NewReporter(fleet.Config{
		Own: s.own, Parent: s.parent, Up: s.up, Outages: s.away, Now: s.now, Log: slog.New(slog.DiscardHandler),
		Known: func() func(_, node string) bool {
			return func(_, node string) bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return !s.gone[node]
			}
		},
	}, s.book)
	return s
}

// usual is a node with something to say everywhere.
func usual() fleet.Status {
	warm := 54.5
	return fleet.Status{
		Version: "0.6.0-rc1+build4711", Roles: []string{"collector", "concentrator", "store", "agents"}, Started: 1_790_000_000, Link: "connected",
		LinkNote: strings.Repeat("x", 160), Waiting: 123_456_789, WaitingOctets: 987_654_321, WaitingSince: 1_790_000_000,
		Disk: 123_456_789_012, DiskSize: 512_000_000_000, Temperature: &warm, Memory: 223_000_000, CPU: 0.42,
		Devices: 10_000, DevicesFailing: 17, Points: 180_000, Agents: 25, AgentsFailing: 2, Alerts: 9, Health: "degraded",
		Note: strings.Repeat("y", 160),
	}
}

func (s *site) now() time.Time { return time.Now().Add(s.ahead) }

func (s *site) own(context.Context) fleet.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

func (s *site) set(change func(*fleet.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

func (s *site) away(child string) []fleet.Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outages[child]
}

func (s *site) parent() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since, s.online
}

func (s *site) link(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.online, s.since = up, time.Now()
}

func (s *site) up(_ context.Context, method string, body []byte) ([]byte, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(body))
	way, refuses := s.way, s.refuses
	s.mu.Unlock()
	if refuses != nil {
		return nil, refuses
	}
	if method != fleet.ReportMethod {
		return nil, errors.New("asked for " + method)
	}
	time.Sleep(way / 2) //nolint:forbidigo // the way takes virtual time
	answer, err := s.above.book.Take(s.name, body, "")
	time.Sleep(way / 2) //nolint:forbidigo // as above
	return answer, err
}

func (s *site) reports() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.sizes...)
}

// live runs the sites for a while of virtual time, in steps between which something happens.
func live(t *testing.T, sites []*site, steps ...func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, s := range sites {
		all.Go(func() { _ = s.report.Run(ctx) })
	}
	for _, step := range steps {
		time.Sleep(35 * time.Second) //nolint:forbidigo // virtual time
		synctest.Wait()
		step()
		for _, s := range sites { // what the step changed is seen by all that goes on
			s.mu.Lock()
			s.mu.Unlock() //nolint:staticcheck // it orders, and guards nothing
		}
	}
	stop()
	all.Wait()
}

func TestEachNodeKnowsAllBelowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		region := plant("region", nil)
		campus := plant("campus", region)
		house := plant("house", campus)
		house.set(func(s *fleet.Status) { s.Devices, s.Alerts = 7, 0 })
		live(t, []*site{region, campus, house}, func() {
			far, known := region.book.Look("campus", "house")
			if !known || far.Devices != 7 || far.Version != "0.6.0-rc1+build4711" || *far.Temperature != 54.5 {
				t.Errorf("the region knows of the house: %v, %+v", known, far)
			}
			if age := time.Since(far.Heard); age < 0 || age > fleet.Every+2*time.Second {
				t.Errorf("the house was heard of %v ago", age)
			}
			if near, _ := region.book.Look("campus", "campus"); near.Devices != 10_000 {
				t.Errorf("the region knows of the campus: %+v", near)
			}
			house.set(func(s *fleet.Status) { s.Alerts, s.Temperature = 3, nil })
		}, func() {
			far, _ := region.book.Look("Campus", "HOUSE")
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
			if len(sizes) != 4 {
				t.Fatalf("%d reports in 35 s: %v", len(sizes), sizes)
			}
			t.Log("octets of the reports:", sizes)
			if sizes[0] >= 1000 {
				t.Errorf("the whole report of a node that has something to say everywhere has %d octets", sizes[0])
			}
			for _, n := range sizes[2:] {
				if n > 100 {
					t.Errorf("a report of a node on which nothing changed has %d octets", n)
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
			*centre.book = *fleet.NewBook(centre.now)
		}, func() {
			if s, known := centre.book.Look("plant", "plant"); !known || s.Devices != 10_000 {
				t.Errorf("after it forgot, on the same connection: %v, %+v", known, s)
			}
			child.link(false)
			*centre.book = *fleet.NewBook(centre.now)
		}, func() {
			if _, known := centre.book.Look("plant", "plant"); known {
				t.Error("a child that is away was heard of")
			}
			child.link(true)
		}, func() {
			if s, known := centre.book.Look("plant", "plant"); !known || s.Devices != 10_000 {
				t.Errorf("after a new connection: %v, %+v", known, s)
			}
		})
	})
}

func TestTheFirstReportOnAConnectionSaysHowItIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		child := plant("plant", centre)
		link := func(up bool, state string) {
			child.set(func(s *fleet.Status) { s.Link = state })
			child.link(up)
		}
		link(false, "connecting")
		live(t, []*site{centre, child}, func() {
			time.Sleep(3 * time.Second) //nolint:forbidigo // virtual time: between two looks
			link(true, "connected")
			time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // as above
			synctest.Wait()
			if s, known := centre.book.Look("plant", "plant"); !known || s.Link != "connected" {
				t.Errorf("a second after it came: %v, %q", known, s.Link)
			}
			if n := len(child.reports()); n != 1 {
				t.Errorf("it told that in %d reports", n)
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
			seen, known := campus.book.Look("plant", "plant")
			if !known || seen.RTT != 80 || seen.Offset != float64(ahead.Milliseconds()) {
				t.Errorf("the child measured round trip %g ms, offset %g ms", seen.RTT, seen.Offset)
			}
			if seen.Skew.Round(time.Millisecond) != ahead {
				t.Errorf("the parent measured %v", seen.Skew)
			}
			far, _ := centre.book.Look("campus", "plant")
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
			child.link(false)
			for _, s := range []*site{centre, campus} {
				s.mu.Lock()
				s.gone["plant"] = true
				s.mu.Unlock()
			}
		}, func() {
			if _, known := centre.book.Look("campus", "plant"); !known {
				t.Error("forgotten after half a minute: its name may only be late")
			}
		}, func() {}, func() {
			if _, known := centre.book.Look("campus", "plant"); known {
				t.Error("it is still known")
			}
		})
	})
}

func TestFactsOfAnotherVersionArePassedOnAndDoNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		centre := plant("centre", nil)
		campus := plant("campus", centre)
		answer, err := campus.book.Take("new", []byte(`{"time":"2026-11-22T03:00:00Z","later":1,"nodes":[{"f":true,"x":2,"s":{"version":"0.7.0","spin":{"a":1},"devices":"many","points":12}}]}`), "")
		if err != nil || strings.Contains(string(answer), "again") {
			t.Fatalf("%s, %v", answer, err)
		}
		live(t, []*site{centre, campus}, func() {
			s, known := centre.book.Look("campus", "new")
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
		child.refuses = fault.E("service", fault.NotFound, fleet.ReportMethod, errors.New("there is no such method"))
		live(t, []*site{child}, func() {
			if n := len(child.reports()); n != 1 {
				t.Errorf("it was asked %d times in 35 s", n)
			}
		}, func() {
			if n := len(child.reports()); n != 2 {
				t.Errorf("it was asked %d times in 70 s", n)
			}
		})
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
		{"a name that is too long", `{"nodes":[{"n":"` + strings.Repeat("x", 65) + `","f":true}]}`},
		{"a fact that is too long", `{"nodes":[{"f":true,"s":{"version":"` + strings.Repeat("x", 600) + `"}}]}`},
		{"too many facts", `{"nodes":[{"f":true,"s":` + string(lots) + `}]}`},
		{"too much", `{"nodes":[` + strings.Repeat(`{"f":true},`, 100_000) + `{}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			book := fleet.NewBook(time.Now)
			if _, err := book.Take("plant", []byte(c.body), ""); !fault.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
			if s, known := book.Look("plant", "plant"); known {
				t.Errorf("something is known: %+v", s)
			}
		})
	}
}

func TestFactsAddUpToBoundsAndNotBeyond(t *testing.T) {
	book := fleet.NewBook(time.Now)
	for i := range 100 {
		body := fmt.Sprintf(`{"nodes":[{"f":%v,"s":{"a%d":1,"b%d":1,"c%d":1}}]}`, i == 0, i, i, i)
		if _, err := book.Take("plant", []byte(body), ""); err != nil {
			if i*3 >= 96 {
				return // it had enough
			}
			t.Fatal(err)
		}
	}
	t.Error("facts pile up without end")
}

func TestALongTextIsCutBetweenRunes(t *testing.T) {
	book := fleet.NewBook(time.Now)
	book.Own(fleet.Status{Note: strings.Repeat("ä", 200)})
	if n := book.Self().Note; len(n) > 170 || strings.Trim(n, "ä") != "…" {
		t.Errorf("%q", n)
	}
}

// BenchmarkTake measures a report of each of 1,000 children in which some figures changed, as every ten
// seconds brings.
func BenchmarkTake(b *testing.B) {
	const children = 1000
	book := fleet.NewBook(time.Now)
	full, err := json.Marshal(fleet.Report{Time: time.Now(), Nodes: []fleet.Entry{{Full: true}}})
	if err != nil {
		b.Fatal(err)
	}
	names := make([]string, children)
	for i := range names {
		names[i] = fmt.Sprintf("plant-%04d", i)
		if _, err := book.Take(names[i], full, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		body := fmt.Appendf(nil, `{"time":"2026-11-22T03:00:00Z","nodes":[{"s":{"rtt_ms":%d,"memory":%d,"cpu":0.2,"waiting":%d}}]}`, n%90, n, n)
		for _, name := range names {
			if _, err := book.Take(name, body, ""); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/children, "µs/report")
}

func TestWhatWaitsBelowAChildIsSummed(t *testing.T) {
	book := fleet.NewBook(time.Now)
	take := func(child, body string) {
		t.Helper()
		if _, err := book.Take(child, []byte(body), ""); err != nil {
			t.Fatal(err)
		}
	}
	take("campus", `{"nodes":[{"f":true,"s":{"waiting":5}},{"n":"Plant","f":true,"s":{"waiting":7}},{"n":"hill","f":true,"s":{"waiting":11}}]}`)
	take("Lake", `{"nodes":[{"f":true,"s":{"waiting":13}},{"n":"dam","f":true,"s":{"waiting":"much"}}]}`)
	take("flood", `{"nodes":[{"n":"a","f":true,"s":{"waiting":18446744073709551615}},{"n":"b","f":true,"s":{"waiting":2}}]}`)
	if got := book.Behind(); len(got) != 2 || got["campus"] != 18 || got["flood"] != math.MaxUint64 {
		t.Errorf("behind the children wait %v", got)
	}
	take("campus", `{"nodes":[{"n":"plant","s":{"waiting":null}},{"n":"hill","s":{"waiting":1}}]}`)
	if got := book.Behind(); got["campus"] != 1 {
		t.Errorf("later %v", got)
	}
}
