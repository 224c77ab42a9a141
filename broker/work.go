package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"voltbus/broker/template"
	"voltbus/broker/unknown"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// The bounds of what waits to be recorded. Beyond them clients are not read, and QoS 0 is not recorded.
const (
	mostWaiting = 200_000  // messages
	mostBytes   = 64 << 20 // of payloads
	mostBound   = 1_000_000
)

// pending is a message that waits to be recorded.
type pending struct {
	message  *session.Message // nil: look for points that became stale
	binding  *binding
	session  *session.Session // to be answered; nil for nobody
	sequence uint64
	at       time.Time
	tenant   string
	done     chan error // is told what became of a message of a device that uses no MQTT; nil for others
}

// work is what waits to be recorded. The broker's lock guards it.
type work struct {
	list   []pending
	spare  []pending
	octets int
	kick   chan struct{}
	turn   chan struct{} // closed and replaced when a batch was taken
	end    chan struct{}
	done   chan struct{} // closed when everything is recorded after end
}

// sure reports whether somebody is told when the message is on disk.
func (p *pending) sure() bool { return p.session != nil || p.done != nil }

func (w *work) init() {
	w.kick, w.turn, w.end, w.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{}), make(chan struct{})
}

func (w *work) add(p pending) {
	w.list = append(w.list, p)
	if p.message != nil {
		w.octets += len(p.message.Payload)
	}
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

func (w *work) full() bool { return len(w.list) >= mostWaiting || w.octets >= mostBytes }

// close has record end once nothing waits. It is called once.
func (w *work) close() { close(w.end) }

// binding is what is known of a topic with a template. Its points belong to the goroutine that records.
type binding struct {
	match  *template.Match
	points map[string]*bound // by name
	last   time.Time         // of its last message
	stale  bool
	listed bool // among those that may become stale
	// set is the count of the set of templates that the match is of; 0 for a match of no template.
	set uint64
}

// bound is a point of a binding.
type bound struct {
	name    string
	path    point.Path
	kind    point.Kind
	known   bool   // listed in the catalogue
	asked   bool   // is to be, with the batch
	topic   string // of the message that named it first
	command *template.Command
	barred  bool   // more than its device may have
	tenant  string // the device whose message named it first
	stamp   point.Stamp
}

// bind returns what is known of a topic, nil if no template takes its messages.
func (b *Broker) bind(name string) *binding {
	if bd, ok := b.bindings[name]; ok {
		return bd
	}
	bd := b.find(name)
	if bd == nil {
		return nil
	}
	if len(b.bindings) < mostBound {
		b.bindings[strings.Clone(name)] = bd
	}
	return bd
}

// find makes what is known of a topic, nil if nothing takes its messages.
func (b *Broker) find(name string) *binding {
	if b.cfg.Find != nil {
		if m := b.cfg.Find(name); m != nil {
			bd := b.shared[m]
			if bd == nil {
				bd = &binding{match: m}
				b.shared[m] = bd
			}
			return bd
		}
	}
	if b.cfg.Templates == nil {
		return nil
	}
	m := b.cfg.Templates.Find(name)
	if m == nil {
		return nil
	}
	return &binding{match: m, set: b.templates}
}

// record records what comes in, batch by batch: while one is on its way to the disk, the next gathers.
func (b *Broker) record(ctx context.Context) {
	defer close(b.work.done)
	r := recording{b: b, points: map[string]int{}}
	for ended := false; ; {
		b.mu.Lock()
		list := b.work.take()
		if len(list) > 0 && r.set != b.templates {
			r.renew()
		}
		b.mu.Unlock()
		if len(list) == 0 {
			if ended {
				return
			}
			select {
			case <-b.work.kick:
			case <-b.work.end:
				ended = true
			}
			continue
		}
		r.do(ctx, list)
	}
}

// take takes what waits.
func (w *work) take() []pending {
	list := w.list
	w.list, w.spare, w.octets = w.spare[:0], nil, 0
	if len(list) > 0 {
		close(w.turn)
		w.turn = make(chan struct{})
	}
	return list
}

// recording is the state of the goroutine that records.
type recording struct {
	b       *Broker
	points  map[string]int // of each device
	watched []*binding     // may become stale
	set     uint64         // the count of the set of templates that it knows
	fresh   []point.Info
	freshAt []*bound
	sure    []point.Sample // of messages that are answered
	loose   []point.Sample // of others
	scan    point.Scan
	old     []point.Sample // of the message, that are not present values
	count   Counts
	bad     []unknown.Topic
	now     *pending
}

// do records a batch and answers it.
func (r *recording) do(ctx context.Context, list []pending) {
	r.fresh, r.freshAt, r.sure, r.loose, r.count, r.bad = r.fresh[:0], r.freshAt[:0], r.sure[:0], r.loose[:0], Counts{}, nil
	for i := range list {
		if list[i].message == nil {
			r.findStale(list[i].at)
			continue
		}
		r.decode(&list[i])
	}
	err := r.write(ctx)
	b := r.b
	b.mu.Lock()
	defer b.unlock()
	for i := range list {
		b.settle(&list[i], err)
		list[i] = pending{}
	}
	b.work.spare = list[:0]
	b.counts.Add(&r.count)
	for i := range r.bad {
		b.unknown.Note(r.bad[i])
	}
}

// recordTime is how long a message waits for the disk. Then it is refused, and its client sends it again.
const recordTime = 5 * time.Second

// write records what was decoded.
func (r *recording) write(ctx context.Context) error {
	c := &r.b.cfg
	if err := r.list(ctx); err != nil {
		return err
	}
	if len(r.loose) > 0 && c.Offer(r.loose) {
		r.count.Samples += uint64(len(r.loose))
	}
	if len(r.sure) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	err := c.Record(limited, r.sure)
	if err == nil {
		r.count.Samples += uint64(len(r.sure))
	}
	return err
}

// list has the points listed that are new. Samples of those that cannot be are left out, and counted.
func (r *recording) list(ctx context.Context) error {
	if len(r.fresh) == 0 {
		return nil
	}
	refused, err := r.b.cfg.List(ctx, r.fresh)
	out := map[point.Path]bool{}
	for i, p := range r.freshAt {
		p.asked = false
		switch {
		case err != nil:
		case i < len(refused) && refused[i] != nil:
			p.barred = true
			out[p.path] = true
			r.count.Barred++
			r.b.cfg.Log.WarnContext(ctx, "a point of MQTT messages is not taken", slog.String("point", string(p.path)), slog.Any("err", refused[i]))
		default:
			p.known = true
			if err == nil && p.command != nil && r.b.cfg.Commanded != nil {
				r.b.cfg.Commanded(p.topic, p.command)
			}
		}
	}
	if len(out) > 0 {
		barred := func(s point.Sample) bool { return out[s.Point] }
		r.sure, r.loose = slices.DeleteFunc(r.sure, barred), slices.DeleteFunc(r.loose, barred)
	}
	if err != nil {
		r.b.cfg.Log.WarnContext(ctx, "points of MQTT messages cannot be listed", slog.Int("points", len(r.fresh)), slog.Any("err", err))
	}
	return err
}

// settle routes a message that was recorded, and answers it.
func (b *Broker) settle(p *pending, err error) {
	if p.done != nil {
		Hook{b}.posted(p, err)
	}
	if p.session == nil {
		return
	}
	r := reply{p.session, p.sequence, packet.Success}
	if err != nil {
		r.code = packet.QuotaExceeded
		if !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Timeout) {
			r.code = packet.UnspecifiedError
		}
		b.counts.NotRecorded++
		b.keeping.commit(r)
		return
	}
	b.counts.Recorded++
	if _, keep := b.router.route(p.message, p.tenant); keep {
		b.keeping.answer(r)
		return
	}
	b.keeping.commit(r)
}

