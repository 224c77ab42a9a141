package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a register that replicas can be cut off from.
type memory struct {
	mu   sync.Mutex
	last uint64
	kept map[string]Message
}

func (m *memory) of(cut *bool) *link { return &link{m, cut} }

type link struct {
	*memory
	cut *bool // guarded by mu
}

var errCut = errors.New("cut off")

func (k *link) Read(_ context.Context, after uint64) (list []Message, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if *k.cut {
		return nil, errCut
	}
	for _, m := range k.kept {
		if m.Seq > after {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b Message) int { return int(a.Seq) - int(b.Seq) })
	return list, nil
}

func (k *link) Write(_ context.Context, topic string, data []byte, last uint64) (uint64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case *k.cut:
		return 0, errCut
	case last != k.last:
		return 0, ErrBehind
	}
	k.last++
	k.kept[topic] = Message{Seq: k.last, Topic: topic, Data: data}
	return k.last, nil
}

// site are three replicas with virtual time.
type site struct {
	t      *testing.T
	memory *memory
	names  []string
	leases map[string]*Leases
	stop   map[string]func()
	cut    map[string]*bool
	items  []Item
}

func newSite(t *testing.T, items ...Item) *site {
	s := &site{
		t: t, memory: &memory{kept: map[string]Message{}}, names: []string{"r1", "r2", "r3"},
		leases: map[string]*Leases{}, stop: map[string]func(){}, cut: map[string]*bool{}, items: items,
	}
	for _, name := range s.names {
		s.start(name)
	}
	t.Cleanup(func() {
		for _, name := range s.names {
			s.stop[name]()
		}
	})
	return s
}

func (s *site) start(name string) {
	s.cut[name] = new(bool)
	began := time.Now()
	l := New(Config{
		Self: name, Others: func() []string {
			return slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == name })
		}, Register: s.memory.of(s.cut[name]), Log: slog.New(slog.DiscardHandler),
		Now: func() time.Duration { return time.Since(began) },
	})
	l.Want(s.items, nil)
	ctx, cancel := context.WithCancel(s.t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = l.Run(ctx) })
	s.leases[name] = l
	s.stop[name] = sync.OnceFunc(func() { cancel(); run.Wait() })
}

func (s *site) setCut(name string, cut bool) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	*s.cut[name] = cut
}

// owner returns who may use an item; it fails if two may.
func (s *site) owner(item string) string {
	s.t.Helper()
	var owner string
	for _, name := range s.names {
		h := s.leases[name].Hold(item)
		if h == nil || h.Err() != nil {
			continue
		}
		if owner != "" {
			s.t.Fatalf("%s and %s both have %s", owner, name, item)
		}
		owner = name
	}
	return owner
}

// watch checks at each tenth of a second that nothing has two owners.
func (s *site) watch(d time.Duration) {
	s.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		<-time.After(100 * time.Millisecond) // virtual
		synctest.Wait()
		for _, i := range s.items {
			s.owner(i.Name)
		}
	}
}

func (s *site) share() map[string]int {
	s.t.Helper()
	n := map[string]int{}
	for _, i := range s.items {
		n[s.owner(i.Name)]++
	}
	return n
}

func many(n int) (items []Item) {
	for i := range n {
		items = append(items, Item{Name: fmt.Sprint("site/d", i)})
	}
	return items
}

func TestItemsAreSharedEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, many(30)...)
		s.watch(10 * time.Second)
		if n := s.share(); n["r1"] != 10 || n["r2"] != 10 || n["r3"] != 10 {
			t.Errorf("the shares are %v", n)
		}
	})
}

func TestAGroupStaysTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Item{"a", "line"}, Item{"b", "line"}, Item{"c", "line"}, Item{"d", "line"})
		s.watch(10 * time.Second)
		if n := s.share(); len(n) != 1 || n[""] != 0 {
			t.Errorf("the shares are %v", n)
		}
	})
}

func TestAnotherReplicaTakesOverAfterTheTermAndTheReturningOneGetsItsShareLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, many(9)...)
		s.watch(10 * time.Second)
		lost := s.owner("site/d0")
		hold := s.leases[lost].Hold("site/d0")
		s.setCut(lost, true)
		s.watch(Use + Renew)
		if hold.Err() == nil || s.owner("site/d0") != "" {
			t.Error("a replica that was cut off uses an item for longer than it may")
		}
		s.watch(Term)
		if now := s.owner("site/d0"); now == "" || now == lost {
			t.Errorf("after the term the owner is %q", now)
		}
		s.setCut(lost, false)
		s.watch(10 * time.Second)
		if n := s.share(); n[lost] != 0 {
			t.Errorf("the replica got something as soon as it was back: %v", n)
		}
		s.watch(5 * time.Minute)
		if n := s.share(); n[lost] < 2 {
			t.Errorf("minutes later the shares are %v", n)
		}
	})
}

func TestADrainedReplicaGivesEverythingAwayAndOneThatStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, many(9)...)
		s.watch(10 * time.Second)
		var mu sync.Mutex
		busy := true
		s.leases["r1"].Want(s.items, func(string) bool { mu.Lock(); defer mu.Unlock(); return busy })
		s.leases["r1"].Drain(true)
		s.watch(3 * time.Second)
		if n := s.share(); n["r1"] != 0 || n[""] != 3 {
			t.Errorf("while the drained replica still closes them, the shares are %v", n)
		}
		mu.Lock()
		busy = false
		mu.Unlock()
		s.watch(3 * time.Second)
		if n := s.share(); n["r1"] != 0 || n[""] != 0 {
			t.Errorf("then they are %v", n)
		}
		s.stop["r2"]()
		s.watch(2 * time.Second)
		if n := s.share(); n["r3"] != 9 {
			t.Errorf("after another one stopped they are %v", n)
		}
	})
}

func TestWhatOneReplicaOnlyCanUseStaysThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for _, name := range s.names {
			s.leases[name].Want([]Item{{Name: "only/" + name, Group: "line"}}, nil)
		}
		for _, name := range s.names {
			s.items = append(s.items, Item{Name: "only/" + name})
		}
		s.watch(10 * time.Second)
		for _, name := range s.names {
			if got := s.owner("only/" + name); got != name {
				t.Errorf("only/%s is at %q", name, got)
			}
		}
		s.stop["r2"]()
		s.watch(10 * time.Second)
		if got := s.owner("only/r2"); got != "" {
			t.Errorf("%s has what it cannot use", got)
		}
	})
}

// A process that was stopped finds out that time has passed before any of its timers runs.
func TestAHoldLooksAtTheClock(t *testing.T) {
	now := time.Duration(0)
	l := New(Config{Self: "r1", Now: func() time.Duration { return now }})
	l.until = Use
	h := newHold(l, 1)
	if h.Err() != nil {
		t.Fatal("a fresh hold has ended")
	}
	now = Use
	if h.Err() == nil {
		t.Error("it has not ended in time")
	}
	now = 0
	if h.Err() == nil {
		t.Error("it was renewed after its end")
	}
}

func TestATableSurvivesItsEncoding(t *testing.T) {
	before := newTable()
	before.plan(&view{self: "r1", wants: map[string]string{"a": "l", "b": "l"}, able: map[string]bool{"r1": true}})
	data, err := before.encode()
	if err != nil {
		t.Fatal(err)
	}
	after, err := decodeTable(data)
	if err != nil || after.Epoch != 2 || after.Entries["b"].Owner != "r1" || after.Entries["b"].Group != "l" {
		t.Errorf("got %+v, %v", after, err)
	}
	if _, err := decodeTable([]byte("not a table")); err == nil {
		t.Error("damage was not seen")
	}
}
