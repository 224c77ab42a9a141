package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// desk is a bus in memory.
type desk struct {
	mu     sync.Mutex
	taps   map[*memTap]bool
	wanted []string
	turns  uint64
	heard  []Message // what was published by taps
}

func newDesk(wanted ...string) *desk { return &desk{taps: map[*memTap]bool{}, wanted: wanted} }

func (d *desk) want(subjects ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted, d.turns = subjects, d.turns+1
}

func (d *desk) turnover() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.turns
}

func (d *desk) interest() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.wanted...), nil
}

// publish is a message of a program of this node.
func (d *desk) publish(m Message) { d.spread(nil, m) }

func (d *desk) spread(from *memTap, m Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if from != nil {
		d.heard = append(d.heard, m)
	}
	for t := range d.taps {
		if t != from && t.deliver != nil {
			t.deliver(m)
		}
	}
}

func (d *desk) came() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, m := range d.heard {
		list = append(list, m.Subject)
	}
	return list
}

// memTap implements Tap.
type memTap struct {
	desk    *desk
	deliver func(Message)
}

func (d *desk) tap() (Tap, error) {
	t := &memTap{desk: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taps[t] = true
	return t, nil
}

func (t *memTap) Publish(m *Message) error { t.desk.spread(t, *m); return nil }

func (t *memTap) Take(deliver func(Message)) (stop func(), lost func() int, err error) {
	set := func(f func(Message)) {
		t.desk.mu.Lock()
		defer t.desk.mu.Unlock()
		t.deliver = f
	}
	set(deliver)
	return func() { set(nil) }, func() int { return 0 }, nil
}

func (t *memTap) Close() {
	t.desk.mu.Lock()
	defer t.desk.mu.Unlock()
	delete(t.desk.taps, t)
}

// wireOf is a connection between a child and a hub in memory, of as many bytes a second as it is told.
type wireOf struct {
	hub   *Hub
	child string
	id    string
	down  func([]byte)
	rate  int64 // 0 for any
	ended chan struct{}
	once  sync.Once
	up    chan []byte
	gone  sync.WaitGroup
}

func (w *wireOf) Send(data []byte) error {
	select {
	case <-w.ended:
		return errors.New("ended")
	case w.up <- append([]byte(nil), data...):
		return nil
	}
}

func (w *wireOf) carry() {
	for {
		select {
		case <-w.ended:
			return
		case data := <-w.up:
			if w.rate > 0 {
				pass(time.Duration(len(data)) * time.Second / time.Duration(w.rate))
			}
			w.hub.Receive(w.child, w.id, data)
		}
	}
}

func (w *wireOf) Ended() <-chan struct{} { return w.ended }
func (w *wireOf) Close()                 { w.once.Do(func() { close(w.ended) }); w.gone.Wait() }

// family is a parent's hub with children.
type family struct {
	t       *testing.T
	parent  *desk
	hub     *Hub
	mu      sync.Mutex
	wires   map[string]*wireOf // by child
	rights  map[string]Child
	refused []error
	rate    int64
	bound   int64 // that children keep to
	made    int
}

func newFamily(t *testing.T, wanted ...string) *family {
	f := &family{t: t, parent: newDesk(wanted...), wires: map[string]*wireOf{}, rights: map[string]Child{}}
	f.hub = NewHub(HubConfig{
		Name: "campus", Tap: f.parent.tap, Above: func() []string { return nil },
		Send: func(child, id string, data []byte) error {
			f.mu.Lock()
			w := f.wires[child]
			f.mu.Unlock()
			if w != nil && w.id == id {
				w.down(append([]byte(nil), data...))
			}
			return nil
		},
		Connected: func() map[string]bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			all := map[string]bool{}
			for child := range f.wires {
				all[child] = true
			}
			return all
		},
		Child: func(name string) (Child, bool) {
			f.mu.Lock()
			defer f.mu.Unlock()
			c, known := f.rights[name]
			return c, known
		},
		Behind:   func(child, node string) bool { return child == node },
		Turnover: f.parent.turnover, Interest: f.parent.interest,
		Refused: func(_ string, err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.refused = append(f.refused, err)
		},
		Withheld: func() {}, Log: slog.New(slog.DiscardHandler),
	})
	f.start(func(ctx context.Context) { _ = f.hub.Run(ctx) })
	synctest.Wait() // it takes children from now on
	return f
}

