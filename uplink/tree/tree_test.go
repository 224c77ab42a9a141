package tree_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// site is a node of a forest of trees whose connections are calls.
type site struct {
	name     string // that its parent has for it
	own      string // that it has for itself; "" for the same
	tree     *tree.Tree
	table    *replica.Table
	lineage  *lineage.Lineage
	reporter *replica.Reporter
	parent   *site
	children map[string]*site
	allow    identity.Grants            // what the parent's side may do here
	grants   map[string]identity.Grants // what children may do here

	mu       sync.Mutex
	up       bool // the connection to the parent stands
	since    time.Time
	lost     chan struct{} // closed when it is cut
	asked    []string      // what was answered here
	owners   []string      // to whom belongs what was answered here
	visitors []*tree.RemoteCaller
	told     []tree.Event
	refused  []lineage.Refused
	hold     chan struct{} // answers wait for it, if there is one
	arrived  chan struct{}
	downward int
	deaf     bool // it does not answer who is above
}

func plant(t *testing.T, name string, parent *site) *site {
	t.Helper()
	s := &site{name: name, parent: parent, children: map[string]*site{}, grants: map[string]identity.Grants{}, up: parent != nil, since: time.Now(), lost: make(chan struct{}), arrived: make(chan struct{}, 100)}
	if parent != nil {
		parent.mu.Lock()
		parent.children[name] = s
		parent.mu.Unlock()
	}
	s.open(t.TempDir())
	return s
}

func (s *site) open(dir string) {
	name := cmp.Or(s.own, s.name)
	log := slog.New(slog.DiscardHandler)
	file := replica.OpenFile(dir, log)
	s.lineage = lineage.New(name, s.above)
	s.table = replica.NewTable(replica.TableConfig{
		Children: s.listed, Place: func(p point.Path) point.Path { return point.Path("below").Join(string(p)) }, Lineage: s.lineage,
		Refused: func(_ string, r lineage.Refused) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, r)
		},
		Now: time.Now,
	})
	s.table.Load(file)
	s.reporter = replica.NewReporter(replica.Config{
		Own:     func(context.Context) replica.Status { return replica.Status{} },
		Origins: func() []string { return []string{s.name + "~abc123"} },
		Ledger:  func(context.Context) (answer.LedgerNode, error) { return answer.LedgerNode{}, nil },
		Parent:  s.above, Up: s.askUp, Down: s.askDown, File: file, Log: log, Now: time.Now,
	}, s.table)
	s.tree = tree.New(tree.Config{
		Name: name, Below: s.table, Lineage: s.lineage, Parent: s.above,
		Grants: s.grantsOf, Up: s.askUp, Down: s.askDown, Here: s.answer,
		Tell: func(e tree.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, e)
		},
	})
}

func (s *site) listed() (list []replica.Child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.children {
		up, _ := c.connected()
		list = append(list, replica.Child{Name: name, Prefix: point.Path("sites/" + name), Online: up})
	}
	return list
}

func (s *site) connected() (bool, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up, s.lost
}

