package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// The events of heartbeats, beside those of package control.
const (
	HeartbeatLost control.EventKind = "heartbeat-lost" // the device does not take it
	HeartbeatBack control.EventKind = "heartbeat-back"
)

// beats are the points that are toggled while the node lives. They are not of the model: nobody commands
// them, and they are neither kept nor in the audit log, apart from their failures.
type beats struct {
	list  map[point.Path]*beat
	order []*beat
	heard chan beaten
}

type beat struct {
	path  point.Path
	every time.Duration
	kind  point.Kind
	next  time.Duration // on the steady clock
	on    bool          // what is written next
	busy  bool          // a write is under way
	lost  bool          // the last one failed
}

// beaten is what came of one write.
type beaten struct {
	beat *beat
	err  error
}

// declare makes the heartbeats those of the points. Ones that stay keep their rhythm.
func (b *beats) declare(now control.Instant, points []Point) {
	list := make(map[point.Path]*beat)
	b.order = nil
	for i := range points {
		p := &points[i]
		if p.Heartbeat <= 0 {
			continue
		}
		known := b.list[p.Point]
		if known == nil || known.every != p.Heartbeat || known.kind != p.Kind {
			known = &beat{path: p.Point, every: p.Heartbeat, kind: p.Kind, next: now.Steady, on: true}
		}
		list[p.Point] = known
		b.order = append(b.order, known)
	}
	b.list = list
}

// due returns how long no heartbeat is due.
func (b *beats) due(now control.Instant) time.Duration {
	wait := time.Minute
	for _, h := range b.order {
		wait = min(wait, h.next-now.Steady)
	}
	return wait
}

// beat writes the heartbeats that are due. One whose write is still under way leaves one out.
func (d *Dispatcher) beat(ctx context.Context, now control.Instant) {
	for _, h := range d.beats.order {
		if h.next > now.Steady {
			continue
		}
		h.next += h.every * (1 + (now.Steady-h.next)/h.every)
		if h.busy {
			continue
		}
		value := point.BoolOf(h.on)
		if h.kind != point.Bool {
			number, _ := value.Int()
			value = point.IntOf(number)
		}
		if h.kind == point.Float {
			number, _ := value.Number()
			value = point.FloatOf(number)
		}
		h.on, h.busy = !h.on, true
		d.inFlight++
		d.writes.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, waitWrite)
			defer cancel()
			outcome := d.cfg.Fleet.WriteMany(ctx, []device.Setting{{Point: h.path, Value: value}})
			d.beats.heard <- beaten{h, outcome[0].Err}
		})
	}
}

// beaten notes whether a device takes its heartbeat.
func (d *Dispatcher) beaten(t *turn, b beaten) {
	d.inFlight--
	h := b.beat
	lost := b.err != nil
	h.busy = false
	if lost == h.lost || !slices.Contains(d.beats.order, h) {
		return
	}
	h.lost = lost
	e := control.Event{Kind: HeartbeatBack, Holder: control.Holder{Requester: node, Path: h.path}}
	entry := audit.Entry{Actor: node, Action: "control." + string(HeartbeatBack), Subject: string(h.path), Outcome: "ok"}
	if lost {
		e.Kind, e.Fault, e.Text = HeartbeatLost, fault.KindOf(b.err), b.err.Error()
		entry.Action, entry.Outcome = "control."+string(HeartbeatLost), b.err.Error()
		d.cfg.Log.Warn("heartbeat is not taken", slog.String("point", string(h.path)), slog.Any("err", b.err))
	}
	t.events = append(t.events, e)
	t.entries = append(t.entries, entry)
}
