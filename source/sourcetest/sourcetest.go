package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/internal/await"
	"voltbus/point"
	"voltbus/source"
	"voltbus/source/setting"
)

// Message is a message that a test sends.
type Message struct {
	Name string // its key or routing key, such as meter-7
	Body string
}

// Peer is a broker that the suite is run against.
type Peer struct {
	Entry setting.Source // what the configuration says; the suite adds name, format and so on
	Kind  source.Kind
	Kill  func() // the broker, at once; nil if it has no process of its own
	Start func() // again
	// Send sends messages to what is read, and returns when they are safe there.
	Send func(t testing.TB, list ...Message)
	// Dead is the place for dead letters, and Letters returns the bodies that are there.
	Dead    string
	Nowhere string // a place that is not there; default: nowhere
	Letters func(t testing.TB) []string
}

// Noon is when the readings of tests begin.
func Noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Running are sources that run.
type Running struct {
	*source.Sources

	stop func()
}

// Stop ends them, as a node that stops does.
func (r *Running) Stop() { r.stop() }

// Open runs one source until the test ends, or Stop.
func Open(t testing.TB, dir string, log *Log, p *Peer) *Running {
	t.Helper()
	entry := p.Entry
	entry.Name, entry.Kind = "there", "tested"
	if entry.Under == "" {
		entry.Under = "plant"
	}
	if entry.Format == "" && len(entry.Templates) == 0 {
		entry.Format = setting.JSON
	}
	s, err := source.Open(source.Config{
		Sources: []setting.Source{entry}, Kinds: map[string]source.Kind{"tested": p.Kind}, Dir: dir, Node: "home", Admission: log,
		Bounds: point.Bounds{Ahead: time.Hour}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r := &Running{s, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(r.stop)
	return r
}

// Until waits until the source is so.
func (r *Running) Until(t testing.TB, what string, is func(*source.State) bool) {
	t.Helper()
	await.Until(t, what, func() bool { return is(&r.States()[0]) }, func() string { return fmt.Sprintf("%+v", r.States()[0]) })
}

// has waits until the log has these readings, and fails if it has others.
func (l *Log) has(t testing.TB, want map[string]string) {
	t.Helper()
	missing := func() (list []string) {
		got, _ := l.Samples()
		for key, value := range want {
			if got[key] != value {
				list = append(list, fmt.Sprintf("%s: %q instead of %q", key, got[key], value))
			}
		}
		return list
	}
	await.Until(t, "the log has all readings", func() bool { return len(missing()) == 0 }, func() string {
		list := missing()
		return fmt.Sprintf("of %d readings %d are missing, such as %v", len(want), len(list), list[:min(len(list), 5)])
	})
	got, _ := l.Samples()
	for key, value := range got {
		if _, known := want[key]; !known {
			t.Errorf("there is %s = %q, which nobody sent", key, value)
		}
	}
}

// series makes the messages of a range of numbers, one reading each, and notes what the log shall have.
func series(want map[string]string, from, to int) (list []Message) {
	for i := from; i < to; i++ {
		name, at := fmt.Sprintf("p%d", i%5), Noon().Add(time.Duration(i)*time.Second)
		list = append(list, Message{name, fmt.Sprintf(`{"point": %q, "time": %q, "value": %d}`, name, at.Format(time.RFC3339), i)})
		want[Key("plant/"+name, at.UnixMicro())] = strconv.Itoa(i)
	}
	return list
}

// Run runs the suite. Each case has a topic, queue or address of its own.
func Run(t *testing.T, open func(t *testing.T) *Peer) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Peer)
	}{
		{"readings are recorded, and messages answered after that", arrive},
		{"while the log refuses nothing is taken and nothing is lost", refused},
		{"a broker that is killed loses nothing", killBroker},
		{"a node that ends before it has answered gets the messages again", killNode},
		{"a message that cannot be read is kept, and the others go on", poison},
		{"dead letters are sent to their place", deadLetters},
		{"a place for dead letters that is not there has them kept", noPlace},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func arrive(t *testing.T, p *Peer) {
	log, dir, want := NewLog(), t.TempDir(), map[string]string{}
	p.Send(t, series(want, 0, 50)...)
	r := Open(t, dir, log, p)
	r.Until(t, "the first are answered", func(s *source.State) bool { return s.Messages == 50 && s.Samples == 50 })
	p.Send(t, series(want, 50, 100)...)
	r.Until(t, "all are answered", func(s *source.State) bool {
		return s.Messages == 100 && s.Samples == 100 && s.Err == nil && s.Unread == 0
	})
	log.has(t, want)
	r.Stop()
	r = Open(t, dir, log, p)
	p.Send(t, series(want, 100, 110)...)
	r.Until(t, "only what is new comes", func(s *source.State) bool { return s.Messages == 10 })
	log.has(t, want)
	if _, total := log.Samples(); total != 110 {
		t.Errorf("%d samples were recorded: what was answered came again", total)
	}
}

func refused(t *testing.T, p *Peer) {
	log, dir, want := NewLog(), t.TempDir(), map[string]string{}
	log.Refuse(fault.E("recorder.Record", fault.Unavailable, "", errors.New("recording is paused: the disk is full")))
	p.Send(t, series(want, 0, 50)...)
	r := Open(t, dir, log, p)
	told := func(s *source.State) bool {
		return s.Messages == 0 && strings.Contains(s.Problem(), "the node does not record: ") && strings.Contains(s.Problem(), "the disk is full")
	}
	r.Until(t, "it is told", told)
	r.Stop()
	r = Open(t, dir, log, p)
	r.Until(t, "it is told again", told)
	log.Refuse(nil)
	r.Until(t, "all are answered", func(s *source.State) bool { return s.Messages == 50 && s.Err == nil })
	log.has(t, want)
}

func killBroker(t *testing.T, p *Peer) {
	if p.Kill == nil {
		t.Skip("there is no broker to kill")
	}
	log, want := NewLog(), map[string]string{}
	p.Send(t, series(want, 0, 500)...)
	p.Entry.Batch = 10
	r := Open(t, t.TempDir(), log, p)
	r.Until(t, "the first are answered", func(s *source.State) bool { return s.Messages > 0 })
	p.Kill()
	r.Until(t, "it is noticed", func(s *source.State) bool { return s.Err != nil })
	p.Start()
	p.Send(t, series(want, 500, 600)...)
	r.Until(t, "it takes messages again", func(s *source.State) bool { return s.Err == nil })
	log.has(t, want)
	r.Until(t, "it is well again", func(s *source.State) bool { return s.Err == nil })
	if s := r.States()[0]; s.Unread != 0 {
		t.Errorf("the state is %+v", s)
	}
}

// mute is a reader whose answers do not reach the broker.
type mute struct {
	source.Reader

	asked chan<- struct{}
}

func (m *mute) Answer(ctx context.Context) error {
	select {
	case m.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

// killNode repeats what a node does that ends between recording and answering.
func killNode(t *testing.T, p *Peer) {
	log, dir, want := NewLog(), t.TempDir(), map[string]string{}
	p.Send(t, series(want, 0, 50)...)
	muted, asked := *p, make(chan struct{}, 1)
	muted.Kind = func(s *setting.Source, node string) (source.Reader, error) {
		r, err := p.Kind(s, node)
		return &mute{r, asked}, err
	}
	r := Open(t, dir, log, &muted)
	select {
	case <-asked:
	case <-time.After(await.Limit):
		t.Fatalf("nothing was recorded: %+v", r.States()[0])
	}
	r.Stop()
	_, before := log.Samples()
	r = Open(t, dir, log, p)
	r.Until(t, "they come again", func(s *source.State) bool { return s.Messages == 50 })
	log.has(t, want)
	if _, total := log.Samples(); before == 0 || total != before+50 {
		t.Errorf("%d samples came before the end, and %d in all", before, total)
	}
}

// bad are messages of which nothing, or not all, can be read.
func bad(want map[string]string) []Message {
	want[Key("plant/half", Noon().UnixMicro())] = "1"
	return []Message{
		{"p0", "no JSON"},
		{"p1", "\x00\xff\xfe"},
		{"p2", `{"point": "p2", "time": "yesterday", "value": 1}`},
		{"p3", `[{"point": "half", "time": "2026-03-01T12:00:00Z", "value": 1}, {"point": "../escape", "value": 2}]`},
	}
}

func poison(t *testing.T, p *Peer) {
	log, dir, want := NewLog(), t.TempDir(), map[string]string{}
	p.Send(t, series(want, 0, 20)...)
	p.Send(t, bad(want)...)
	p.Send(t, series(want, 20, 40)...)
	r := Open(t, dir, log, p)
	r.Until(t, "all are answered", func(s *source.State) bool { return s.Messages == 44 && s.Unread == 4 && s.Kept == 4 && s.Err == nil })
	log.has(t, want)
	if s := r.States()[0]; s.Samples != 41 || !strings.Contains(s.Problem(), `could not read 4 messages, which are kept: voltbus sources unread there`) {
		t.Errorf("the state is %+v: %s", s, s.Problem())
	}
	r.Stop()
	r = Open(t, dir, log, p)
	list, err := r.Unread("there", 0, 100)
	if err != nil || len(list) != 4 {
		t.Fatalf("after a new start there are %+v, %v", list, err)
	}
	found := map[string]string{}
	for _, one := range list {
		found[string(one.Payload)] = one.Reason
	}
	for _, m := range bad(want) {
		if found[m.Body] == "" {
			t.Errorf("%q is not kept with a reason: %v", m.Body, found)
		}
	}
	if n, err := r.Discard("there"); err != nil || n != 4 || r.States()[0].Kept != 0 {
		t.Errorf("discarded %d, %v", n, err)
	}
}

func deadLetters(t *testing.T, p *Peer) {
	log, want := NewLog(), map[string]string{}
	p.Entry.DeadLetters = p.Dead
	p.Send(t, series(want, 0, 20)...)
	p.Send(t, bad(want)...)
	r := Open(t, t.TempDir(), log, p)
	r.Until(t, "all are answered", func(s *source.State) bool {
		return s.Messages == 24 && s.Diverted == 4 && s.Kept == 0 && s.Err == nil && s.Dead == nil
	})
	log.has(t, want)
	there := map[string]bool{}
	await.Until(t, "all are there", func() bool {
		for _, body := range p.Letters(t) {
			there[body] = true
		}
		return len(there) == 4
	}, func() string { return fmt.Sprint(there) })
	for _, m := range bad(want) {
		if !there[m.Body] {
			t.Errorf("%q is not among the dead letters %v", m.Body, there)
		}
	}
}

func noPlace(t *testing.T, p *Peer) {
	log, want := NewLog(), map[string]string{}
	if p.Entry.DeadLetters = p.Nowhere; p.Nowhere == "" {
		p.Entry.DeadLetters = "nowhere"
	}
	p.Send(t, bad(want)...)
	p.Send(t, series(want, 0, 20)...)
	r := Open(t, t.TempDir(), log, p)
	r.Until(t, "all are answered", func(s *source.State) bool { return s.Messages == 24 && s.Kept == 4 && s.Diverted == 0 && s.Dead != nil })
	log.has(t, want)
	if s := r.States()[0]; !strings.Contains(s.Problem(), "cannot send dead letters, and keeps them") {
		t.Errorf("it says %q", s.Problem())
	}
}
