package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// answer is what came of a write.
type answer struct {
	point   point.Path
	outcome control.Outcome
}

var (
	errRelease = errors.New("its driver cannot give a point back to the device, so it keeps what was written; write a default in the configuration")
	errHeld    = errors.New("it was not sent, because what was decided cannot be kept on disk")
)

// send hands writes to the devices, those of a turn together. While nothing can be kept those of
// commands are held back; the model tries them again.
func (d *Dispatcher) send(ctx context.Context, t *turn, unkept error) {
	if len(t.writes) == 0 || t.last {
		return
	}
	writes, reads := make([]control.Write, 0, len(t.writes)), make(map[point.Path][]control.Write)
	d.inFlight += len(t.writes)
	for i := range t.writes {
		w := &t.writes[i]
		switch {
		case w.Read:
			device := d.points[w.Point].Device
			reads[device] = append(reads[device], *w)
		case w.Release:
			d.answers.put(refusal(w, fault.Refused, errRelease))
		case unkept != nil && w.Requester != "":
			d.answers.put(refusal(w, fault.Unavailable, errHeld))
		default:
			writes = append(writes, *w)
		}
	}
	if len(writes) > 0 {
		patience := d.patience(writes)
		d.writes.Go(func() { d.write(ctx, writes, patience) })
	}
	for _, list := range reads { // a device that does not answer keeps nobody else waiting
		d.writes.Go(func() { d.read(ctx, list) })
	}
}

func refusal(w *control.Write, kind fault.Kind, err error) answer {
	return answer{w.Point, control.Outcome{Write: w.ID, Err: fault.E("dispatch.write", kind, string(w.Point), err)}}
}

// patience is how long a call for many points may last, by the device that has the most of them.
func (d *Dispatcher) patience(writes []control.Write) time.Duration {
	most, of := 0, make(map[point.Path]int)
	for i := range writes {
		device := d.points[writes[i].Point].Device
		of[device]++
		most = max(most, of[device])
	}
	return waitWrite + time.Duration(most)*waitPoint
}

// write sets points of devices; each outcome is heard as soon as it is there.
func (d *Dispatcher) write(ctx context.Context, writes []control.Write, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	settings := make([]device.Setting, len(writes))
	for i := range writes {
		settings[i] = device.Setting{Point: writes[i].Point, Value: writes[i].Value}
	}
	d.cfg.Fleet.WriteEach(ctx, settings, func(i int, o device.Outcome) {
		d.answers.put(answer{writes[i].Point, control.Outcome{Write: writes[i].ID, Value: o.Value, Err: o.Err, Declined: device.Declined(o.Err), Partial: device.Partial(o.Err)}})
	})
}

// read reads points of one device.
func (d *Dispatcher) read(ctx context.Context, reads []control.Write) {
	ctx, cancel := context.WithTimeout(ctx, waitWrite+time.Duration(len(reads))*waitPoint)
	defer cancel()
	paths := make([]point.Path, len(reads))
	for i := range reads {
		paths[i] = reads[i].Point
	}
	for i, r := range d.cfg.Fleet.ReadMany(ctx, paths) {
		o := control.Outcome{Write: reads[i].ID, Value: r.Sample.Value, Err: r.Err, Declined: device.Declined(r.Err)}
		if q := r.Sample.Quality; o.Err == nil && q.IsBad() {
			o.Err = fault.E("dispatch.read", fault.Unavailable, string(paths[i]), errors.New("it cannot be read: "+q.String()))
		}
		d.answers.put(answer{paths[i], o})
	}
}

// answers gather what came of writes until the goroutine of Run takes it. There are never more than
// writes under way.
type answers struct {
	mu   sync.Mutex
	list []answer
	some chan struct{} // there are some
}

func newAnswers() answers { return answers{some: make(chan struct{}, 1)} }

func (a *answers) put(one answer) {
	a.mu.Lock()
	a.list = append(a.list, one)
	a.mu.Unlock()
	select {
	case a.some <- struct{}{}:
	default:
	}
}

func (a *answers) take() []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

// hear takes over the outcomes that are there.
func (d *Dispatcher) hear(t *turn) {
	d.enter(t)
	t.outcomes = true
	list := d.answers.take()
	d.inFlight -= len(list)
	t.expect(len(list))
	for i := range list {
		t.add(node, d.model.Answer(t.now, list[i].point, list[i].outcome), 0)
		t.fresh = append(t.fresh, list[i].point)
		if v, ok := d.lastValues.look(list[i].point); ok { // what was heard since is newer than the answer
			t.add(node, d.model.Observe(t.now, list[i].point, v), 0)
		}
	}
}