func (f *family) start(run func(context.Context)) {
	ctx, end := context.WithCancel(f.t.Context())
	var done sync.WaitGroup
	done.Go(func() { run(ctx) })
	f.t.Cleanup(func() { end(); done.Wait() })
}

// child connects a child that may publish below its name.
func (f *family) child(name string, own *desk, rules Rules, hear ...point.Path) *Up {
	return f.childBy(name, own, func() Rules { return rules }, hear...)
}

// childBy connects a child whose rules may change.
func (f *family) childBy(name string, own *desk, rules func() Rules, hear ...point.Path) *Up {
	f.mu.Lock()
	f.rights[name] = Child{Publish: []point.Pattern{point.Pattern(name)}, Subscribe: identity.Grants{Subscribe: []point.Pattern{"weather/**", "a/**"}}}
	f.mu.Unlock()
	up := NewUp(UpConfig{
		Tap: own.tap, Rules: rules, Hear: hear, Rate: f.bound, Behind: func(node string) bool { return node == name },
		Turned: func() {}, Below: func() []Withheld { return nil }, Log: slog.New(slog.DiscardHandler),
	})
	f.start(func(ctx context.Context) {
		up.Run(ctx, func(_ context.Context, deliver func([]byte)) (Conn, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.made++
			w := &wireOf{hub: f.hub, child: name, id: fmt.Sprint(f.made), down: deliver, rate: f.rate, ended: make(chan struct{}), up: make(chan []byte)}
			w.gone.Go(w.carry)
			f.wires[name] = w
			return w, nil
		})
	})
	return up
}

func scanOf(device point.Path) Message {
	return Message{Subject: wire.Subject(wire.ScanPrefix, device), Data: []byte(`{"device":"` + string(device) + `","time":"t","points":{"n":1}}`)}
}

func allowed(prefix point.Path) Rules {
	return Rules{Naming: uplink.Naming{Prefix: prefix}, Grants: identity.Grants{Subscribe: []point.Pattern{"**"}}, Self: string(prefix)}
}

func TestWhatIsWantedGoesUpUntilItIsNotWantedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own := newFamily(t, "live.scan.plant.a"), newDesk()
		up := f.child("plant", own, allowed("plant"))
		pass(time.Second)
		own.publish(scanOf("a"))
		own.publish(scanOf("b"))
		pass(time.Second)
		if got := f.parent.came(); len(got) != 1 || got[0] != "live.scan.plant.a" {
			t.Errorf("the parent got %v", got)
		}
		f.parent.want("live.scan.plant.*", "live.scan.*.b", "live.scan.>") // each matches
		pass(time.Second)
		own.publish(scanOf("b"))
		pass(time.Second)
		if got := f.parent.came(); len(got) != 2 || got[1] != "live.scan.plant.b" {
			t.Errorf("the parent got %v", got)
		}
		f.parent.want()
		pass(3 * time.Second)
		own.publish(scanOf("a"))
		pass(time.Second)
		if got := f.parent.came(); len(got) != 2 || len(up.Status().Wanted) != 0 {
			t.Errorf("the parent wants nothing, and got %v; the child knows of %v", got, up.Status().Wanted)
		}
		own.mu.Lock()
		defer own.mu.Unlock()
		for tap := range own.taps {
			if tap.deliver != nil {
				t.Error("the child still takes what nobody wants")
			}
		}
	})
}

func TestOneWhoStopsListeningTakesNothingFromAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own := newFamily(t, "live.scan.plant.a"), newDesk()
		f.child("plant", own, allowed("plant"))
		pass(time.Second)
		for i := range 100 { // another listener comes and goes
			if i%2 == 0 {
				f.parent.want("live.scan.plant.a", "live.>")
			} else {
				f.parent.want("live.scan.plant.a")
			}
			own.publish(scanOf("a"))
			pass(100 * time.Millisecond)
		}
		pass(time.Second)
		if got := f.parent.came(); len(got) != 100 {
			t.Errorf("of 100 messages %d came", len(got))
		}
	})
}

