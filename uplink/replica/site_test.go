package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a node of a tree whose connections are calls.
type site struct {
	name   string
	file   *replica.File
	table  *replica.Table
	line   *lineage.Lineage
	report *replica.Reporter
	above  *site
	below  map[string]*site

	mu      sync.Mutex
	status  replica.Status
	online  bool
	since   time.Time
	ahead   time.Duration // its clock
	way     time.Duration // to the parent and back
	sizes   []int         // bytes of its reports
	asked   map[string]int
	refuses func(method string) error
	outages map[string][]replica.Outage // of its children
	refused []lineage.Refused           // at this node
	ledger  answer.Ledger
	held    map[string]uint64 // that the parent has of its origins
	deaf    bool              // it does not answer the parent
}

func plant(name string, above *site) *site {
	s := &site{name: name, above: above, online: above != nil, since: time.Now(), status: usual(), below: map[string]*site{}, asked: map[string]int{}}
	if above == nil {
		s.status.Link = ""
	} else {
		above.mu.Lock()
		above.below[name] = s
		above.mu.Unlock()
	}
	s.ledger.State = "ok"
	s.open("")
	return s
}

// open makes its table and its reporter anew, with the file in a folder.
func (s *site) open(dir string) {
	s.line = lineage.New(s.name, s.parent)
	s.table = replica.NewTable(replica.TableConfig{
		Children: s.children, Place: func(p point.Path) point.Path { return point.Path("below").Join(string(p)) }, Lineage: s.line,
		Outages: s.away, Now: s.now,
		Refused: func(_ string, r lineage.Refused) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, r)
		},
	})
	if dir != "" {
		s.file = replica.OpenFile(dir, slog.New(slog.DiscardHandler))
		s.table.Load(s.file)
	}
	s.report = replica.NewReporter(replica.Config{
		Own: s.own, Origins: func() []string { return []string{s.name + "~abc123"} }, Ledger: s.account, Parent: s.parent, Up: s.up, Down: s.down,
		File: s.file, Log: slog.New(slog.DiscardHandler), Now: s.now,
	}, s.table)
}

func (s *site) children() (list []replica.Child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.below {
		c.mu.Lock()
		list = append(list, replica.Child{Name: name, Prefix: point.Path("sites/" + name), Online: c.online})
		c.mu.Unlock()
	}
	return list
}

func (s *site) account(context.Context) (answer.LedgerNode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := answer.LedgerNode{Node: s.name, State: "here", Ledger: s.ledger.State, Gaps: s.ledger.Gaps}
	for _, o := range s.ledger.Origins {
		h := answer.Hop{Origin: o}
		if has, known := s.held[o.Origin]; known {
			h.Above = &has
		}
		n.Origins = append(n.Origins, h)
	}
	return n, nil
}

// usual is a node with something to say everywhere.
func usual() replica.Status {
	warm := 54.5
	return replica.Status{
		Version: "0.6.0-rc1+build4711", Roles: []string{"collector", "concentrator", "store", "agents"}, Started: 1_790_000_000, Link: "connected",
		LinkNote: strings.Repeat("x", 160), Waiting: 123_456_789, WaitingBytes: 987_654_321, WaitingSince: 1_790_000_000,
		Disk: 123_456_789_012, DiskSize: 512_000_000_000, Temperature: &warm, Memory: 223_000_000, CPU: 0.42,
		Devices: 10_000, DevicesFailing: 17, Points: 180_000, Agents: 25, AgentsFailing: 2, Alerts: 9, Health: "degraded",
		Note: strings.Repeat("y", 160),
	}
}

func (s *site) now() time.Time { return time.Now().Add(s.ahead) }

func (s *site) own(context.Context) replica.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

func (s *site) set(change func(*replica.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

func (s *site) away(child string) []replica.Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outages[child]
}

func (s *site) parent() (lineage.Parent, bool) {
	if s.above == nil {
		return lineage.Parent{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return lineage.Parent{Name: s.above.name, As: s.name, Online: s.online, Since: s.since}, true
}

func (s *site) link(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.online, s.since = up, time.Now()
}

var errGone = fault.E("", fault.Unreachable, "", errors.New("gone"))

func (s *site) up(_ context.Context, method string, body []byte) ([]byte, error) {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(body))
	s.asked[method]++
	way, refuses, online := s.way, s.refuses, s.online
	s.mu.Unlock()
	if !online {
		return nil, errGone
	}
	if refuses != nil {
		if err := refuses(method); err != nil {
			return nil, err
		}
	}
	time.Sleep(way / 2) //nolint:forbidigo // the way takes virtual time
	var answer []byte
	var err error
	if method == replica.ReportMethod {
		answer, err = s.above.table.Take(s.name, body, "")
	} else {
		answer, err = s.above.table.TakeFormer(s.name, method, body, "")
	}
	time.Sleep(way / 2) //nolint:forbidigo // as above
	return answer, err
}

func (s *site) down(ctx context.Context, child, method string, body []byte) ([]byte, error) {
	s.mu.Lock()
	c := s.below[child]
	s.mu.Unlock()
	c.mu.Lock()
	online, deaf := c.online, c.deaf
	c.mu.Unlock()
	switch {
	case !online:
		return nil, errGone
	case deaf:
		<-ctx.Done()
		return nil, fault.E("", fault.KindOf(ctx.Err()), child, ctx.Err())
	case method == replica.ReportMethod:
		c.report.Flush(ctx, body)
		return []byte("null"), nil
	case method == replica.FormerLedgerMethod:
		return c.report.FormerLedgers(ctx, body)
	}
	return nil, c.line.Above(body)
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