func (s *site) above() (lineage.Parent, bool) {
	if s.parent == nil {
		return lineage.Parent{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return lineage.Parent{Name: s.parent.name, As: s.name, Online: s.up, Since: s.since}, true
}

func (s *site) link(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up, s.since = up, time.Now(); up {
		s.lost = make(chan struct{})
		return
	}
	close(s.lost)
}

func (s *site) grantsOf(from tree.Hop) (identity.Grants, error) {
	if from.Above {
		return s.allow, nil
	}
	return s.grants[from.Name], nil
}

var errCut = errors.New("no connection")

func (s *site) askUp(ctx context.Context, method string, body []byte) ([]byte, error) {
	up, lost := s.connected()
	if !up {
		return nil, fault.E("", fault.Unreachable, "", errCut)
	}
	hop := tree.Hop{Name: s.name}
	if method == replica.ReportMethod {
		return s.parent.table.Take(s.name, body, "")
	}
	answer, err := over(lost, func() []byte { return s.parent.tree.Relay(ctx, hop, body) })
	if err != nil {
		return nil, err
	}
	return tree.Parse("", answer)
}

func (s *site) askDown(ctx context.Context, child, method string, body []byte) ([]byte, error) {
	s.mu.Lock()
	c := s.children[child]
	s.mu.Unlock()
	switch method {
	case replica.AboveMethod:
		if c.deaf {
			<-ctx.Done()
			return nil, fault.E("", fault.Timeout, child, ctx.Err())
		}
		return nil, c.lineage.Above(body)
	case replica.FormerLedgerMethod: // nobody here says what it has
		return nil, fault.E("", fault.NotFound, child, errCut)
	}
	s.mu.Lock()
	s.downward++
	s.mu.Unlock()
	up, lost := c.connected()
	if !up {
		return nil, fault.E("", fault.Unreachable, child, errCut)
	}
	return over(lost, func() []byte { return c.tree.Relay(ctx, tree.Hop{Name: s.name, Above: true}, body) })
}

// over answers over a connection that may be cut.
func over(lost chan struct{}, ask func() []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	go func() { answer <- ask() }()
	select {
	case b := <-answer:
		return b, nil
	case <-lost:
		return nil, fault.E("", fault.Unreachable, "", &tree.LostError{})
	}
}

func (s *site) answer(ctx context.Context, v *tree.RemoteCaller, r *tree.Request) (json.RawMessage, error) {
	s.mu.Lock()
	s.asked = append(s.asked, v.Neighbour()+" for "+r.Caller+" of "+r.Home()+": "+r.Agent+":"+r.Method)
	s.owners = append(s.owners, v.Requester())
	s.visitors = append(s.visitors, v)
	hold := s.hold
	s.mu.Unlock()
	s.arrived <- struct{}{}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, fault.E("site", fault.Timeout, r.Agent, ctx.Err())
		}
	}
	if r.Method == "raise" {
		return nil, fault.E("site", fault.Rejected, r.Agent, &wire.Failure{Kind: wire.RemoteKind, Type: "ValueError", Message: "too hot"})
	}
	return json.Marshal(s.name + " says " + r.Method)
}

// run runs the trees of a chain until the test ends.
func run(t *testing.T, sites ...*site) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, s := range sites {
		running.Go(func() { _ = s.reporter.Run(ctx) })
	}
	t.Cleanup(func() { end(); running.Wait() })
}

func calls(names ...string) identity.Grants {
	var g identity.Grants
	for _, n := range names {
		agent, method, _ := strings.Cut(n, ":")
		g.Call = append(g.Call, identity.CallGrant{Agent: agent, Method: method})
	}
	return g
}

// inChain gives the test region ◀ campus ◀ building, settled, where all is allowed downwards.
func inChain(t *testing.T, test func(t *testing.T, region, campus, building *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		region := plant(t, "region", nil)
		campus := plant(t, "campus", region)
		building := plant(t, "building", campus)
		campus.allow, building.allow = calls("building/boiler"), calls("boiler")
		run(t, building, campus, region)
		settle()
		test(t, region, campus, building)
	})
}

// settle lets the trees tell each other who is there.
func settle() {
	<-time.After(5 * time.Second) // of virtual time
	synctest.Wait()
}

func ask(t *testing.T, from *site, node, agent, method string) (string, error) {
	t.Helper()
	got, err := from.tree.Ask(t.Context(), tree.Caller{Name: "agent:weather"}, tree.Request{Node: node, Agent: agent, Method: method, Body: json.RawMessage(`{"kwargs":{"limit":3}}`)})
	return string(got), err
}

func TestEachNodeKnowsWhoIsBelowAndAbove(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		below := region.table.Nodes()
		if len(below) != 2 || below[0].Name != "campus" || below[1].Name != "building" {
			t.Fatalf("region knows %+v, want campus and building", below)
		}
		if got := below[1]; strings.Join(got.Path, "/") != "campus/building" || got.Prefix != "below/sites/building" || len(got.Origins) != 1 || got.Origins[0] != "building~abc123" {
			t.Errorf("region knows of building %+v", got)
		}
		above, _ := building.lineage.Ancestors()
		if strings.Join(above, " ") != "campus region" {
			t.Errorf("above building are %q, want campus and region", above)
		}
		_ = campus
	})
}