func TestASlowLinkDropsTheOldestAndSaysHowMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own := newFamily(t, "live.>"), newDesk()
		f.rate = 2000
		up := f.child("plant", own, allowed("plant"))
		pass(time.Second)
		const n = 20_000
		for i := range n {
			m := scanOf(point.Path(fmt.Sprint("a", i)))
			m.Data = []byte(strings.Replace(string(m.Data), `"n":1`, fmt.Sprintf(`"n":"%x"`, uint64(i)*0x9e3779b97f4a7c15), 1))
			own.publish(m)
			pass(time.Millisecond)
		}
		pass(20 * time.Second)
		got, s := f.parent.came(), up.Status()
		if len(got) == n || s.Sent.Dropped == 0 || int(s.Sent.Dropped)+len(got) != n {
			t.Errorf("of %d messages %d came, and %d were dropped", n, len(got), s.Sent.Dropped)
		}
		before := len(got)
		own.publish(scanOf("last"))
		pass(time.Second)
		if got := f.parent.came(); len(got) != before+1 {
			t.Errorf("behind what was dropped %d came", len(got)-before)
		}
		if below := f.hub.Status()["plant"]; below.Received.Messages != uint64(before+1) || below.Received.Dropped != s.Sent.Dropped {
			t.Errorf("the parent counts %+v, the child dropped %d", below.Received, s.Sent.Dropped)
		}
	})
}

func TestAChildHearsWhatItAskedForAndIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own, other := newFamily(t), newDesk(), newDesk()
		f.child("plant", own, allowed("plant"), "weather", "secret", "a")
		f.child("a", other, allowed("a"))
		pass(time.Second)
		for _, m := range []Message{
			scanOf("weather/mast"), scanOf("secret/x"), scanOf("else"),
			{Subject: "msg.forecast.weather.today", Data: []byte("rain")},
		} {
			f.parent.publish(m)
		}
		other.publish(scanOf("room")) // of the other child
		own.publish(scanOf("room"))   // does not come back
		pass(time.Second)
		got := strings.Join(own.came(), " ")
		if got != "live.scan.weather.mast msg.campus%2Fforecast.weather.today live.scan.a.room" &&
			got != "live.scan.a.room live.scan.weather.mast msg.campus%2Fforecast.weather.today" {
			t.Errorf("the child hears %s", got)
		}
		if got := other.came(); len(got) != 0 {
			t.Errorf("who asked for nothing hears %v", got)
		}
	})
}

func TestAttackAChildSendsWhatItMayNotAndWhatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, own := newFamily(t, "live.>", "msg.>"), newDesk()
		f.child("liar", own, Rules{Grants: identity.Grants{Administer: true}, Self: "campus"}) // no prefix, another's name
		pass(time.Second)
		f.mu.Lock()
		w := f.wires["liar"]
		f.mu.Unlock()
		p := &packer{}
		number := uint64(0)
		send := func(list ...Message) {
			number++
			frame, err := p.pack(nil, &packed{number: number, messages: list})
			if err != nil {
				t.Fatal(err)
			}
			f.hub.Receive("liar", w.id, frame)
		}
		send(scanOf("campus/a"), Message{Subject: "msg.campus%2Fx.liar.topic"}, Message{Subject: "rpc.node.admin.stop"}, scanOf("liar/a"))
		f.hub.Receive("liar", w.id, []byte("{"))
		f.hub.Receive("liar", w.id, []byte{dataFrame, 0xff})
		f.hub.Receive("liar", w.id, []byte(`{"want":{"version":1,"subjects":["a b"]}}`))
		f.hub.Receive("liar", w.id, []byte(`{"want":{"version":1,"subjects":[`+strings.Repeat(`"x",`, MaxSubjects)+`"x"]}}`))
		f.hub.Receive("stranger", "1", []byte(`{"hello":true}`))
		f.hub.Receive("liar", "another", []byte(`{"taken":1}`))
		synctest.Wait()          // until those are looked at
		for range 4 * maxInbox { // more than is looked at
			f.hub.Receive("liar", w.id, []byte(`{"taken":18446744073709551615}`))
		}
		pass(time.Second)
		if got := f.parent.came(); len(got) != 1 || got[0] != "live.scan.liar.a" {
			t.Errorf("the parent publishes %v", got)
		}
		f.mu.Lock()
		for _, err := range f.refused {
			if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Corrupt) {
				t.Errorf("refused as %v", err)
			}
		}
		n := len(f.refused)
		f.mu.Unlock()
		if s := f.hub.Status(); n < 6 || s["liar"].Refused < 6 || len(s) != 1 {
			t.Errorf("%d were told, the counts are %+v", n, s)
		}
		f.parent.want()
		pass(5 * time.Second)
		send(scanOf("liar/b"))
		pass(time.Second)
		if got := f.parent.came(); len(got) != 1 {
			t.Errorf("what nobody wants is published: %v", got)
		}
	})
}