var errNothing = errors.New("the template takes nothing of it")

// decode makes samples of a message, and tells those who listen.
func (r *recording) decode(p *pending) {
	bd := p.binding
	r.now = p
	r.scan = point.Scan{Device: bd.match.Device, Time: p.at.UTC(), Samples: r.scan.Samples[:0]}
	err := bd.match.Take(p.at, p.message.Topic, p.message.Payload, r.take)
	if err == nil && len(r.scan.Samples)+len(r.old) == 0 && !bd.match.Silent() && len(p.message.Payload) > 0 {
		err = errNothing
	}
	if err != nil {
		r.count.Undecoded++
		r.bad = append(r.bad, unknown.Topic{
			Name: p.message.Topic, Device: p.tenant, Template: bd.match.Name, Why: err.Error(), Payload: unknown.Clip(p.message.Payload), At: p.at, Count: 1,
		})
	}
	bd.last, bd.stale = p.at, false
	if bd.match.Stale > 0 && !bd.listed {
		bd.listed = true
		r.watched = append(r.watched, bd)
	}
	r.hand(bd, p.sure())
	if p.sure() {
		r.sure = append(r.sure, r.old...)
	} else {
		r.loose = append(r.loose, r.old...)
	}
	r.old = r.old[:0]
}

// hand passes the samples of the scan on.
func (r *recording) hand(bd *binding, sure bool) {
	if len(r.scan.Samples) == 0 {
		return
	}
	if r.b.cfg.Live != nil {
		r.b.cfg.Live(&r.scan)
	}
	switch {
	case bd.match.Live:
	case sure:
		r.sure = append(r.sure, r.scan.Samples...)
	default:
		r.count.Recorded++
		r.loose = append(r.loose, r.scan.Samples...)
	}
}