func TestARequestGoesDownAndUpByNameAndTheAnswerComesBackWhole(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		got, err := ask(t, region, "building", "boiler", "tune")
		if err != nil || got != `"building says tune"` {
			t.Fatalf("region asks building: %s, %v", got, err)
		}
		if want := "@campus for agent:weather of region: boiler:tune"; building.asked[0] != want {
			t.Errorf("building was asked %q, want %q", building.asked[0], want)
		}
		campus.grants["building"], region.grants["campus"] = calls("region/tariff"), calls("tariff:price")
		if got, err = ask(t, building, "region", "tariff", "price"); err != nil || got != `"region says price"` {
			t.Errorf("building asks region: %s, %v", got, err)
		}
		_, err = ask(t, region, "building", "boiler", "raise")
		var f *wire.Failure
		if !errors.As(err, &f) || f.Kind != wire.RemoteKind || f.Type != "ValueError" || f.Node != "building" {
			t.Errorf("what the method raised comes back as %#v", err)
		}
	})
}

func TestEachHopRefusesWhatItsNeighbourMayNot(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		for _, c := range []struct {
			name    string
			take    func()
			missing string
			node    string
		}{
			{"the node at the end", func() { building.allow = calls("chiller") }, "call boiler:tune", "building"},
			{"the node on the way", func() { campus.allow = identity.Grants{} }, "call building/boiler:tune", "campus"},
		} {
			c.take()
			asked := len(building.asked)
			_, err := ask(t, region, "building", "boiler", "tune")
			var f *wire.Failure
			if !fault.Is(err, fault.Refused) || !errors.As(err, &f) || f.Missing != c.missing || f.Node != c.node {
				t.Errorf("%s: %v (%+v), want refused by %s with %q", c.name, err, f, c.node, c.missing)
			}
			if len(building.asked) != asked {
				t.Errorf("%s: the agent was asked all the same", c.name)
			}
		}
		mine := calls("building/chiller")
		_, err := region.tree.Ask(t.Context(), tree.Caller{Name: "agent:weather", Grants: &mine}, tree.Request{Node: "building", Agent: "boiler", Method: "tune"})
		if !fault.Is(err, fault.Refused) || identity.MissingOf(err) != "call building/boiler:tune" {
			t.Errorf("at home: %v, want refused with the capability", err)
		}
		if n := len(region.told); n == 0 || region.told[n-1].Err == nil {
			t.Error("the refusal at home was not told")
		}
	})
}

func TestOneDirectionAloneIsPossible(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		// The building may ask the region; nobody above may ask it anything.
		campus.grants["building"], region.grants["campus"] = calls("region/tariff"), calls("tariff")
		building.allow, campus.allow = identity.Grants{}, identity.Grants{}
		if _, err := ask(t, building, "region", "tariff", "price"); err != nil {
			t.Errorf("upwards: %v", err)
		}
		if _, err := ask(t, region, "building", "boiler", "tune"); !fault.Is(err, fault.Refused) {
			t.Errorf("downwards: %v, want refused", err)
		}
	})
}

func TestANodeThatIsNotConnectedIsUnreachableAtOnceAndTheHopIsNamed(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, building *site) {
		building.link(false)
		settle()
		since := region.table.Nodes()[1].Away
		if since.IsZero() {
			t.Error("region does not know that building is away")
		}
		began := time.Now()
		_, err := ask(t, region, "building", "boiler", "tune")
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "building is not connected to campus since "+since.UTC().Format(time.RFC3339)) {
			t.Errorf("building away: %v", err)
		}
		campus.link(false)
		_, err = ask(t, region, "building", "boiler", "tune")
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "campus is not connected to region") || !strings.Contains(err.Error(), "building lies behind it") {
			t.Errorf("campus away: %v", err)
		}
		_, err = ask(t, campus, "region", "tariff", "price")
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "region is not connected to campus since") {
			t.Errorf("region away: %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the answers took %s of virtual time, want none", took)
		}
		if _, err := ask(t, region, "nowhere", "boiler", "tune"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a name that nobody has: %v", err)
		}
	})
}

func TestALinkThatIsCutWhileACallIsUnderWayEndsTheCall(t *testing.T) {
	inChain(t, func(t *testing.T, region, _, building *site) {
		building.hold = make(chan struct{})
		defer close(building.hold)
		began := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := ask(t, region, "building", "boiler", "tune")
			done <- err
		}()
		<-building.arrived
		building.link(false)
		err := <-done
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "whether it was done is unknown") {
			t.Errorf("the call ended with %v", err)
		}
		if time.Since(began) > time.Second {
			t.Errorf("the call ended after %s", time.Since(began))
		}
	})
}

