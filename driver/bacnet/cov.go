package bacnet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// maxReports bounds the reports that nobody has taken yet.
const maxReports = 20_000

// changes are what a device reports by itself, for one session: its subscriptions, and the reports that were not taken
// yet. Goroutines of the socket fill it and the session empties it.
type changes struct {
	config *Config
	items  []pointlist.Item

	mu      sync.Mutex
	news    func() // nil: nobody listens
	names   map[int]bool
	at      ip.Address
	watches map[encoding.ObjectID]*watch
	reports []point.Sample
	lost    uint64
	err     error // why the device is not heard
	ended   error // the line was closed, or lost
}

// watch is the subscription to an object.
type watch struct {
	sub       *client.Subscription
	items     []int
	answered  bool                    // the device took the subscription, or declined
	refused   error                   // why it declined
	increment atomic.Pointer[float64] // from which on the device reports; nil: not known
	reports   int                     // notifications so far
	last      point.Value
	doubt     int // reports at the poll that found another value, plus one; 0: no doubt
	silent    bool
}

func newChanges(c *Config) *changes {
	return &changes{config: c, items: c.items}
}

// Subscribe implements driver.Subscriber: changes of the points whose objects can tell them. The others are polled.
func (s *session) Subscribe(ctx context.Context, names []string, news func()) error {
	const op = "bacnet.Subscribe"
	remote, err := s.reach(ctx)
	if err == nil {
		err = s.changes.over()
	}
	if err != nil {
		return s.fail(op, err)
	}
	wanted := make(map[int]bool, len(names))
	for _, name := range names {
		if i, known := s.byName[name]; known {
			wanted[i] = true
		}
	}
	if err := s.changes.begin(remote, wanted, news); err != nil {
		return s.fail(op, err)
	}
	return nil
}

// Take implements driver.Subscriber.
func (s *session) Take(_ context.Context, emit func(point.Sample)) error {
	const op = "bacnet.Take"
	reports, trouble := s.changes.take()
	for i := range reports {
		emit(reports[i])
	}
	if s.closed || s.line.closed {
		trouble = driver.ErrNotConnected
	}
	if trouble == nil {
		return nil
	}
	if errors.Is(trouble, transaction.ErrTimeout) {
		s.station.lose()
	}
	return s.fail(op, trouble)
}

// Lost implements driver.Lossy.
func (s *session) Lost() uint64 {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	lost := s.changes.lost
	s.changes.lost = 0
	return lost
}

// Lacks implements driver.Lacking.
func (s *session) Lacks() (known bool, why error) { return s.changes.lacks() }

var (
	_ driver.Subscriber = (*session)(nil)
	_ driver.Lossy      = (*session)(nil)
	_ driver.Lacking    = (*session)(nil)
)

// begin subscribes to the wanted items at a device, in place of what was subscribed to.
func (g *changes) begin(remote client.Remote, wanted map[int]bool, news func()) error {
	g.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.news, g.names, g.at, g.err = news, wanted, remote.Address, nil
	g.watches = make(map[encoding.ObjectID]*watch)
	for i := range g.items {
		t := &g.items[i]
		if !wanted[i] || !t.COV {
			continue
		}
		w := g.watches[t.Object]
		if w == nil {
			w = &watch{}
			g.watches[t.Object] = w
		}
		w.items = append(w.items, i)
	}
	for object, w := range g.watches {
		sub, err := remote.Watch(client.Watch{
			Object: object, Confirmed: g.config.COVConfirmed, Lifetime: g.config.COVLifetime,
			Notify:  func(n service.Notification) { g.notified(w, n) },
			Renewed: func(err error) { g.renewed(w, err) },
		})
		if err != nil {
			return err
		}
		w.sub = sub
		if g.items[w.items[0]].Kind == point.Float {
			g.askIncrement(remote, object, w)
		}
	}
	return nil
}

// askIncrement asks from which change on a device reports an analog value.
func (g *changes) askIncrement(remote client.Remote, object encoding.ObjectID, w *watch) {
	p := client.Property{Object: object, Property: enum.PropertyCOVIncrement}
	_ = remote.Start(service.ReadProperty, p.Append(nil), func(answer []byte, err error) {
		if err != nil {
			return
		}
		ack, err := service.DecodeReadPropertyAck(answer)
		if err != nil {
			return
		}
		v, err := ack.Value.One()
		if x, ok := v.Float(); err == nil && ok {
			w.increment.Store(&x) // begin may hold the mutex, and wait for the client, which calls this
		}
	})
}

// follow subscribes anew if the device has another address now.
func (g *changes) follow(remote client.Remote) {
	g.mu.Lock()
	news, names, moved := g.news, g.names, g.news != nil && g.at != remote.Address
	g.mu.Unlock()
	if moved {
		_ = g.begin(remote, names, news) // the next read tells why not
	}
}

// stop ends all subscriptions. There is no news after it returned.
func (g *changes) stop() {
	g.mu.Lock()
	watches := g.watches
	g.news, g.watches, g.reports = nil, nil, nil
	g.mu.Unlock()
	for _, w := range watches {
		if w.sub != nil {
			w.sub.Stop()
		}
	}
}

