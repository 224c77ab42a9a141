package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/device"
	"voltbus/device/trouble"
	"voltbus/fault"
	"voltbus/point"
)

// answer is the outcome of a write.
type answer struct {
	point   point.Path
	outcome control.Outcome
}

// outbox sends writes and reads to devices, and collects the outcomes. Only its answers are safe for concurrent use.
type outbox struct {
	devices  Devices
	points   *directory
	answers  answers
	inFlight int // writes and reads
	writes   sync.WaitGroup
}

func newOutbox(devices Devices, points *directory) outbox {
	return outbox{devices: devices, points: points, answers: newAnswers()}
}

var errHeld = errors.New("it was not sent, because what was decided cannot be kept on disk")

// send passes writes to the devices, those of a turn together. While nothing can be stored, writes of
// commands are held back; the model tries them again.
func (o *outbox) send(ctx context.Context, t *turn, unkept error) {
	if len(t.writes) == 0 || t.last {
		return
	}
	writes, reads := make([]control.Write, 0, len(t.writes)), make(map[point.Path][]control.Write)
	o.inFlight += len(t.writes)
	for i := range t.writes {
		w := &t.writes[i]
		switch {
		case w.Read:
			device := o.points.points[w.Point].Device
			reads[device] = append(reads[device], *w)
		case unkept != nil && w.Requester != "":
			o.answers.put(refusal(w, fault.Unavailable, errHeld))
		default:
			writes = append(writes, *w)
		}
	}
	if len(writes) > 0 {
		patience := o.patience(writes)
		o.writes.Go(func() { o.write(ctx, writes, patience) })
	}
	for _, list := range reads { // a device that does not answer delays no other
		o.writes.Go(func() { o.read(ctx, list) })
	}
}

func refusal(w *control.Write, kind fault.Kind, err error) answer {
	return answer{w.Point, control.Outcome{Write: w.ID, Err: fault.E("dispatch.write", kind, string(w.Point), err)}}
}

// patience is how long a call for many points may take, determined by the device with the most points.
func (o *outbox) patience(writes []control.Write) time.Duration {
	most, of := 0, make(map[point.Path]int)
	for i := range writes {
		device := o.points.points[writes[i].Point].Device
		of[device]++
		most = max(most, of[device])
	}
	return waitWrite + time.Duration(most)*waitPoint
}

// write sets points of devices; each outcome is reported as soon as it arrives.
func (o *outbox) write(ctx context.Context, writes []control.Write, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	settings := make([]device.Setting, len(writes))
	for i := range writes {
		settings[i] = device.Setting{Point: writes[i].Point, Value: writes[i].Value, Level: int(writes[i].Place), Back: device.Levels(writes[i].Back)}
	}
	o.devices.WriteEach(ctx, settings, func(i int, is device.Outcome) {
		o.answers.put(answer{writes[i].Point, control.Outcome{Write: writes[i].ID, Value: is.Value, Err: is.Err, Declined: trouble.Declined(is.Err), Partial: trouble.Partial(is.Err)}})
	})
}

// read reads points of one device.
func (o *outbox) read(ctx context.Context, reads []control.Write) {
	ctx, cancel := context.WithTimeout(ctx, waitWrite+time.Duration(len(reads))*waitPoint)
	defer cancel()
	paths := make([]point.Path, len(reads))
	for i := range reads {
		paths[i] = reads[i].Point
	}
	for i, r := range o.devices.ReadMany(ctx, paths) {
		is := control.Outcome{Write: reads[i].ID, Value: r.Sample.Value, Err: r.Err, Declined: trouble.Declined(r.Err)}
		if q := r.Sample.Quality; is.Err == nil && q.IsBad() {
			is.Err = fault.E("dispatch.read", fault.Unavailable, string(paths[i]), errors.New("it cannot be read: "+q.String()))
		}
		o.answers.put(answer{paths[i], is})
	}
}

// answers collects outcomes of writes until the goroutine of Run takes them. There are never more than writes
// in progress.
type answers struct {
	mu   sync.Mutex
	list []answer
	some chan struct{} // holds an element if there are some
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