// take makes a sample of a reading.
func (r *recording) take(v *template.Reading) {
	p := r.pointOf(v)
	if p == nil {
		return
	}
	s := point.Sample{Point: p.path, Time: v.Time, Value: v.Value, Quality: v.Quality}
	at := r.now.at.UTC()
	switch {
	case s.Time.IsZero():
		s.Time = at
	case !r.b.cfg.Bounds.Hold(s.Time, at):
		s.Time, s.Quality = at, s.Quality.Doubtful()
		r.count.Misdated++
	}
	s.Time = p.stamp.Next(s.Time.Truncate(time.Microsecond))
	if v.Historical {
		r.old = append(r.old, s)
		return
	}
	r.scan.Samples = append(r.scan.Samples, s)
}

// pointOf returns the point of a reading, nil if its device may have no more.
func (r *recording) pointOf(v *template.Reading) *bound {
	bd := r.now.binding
	if p := bd.points[v.Name]; p != nil {
		if p.barred {
			return nil
		}
		if !p.known && !p.asked {
			r.describe(p, v)
		}
		return p
	}
	path := bd.match.Device.Join(v.Name)
	p := &bound{name: strings.Clone(v.Name), path: path, kind: v.Value.Kind(), command: v.Command, topic: r.now.message.Topic, tenant: r.now.tenant}
	most := r.b.mostPoints(r.now.tenant)
	p.barred = path.Validate() != nil || most > 0 && r.points[r.now.tenant] >= most
	if p.barred {
		r.bad = append(r.bad, unknown.Topic{
			Name: r.now.message.Topic, Device: r.now.tenant, Template: bd.match.Name, At: r.now.at, Count: 1, Payload: unknown.Clip(r.now.message.Payload),
			Why: fmt.Sprintf("the point %q is not taken: the device may have %d, and a path has at most %d bytes", unknown.ClipText(v.Name), most, point.MaxPath),
		})
	} else {
		r.points[r.now.tenant]++
	}
	if bd.points == nil {
		bd.points = map[string]*bound{}
	}
	if len(bd.points) < maxBoundPoints {
		bd.points[p.name] = p
	}
	if p.barred {
		return nil
	}
	r.describe(p, v)
	return p
}

// maxBoundPoints bounds the points of one topic.
const maxBoundPoints = 100_000

// describe has a point listed with the batch.
func (r *recording) describe(p *bound, v *template.Reading) {
	info := point.Info{
		Path: p.path, Kind: v.Value.Kind(), Unit: v.Unit, Device: "", Interval: r.now.binding.match.Interval,
		Tags: map[string]string{"source": "mqtt"},
	}
	if r.now.tenant != "" {
		info.Tags["mqtt"] = r.now.tenant
	}
	if c := v.Command; c != nil {
		info.Kind, info.Writable, info.Default, info.Min, info.Max = c.Kind, true, c.Initial, c.Min, c.Max
	}
	p.asked = true
	r.fresh = append(r.fresh, info)
	r.freshAt = append(r.freshAt, p)
}

// findStale gives the points of topics that were silent for too long the quality bad(stale).
func (r *recording) findStale(now time.Time) {
	for _, bd := range r.watched {
		if bd.set != 0 && bd.set != r.set || bd.stale || now.Sub(bd.last) < bd.match.Stale {
			continue
		}
		bd.stale = true
		r.scan = point.Scan{Device: bd.match.Device, Time: now.UTC(), Samples: r.scan.Samples[:0]}
		for _, p := range bd.points {
			if p.known {
				at := p.stamp.Next(now.UTC().Truncate(time.Microsecond))
				r.scan.Samples = append(r.scan.Samples, point.Sample{Point: p.path, Time: at, Quality: point.BadStale})
			}
		}
		r.hand(bd, false)
	}
}

// mostPoints is how many points a device may have.
func (b *Broker) mostPoints(device string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[device]; t != nil && t.Kind != nil {
		return t.Kind.Points
	}
	return 0
}