// end notes that the line was closed.
func (g *changes) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = driver.ErrNotConnected
	g.tell()
}

// cut notes that the line was lost, and with it what the device reported meanwhile.
func (g *changes) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended == nil {
		g.ended = errLost
		g.tell()
	}
}

// over says why nothing is reported any more; nil if something may be.
func (g *changes) over() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// tell says that there is something to take. The lock is held.
func (g *changes) tell() {
	if g.news != nil {
		g.news()
	}
}

// notified takes a notification.
func (g *changes) notified(w *watch, n service.Notification) {
	var value encoding.Any
	quality := point.Good
	for _, v := range n.Values {
		switch v.Property {
		case enum.PropertyPresentValue:
			value = v.Value
		case enum.PropertyStatusFlags:
			if bits, err := v.Value.One(); err == nil {
				quality = qualityOfFlags(constructed.StatusFlagsOf(bits.Bits()))
			}
		default:
		}
	}
	if value == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watches[n.Object] != w {
		return // it has ended
	}
	w.reports++
	w.silent, g.err = false, nil
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, i := range w.items {
		s := point.Sample{Point: point.Path(g.items[i].Name), Time: now, Quality: quality}
		v, ok := g.items[i].Decode(value)
		if !ok {
			s.Quality = point.BadValue
		}
		w.last = v
		if !s.Quality.IsBad() {
			s.Value = v
		}
		if len(g.reports) >= maxReports {
			g.reports = slices.Delete(g.reports, 0, maxReports/10)
			g.lost += maxReports / 10
		}
		g.reports = append(g.reports, s)
	}
	g.tell()
}

// renewed takes how a subscription, or its renewal, ended.
func (g *changes) renewed(w *watch, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watches == nil {
		return
	}
	switch {
	case err == nil:
		w.answered, w.refused, g.err = true, nil, nil
	case declined(err) && kindOf(err) != fault.Unavailable:
		w.answered, w.refused = true, err
		w.sub.Stop()
	case declined(err):
		w.answered, w.refused = true, err
	default:
		g.err = err
	}
	g.tell()
}

// take returns the reports since the last call, and why the device is not heard.
func (g *changes) take() ([]point.Sample, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	reports := g.reports
	g.reports = nil
	if g.ended != nil {
		return reports, g.ended
	}
	return reports, g.err
}

// compare looks whether a poll found changes that were not reported. A change may be under way, so that a second poll
// without a report between them is needed to say that the device has stopped reporting.
func (g *changes) compare(samples []point.Sample, place func(name string) int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range samples {
		at := place(string(samples[i].Point))
		if at < 0 || !g.names[at] || !samples[i].Quality.IsGood() {
			continue
		}
		w := g.watches[g.items[at].Object]
		if w == nil || !w.answered || w.refused != nil {
			continue
		}
		switch {
		case !w.differs(samples[i].Value):
			w.doubt = 0
		case w.doubt == w.reports+1:
			w.doubt, w.silent, w.last = 0, true, samples[i].Value
			w.sub.Renew()
		default:
			w.doubt = w.reports + 1
		}
	}
}

// differs reports whether the device should have reported a value.
func (w *watch) differs(now point.Value) bool {
	if w.last.Kind() == point.None {
		return true // not even the first
	}
	was, wasNumber := w.last.Number()
	is, isNumber := now.Number()
	if !wasNumber || !isNumber || now.Kind() != point.Float {
		return w.last != now
	}
	least := math.Abs(was) / 100
	if increment := w.increment.Load(); increment != nil {
		least = *increment
	}
	return math.Abs(is-was) > least
}

// diagnose says which points were not reported although they changed; nil if there are none.
func (g *changes) diagnose() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var silent []string
	for _, w := range g.watches {
		if w.silent {
			silent = append(silent, g.items[w.items[0]].Describe())
		}
	}
	if len(silent) == 0 {
		return nil
	}
	slices.Sort(silent)
	return fault.E("", fault.Unavailable, "", fmt.Errorf(
		"the device has stopped reporting changes of %s, which reads found: %s; it was subscribed to anew. If this comes again, write cov false for them",
		plural.Of(len(silent), "point"), firstOf(silent)))
}

// lacks says which points the device does not report, and whether that is known by now.
func (g *changes) lacks() (known bool, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known = true
	var refused []string
	var reason error
	watched := make(map[int]bool)
	for _, w := range g.watches {
		known = known && w.answered
		for _, i := range w.items {
			if watched[i] = w.refused == nil; w.refused != nil {
				reason = w.refused
			}
		}
	}
	for i := range g.items {
		if g.names[i] && !watched[i] {
			refused = append(refused, g.items[i].Describe())
		}
	}
	if len(refused) == 0 {
		return known, nil
	}
	text := "the device does not report changes of " + plural.Of(len(refused), "point") + ": " + strings.TrimSuffix(firstOf(refused), ".")
	if reason != nil {
		return known, fault.E("", fault.Rejected, "", fmt.Errorf("%s (%w); give the device an interval, so that they are read", text, explain(reason)))
	}
	return known, fault.E("", fault.Invalid, "", errors.New(text+"; give the device an interval, so that they are read"))
}