func TestTheNodeAtTheEndSaysThatTheTimeIsOver(t *testing.T) {
	inChain(t, func(t *testing.T, region, _, building *site) {
		building.hold = make(chan struct{})
		defer close(building.hold)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := region.tree.Ask(ctx, tree.Caller{Name: "agent:weather"}, tree.Request{Node: "building", Agent: "boiler", Method: "tune"})
		var f *wire.Failure
		if !fault.Is(err, fault.Timeout) || !errors.As(err, &f) || f.Node != "building" {
			t.Errorf("the answer is %v, want that building ran out of time", err)
		}
		if ctx.Err() != nil {
			t.Error("the answer came after the time of who asked")
		}
	})
}

func TestANameStandsOnceInATree(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, _ *site) {
		other := plant(t, "harbour", region)
		twin := plant(t, "Building", other)
		namesake := plant(t, "region", other)
		below := plant(t, "crane", twin)
		run(t, other, twin, namesake, below)
		settle()
		region.mu.Lock()
		refused := map[string]string{}
		for _, r := range region.refused {
			refused[r.Name] += r.Why
		}
		region.mu.Unlock()
		for name, why := range map[string]string{
			"Building": "its name is that of campus/building", "region": "its name is that of the node region above it",
			"crane": "it lies below Building, which is not let in",
		} {
			if !strings.Contains(refused[name], why) || strings.Count(refused[name], "let") > strings.Count(why, "let") {
				t.Errorf("%s was refused with %q, want %q once", name, refused[name], why)
			}
		}
		if _, err := ask(t, region, "building", "boiler", "tune"); err != nil {
			t.Errorf("the first of the name is asked: %v", err)
		}
		if _, told := other.lineage.Ancestors(); len(told) != 3 {
			t.Errorf("harbour was told of %+v, want three", told)
		}
		// When the first one goes, the other one is let in.
		campus.mu.Lock()
		delete(campus.children, "building")
		campus.mu.Unlock()
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if n := len(region.table.Nodes()); n != 4 {
			t.Errorf("region knows %d nodes, want campus, harbour, Building and crane: %+v", n, region.table.Nodes())
		}
	})
}

func TestARequestThatComesBackIsRefused(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, _ *site) {
		body, _ := json.Marshal(tree.Request{Node: "elsewhere", Agent: "boiler", Method: "tune", Path: []string{"region", "campus"}, Timeout: 5})
		_, err := tree.Parse("", campus.tree.Relay(t.Context(), tree.Hop{Name: "region", Above: true}, body))
		if !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "came back") {
			t.Errorf("a request with campus in its path: %v", err)
		}
		campus.allow = calls("*/*")
		body, _ = json.Marshal(tree.Request{Node: "elsewhere", Agent: "boiler", Method: "tune", Path: []string{"region"}, Timeout: 5})
		_, err = tree.Parse("", campus.tree.Relay(t.Context(), tree.Hop{Name: "region", Above: true}, body))
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("a name that came from above and is not below: %v, want it not sent up again", err)
		}
		long := make([]string, tree.MaxHops+1)
		body, _ = json.Marshal(tree.Request{Node: "building", Agent: "boiler", Method: "tune", Path: long, Timeout: 5})
		if _, err = tree.Parse("", campus.tree.Relay(t.Context(), tree.Hop{Name: "region", Above: true}, body)); !fault.Is(err, fault.Rejected) {
			t.Errorf("a request of %d hops: %v", len(long), err)
		}
		if region.downward != 0 {
			t.Errorf("region was asked to pass %d requests", region.downward)
		}
	})
}

func TestWrongRequestsAreRefusedWithWhatIsWrong(t *testing.T) {
	inChain(t, func(t *testing.T, region, campus, _ *site) {
		for _, body := range []string{``, `[]`, `{}`, `{"node":"campus","agent":"a","method":"m","timeout":-1}`, `{"node":"campus","agent":"a","method":"m","timeout":1e9}`, `{"node":"` + strings.Repeat("x", 300) + `","agent":"a","method":"m","timeout":1}`} {
			if _, err := tree.Parse("", campus.tree.Relay(t.Context(), tree.Hop{Name: "region", Above: true}, []byte(body))); !fault.Is(err, fault.Invalid) {
				t.Errorf("%.60s: %v, want invalid", body, err)
			}
		}
		if _, err := ask(t, region, "region", "boiler", "tune"); !fault.Is(err, fault.Invalid) {
			t.Errorf("region asks itself: %v", err)
		}
	})
}
