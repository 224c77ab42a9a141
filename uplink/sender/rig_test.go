package sender_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/receiver"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errCut  = fault.E("test", fault.Unreachable, "parent", errors.New("cut"))
	errFull = fault.E("test", fault.Unavailable, "disk", errors.New("full"))
)

// memoryLog is a log in memory. A nil entry was dropped by the bound.
type memoryLog struct {
	id      string
	mu      sync.Mutex
	entries [][]byte
	grown   chan struct{}
	pace    time.Duration // that reading an entry takes
}

func newLog(id string) *memoryLog { return &memoryLog{id: id, grown: make(chan struct{})} }

func (l *memoryLog) ID() string { return l.id }

func (l *memoryLog) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = 1
	for first <= uint64(len(l.entries)) && l.entries[first-1] == nil {
		first++
	}
	return first, uint64(len(l.entries)), nil
}

func (l *memoryLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		entries, grown := l.entries, l.grown
		l.mu.Unlock()
		for ; from <= uint64(len(entries)); from++ {
			if entries[from-1] == nil {
				continue
			}
			select {
			case <-time.After(l.pace):
			case <-ctx.Done():
				return nil
			}
			if err := deliver(from, entries[from-1]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

func (l *memoryLog) append(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, data)
	close(l.grown)
	l.grown = make(chan struct{})
}

// drop forgets the oldest entries.
func (l *memoryLog) drop(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := append([][]byte(nil), l.entries...)
	clear(fresh[:n])
	l.entries = fresh
}

// disk is a parent's recorder over a log: what is appended is on disk a little later.
type disk struct {
	log  *memoryLog
	mu   sync.Mutex
	full bool
	kept int // entries that are on disk

	stuck  chan struct{} // what is appended is not on disk before this is closed; nil: is
	paused error
}

func (d *disk) Paused() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paused
}

const flush = 5 * time.Millisecond

func (d *disk) Forward(_ context.Context, _ *point.Block, data []byte) (func(context.Context) error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.full:
		return nil, errFull
	case d.paused != nil:
		return nil, d.paused
	}
	d.log.append(data)
	at := len(d.log.entries)
	due := time.Now().Add(flush)
	stuck := d.stuck
	return func(ctx context.Context) error {
		if stuck != nil {
			select {
			case <-stuck:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case <-time.After(time.Until(due)):
			d.mu.Lock()
			d.kept = max(d.kept, at)
			d.mu.Unlock()
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

// crash loses some of what was not on disk.
func (d *disk) crash(r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log.mu.Lock()
	defer d.log.mu.Unlock()
	keep := d.kept + r.IntN(len(d.log.entries)-d.kept+1)
	d.log.entries, d.kept = d.log.entries[:keep:keep], keep
}

// site is a child, its parent and what is between.
type site struct {
	t    testing.TB
	rand *rand.Rand // of the test
	luck *rand.Rand // of frames that are lost; under mu
	cfg  sender.Config

	child    *memoryLog
	ahead    time.Duration      // of the child's clock; 0: its samples have times of 1970
	produced map[string][]int64 // values by origin
	heads    map[string]uplink.Position

	parent *memoryLog
	disk   *disk
	grants identity.Grants
	prefix point.Path

	mu       sync.Mutex
	receiver *receiver.Receiver
	session  *session
	away     bool
	lossy    float64 // of frames that are lost silently
	rate     int64   // bytes a second upwards; 0 for as fast as it goes
	refusals []receiver.Refusal
	dials    int
	frames   int                                     // that were sent
	describe func(points []uplink.Description) error // nil: the parent takes them

	stopUp, stopDown func()
	sender           *sender.Sender
}

func newSite(t testing.TB, seed uint64) *site {
	t.Helper()
	s := &site{
		t: t, rand: rand.New(rand.NewPCG(seed, 7)), luck: rand.New(rand.NewPCG(seed, 8)), child: newLog("child"), parent: newLog("parent"),
		produced: map[string][]int64{}, heads: map[string]uplink.Position{}, prefix: "site",
		grants: identity.Grants{Record: []point.Pattern{"site"}},
	}
	s.disk = &disk{log: s.parent}
	s.cfg = sender.Config{
		Dial: s.dial, Own: s.own, File: filepath.Join(t.TempDir(), "uplink.json"), Patience: 5 * time.Second,
	}
	return s
}

func (s *site) own() map[string]uplink.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]uplink.Position{}
	for o, p := range s.heads {
		if o == "child~1" || o == "child~1!" {
			out[o] = p
		}
	}
	return out
}

// record makes a block of an origin with n samples of a point.
func (s *site) record(origin string, path point.Path, n int) {
	s.mu.Lock()
	head := s.heads[origin]
	b := &point.Block{
		Origin: origin, Sequence: head.Sequence + 1, Before: head.Samples, Created: time.Now().Add(s.ahead).UTC(), Points: []point.Path{path},
	}
	for range n {
		v := int64(len(s.produced[origin]))
		at := time.UnixMicro(v)
		if s.ahead != 0 {
			at = b.Created.Add(time.Duration(v) * time.Microsecond)
		}
		b.Append(0, &point.Sample{Time: at, Value: point.IntOf(v)})
		s.produced[origin] = append(s.produced[origin], v)
	}
	s.heads[origin] = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	s.mu.Unlock()
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		s.t.Fatal(err)
	}
	s.child.append(data)
}

// startParent opens the parent with what its log has.
func (s *site) startParent() {
	positions := map[string]uplink.Position{}
	for _, data := range s.parent.entries {
		var b point.Block
		if err := new(wire.Decoder).DecodeBlock(data, &b); err != nil {
			s.t.Fatal(err)
		}
		positions[b.Origin] = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	}
	r := receiver.New(receiver.Config{
		Name: "parent", Own: func(o string) bool { return o == "parent~1" },
		Child: func(name string) (receiver.Child, bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return receiver.Child{Prefix: s.prefix, Grants: s.grants}, name == "child"
		},
		Refused: func(f receiver.Refusal) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refusals = append(s.refusals, f)
		},
	}, s.disk, positions)
	s.stopUp = goRun(r.Run)
	s.mu.Lock()
	s.receiver = r
	s.mu.Unlock()
}

