package desk

import (
	"context"
	"errors"
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

// send hands writes to the devices, one call for each of them. While nothing can be kept those of
// commands are held back; the model tries them again.
func (d *Desk) send(ctx context.Context, t *turn, unkept error) {
	if len(t.writes) == 0 || t.last {
		return
	}
	calls := make(map[point.Path][]control.Write, 1)
	var none []answer
	for i := range t.writes {
		w := &t.writes[i]
		switch {
		case w.Release && !w.Read:
			none = append(none, refusal(w, fault.Refused, errRelease))
		case unkept != nil && w.Requester != "" && !w.Read:
			none = append(none, refusal(w, fault.Unavailable, errHeld))
		default:
			device := d.points[w.Point].Device
			calls[device] = append(calls[device], *w)
		}
	}
	if len(none) > 0 {
		d.launch(func() []answer { return none })
	}
	for _, writes := range calls {
		d.launch(func() []answer { return d.carryOut(ctx, writes) })
	}
}

func refusal(w *control.Write, kind fault.Kind, err error) answer {
	return answer{w.Point, control.Outcome{Write: w.ID, Err: fault.E("desk.write", kind, string(w.Point), err)}}
}

// launch has a call done beside the goroutine of Run, which hears of its outcome.
func (d *Desk) launch(call func() []answer) {
	d.inFlight++
	d.writes.Go(func() { d.outcomes <- call() })
}

// carryOut writes and reads points of one device.
func (d *Desk) carryOut(ctx context.Context, writes []control.Write) []answer {
	ctx, cancel := context.WithTimeout(ctx, waitWrite+time.Duration(len(writes))*waitPoint)
	defer cancel()
	var settings []device.Setting
	var paths []point.Path
	answers := make([]answer, len(writes))
	for i := range writes {
		w := &writes[i]
		answers[i] = answer{w.Point, control.Outcome{Write: w.ID}}
		if w.Read {
			paths = append(paths, w.Point)
		} else {
			settings = append(settings, device.Setting{Point: w.Point, Value: w.Value})
		}
	}
	var written []device.Outcome
	var read []device.Reading
	if len(settings) > 0 {
		written = d.cfg.Fleet.WriteMany(ctx, settings)
	}
	if len(paths) > 0 {
		read = d.cfg.Fleet.ReadMany(ctx, paths)
	}
	for i := range writes {
		o := &answers[i].outcome
		if !writes[i].Read {
			o.Value, o.Err = written[0].Value, written[0].Err
			written = written[1:]
			continue
		}
		o.Value, o.Err = read[0].Sample.Value, read[0].Err
		if q := read[0].Sample.Quality; o.Err == nil && q.IsBad() {
			o.Err = fault.E("desk.read", fault.Unavailable, string(writes[i].Point), errors.New("it cannot be read: "+q.String()))
		}
		read = read[1:]
	}
	return answers
}

// hear takes outcomes over, and those that wait behind them.
func (d *Desk) hear(t *turn, first []answer) {
	d.enter(t)
	t.outcomes = true
	for list, size := first, 0; ; {
		d.inFlight--
		for i := range list {
			t.add(node, d.model.Answer(t.now, list[i].point, list[i].outcome), 0)
		}
		if size += len(list); size >= together {
			return
		}
		select {
		case list = <-d.outcomes:
		default:
			return
		}
	}
}