func (s *site) startChild() {
	s.sender = sender.New(s.cfg, s.child)
	s.stopDown = goRun(s.sender.Run)
}

// goRun runs a part, and returns what ends it.
func goRun(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = run(ctx) }()
	return func() { cancel(); <-done }
}

func (s *site) stop() {
	s.stopDown()
	s.stopUp()
}

// cut ends the connection; frames under way are lost.
func (s *site) cut() {
	s.mu.Lock()
	n := s.session
	s.mu.Unlock()
	if n != nil {
		n.Close()
	}
}

func (s *site) setAway(away bool) {
	s.mu.Lock()
	s.away = away
	s.mu.Unlock()
	if away {
		s.cut()
	}
}

func (s *site) dial(context.Context) (sender.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.receiver == nil {
		return nil, errCut
	}
	s.dials++
	n := &session{site: s, receiver: s.receiver, frames: make(chan sent, 1<<16), answers: make(chan uplink.Answer, 1<<16), done: make(chan struct{})}
	s.session = n
	n.running.Go(n.carry)
	return n, nil
}

type sent struct {
	lane uplink.Lane
	data []byte
	at   time.Time
}

// session is a connection with a delay.
type session struct {
	site     *site
	receiver *receiver.Receiver
	frames   chan sent
	answers  chan uplink.Answer
	done     chan struct{}
	once     sync.Once
	running  sync.WaitGroup
}

const delay = 10 * time.Millisecond

// silence is how long a sign of life may stand behind frames before an end takes the other one for gone.
const silence = 30 * time.Second

func (n *session) carry() {
	var free time.Time // when the link has carried what came before
	for {
		select {
		case f := <-n.frames:
			if free.Before(f.at) {
				free = f.at
			}
			if rate := n.site.rate; rate > 0 {
				free = free.Add(time.Duration(len(f.data)) * time.Second / time.Duration(rate))
			}
			wait := time.Until(free.Add(delay))
			dead := free.Sub(f.at) > silence
			if dead {
				wait = time.Until(f.at.Add(silence))
			}
			select {
			case <-time.After(wait):
			case <-n.done:
				return
			}
			if dead {
				n.once.Do(func() { close(n.done) })
				return
			}
			n.receiver.Receive("child", f.lane, f.data, func(a uplink.Answer) {
				got, err := uplink.ParseAnswer(a.Encode())
				if err != nil {
					n.site.t.Error(err)
				}
				select {
				case <-n.done:
				case n.answers <- got:
				}
			})
		case <-n.done:
			return
		}
	}
}

func (n *session) ask(ctx context.Context) error {
	select {
	case <-n.done:
		return errCut
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * delay):
		return nil
	}
}

func (n *session) Hello(ctx context.Context, h uplink.Hello) (uplink.Welcome, error) {
	if err := n.ask(ctx); err != nil {
		return uplink.Welcome{}, err
	}
	return n.receiver.Hello("child", &h)
}

func (n *session) Positions(ctx context.Context, origins []string) (map[string]uplink.Position, error) {
	return n.receiver.Positions(origins), n.ask(ctx)
}

func (n *session) Describe(ctx context.Context, points []uplink.Description) error {
	if n.site.describe != nil {
		return n.site.describe(points)
	}
	return n.ask(ctx)
}

func (n *session) Send(lane uplink.Lane, frame []byte) error {
	s := n.site
	s.mu.Lock()
	s.frames++
	lost := s.lossy > 0 && s.luck.Float64() < s.lossy
	s.mu.Unlock()
	select {
	case <-n.done:
		return errCut
	default:
	}
	if !lost {
		n.frames <- sent{lane, append([]byte(nil), frame...), time.Now()}
	}
	return nil
}

func (n *session) Answers() <-chan uplink.Answer { return n.answers }
func (n *session) Done() <-chan struct{}         { return n.done }
func (n *session) Err() error                    { return errCut }

func (n *session) Close() {
	n.once.Do(func() { close(n.done) })
	n.running.Wait()
}

// until waits for a condition in the bubble's time.
func (s *site) until(what string, condition func() bool) {
	s.t.Helper()
	for range 100_000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // virtual
	}
	s.t.Fatalf("never: %s\n%+v", what, s.sender.Status())
}

// arrived reports whether the parent has on disk what every origin made.
func (s *site) arrived() bool {
	s.mu.Lock()
	r, heads := s.receiver, s.heads
	s.mu.Unlock()
	for origin, head := range heads {
		if r.Positions([]string{origin})[origin] != head {
			return false
		}
	}
	return true
}

func path(i int) point.Path { return point.Path(fmt.Sprintf("ahu%d/temp", i)) }
