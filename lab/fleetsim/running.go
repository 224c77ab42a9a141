package fleetsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig"
)

// Kind is the kind of the processes of a fleet.
const Kind = "mqtt-fleet"

// Serves reports whether a kind of process is one of this package.
func Serves(kind string) bool { return kind == Kind }

// order is what a fleet's process is told.
type order struct {
	Do      string        `json:"do"`
	Devices int           `json:"devices,omitempty"`
	Rate    float64       `json:"rate,omitempty"`
	Within  time.Duration `json:"within,omitempty"`
}

const (
	doConnect = "connect"
	doPrime   = "prime"
	doBegin   = "begin"
	doStorm   = "storm"
	doChurn   = "churn"
	doLook    = "look"
	doHush    = "hush"
)

// answer is what a fleet's process says to an order.
type answer struct {
	Error string  `json:"error,omitempty"`
	Took  float64 `json:"took"` // seconds
	Look  *Look   `json:"look,omitempty"`
}

// Running is a fleet in processes of its own. One goroutine uses it. Stop it.
type Running struct {
	parts   []*rig.Child
	each    int // devices that one process holds at most
	devices int
}

// spare is how many files a process needs beside its connections.
const spare = 500

// mostFiles is how many files a process may open.
func mostFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(min(l.Max, 1<<20)) //nolint:gosec // bounded
}

// Open starts the processes of a fleet of at most so many devices; none connects before Connect. There are as many
// processes as the limit of open files asks for.
func Open(program []string, f Fleet, most int) (*Running, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	r := &Running{each: mostFiles() - spare}
	posters := f.Posters
	for n := 0; n < max(most, 1); n += r.each {
		part := f
		part.First, part.Posters = f.First+n, posters
		posters = 0 // they are in the first one
		c, err := rig.Start(program, Kind, part)
		if err != nil {
			return nil, errors.Join(err, r.Stop())
		}
		r.parts = append(r.parts, c)
	}
	return r, nil
}

// Processes are the numbers of its processes.
func (r *Running) Processes() (list []int) {
	for _, c := range r.parts {
		list = append(list, c.Process())
	}
	return list
}

// tell gives all processes an order and returns what all of them answer. share says what the part with the devices from
// first on is told; nil for the same.
func (r *Running) tell(ctx context.Context, o order, share func(first int) order) (sum answer, err error) {
	defer context.AfterFunc(ctx, func() {
		for _, c := range r.parts {
			_ = c.In.Close() // with which the process ends
		}
	})()
	for i, c := range r.parts {
		if share != nil {
			o = share(i * r.each)
		}
		line, err := json.Marshal(o)
		if err != nil {
			return sum, err
		}
		if _, err := c.In.Write(append(line, '\n')); err != nil {
			return sum, errors.Join(ctx.Err(), fault.E("fleetsim", fault.Unavailable, o.Do, err))
		}
	}
	sum.Look = &Look{}
	for _, c := range r.parts {
		var a answer
		if err := c.NextWithin(o.longest(), &a); err != nil {
			return sum, errors.Join(ctx.Err(), err)
		}
		if a.Error != "" {
			err = errors.Join(err, fault.E("fleetsim", fault.Unavailable, o.Do, errors.New(a.Error)))
		}
		if a.Look != nil {
			sum.Look.add(a.Look)
		}
		sum.Took = max(sum.Took, a.Took)
	}
	return sum, err
}

// spareTime is what a process may need beside what it was told to wait for.
const spareTime = time.Minute

// longest is how long a process may take to answer.
func (o *order) longest() time.Duration {
	d := o.Within + spareTime
	if o.Rate > 0 {
		d += time.Duration(float64(o.Devices) / o.Rate * float64(time.Second))
	}
	return d
}

// Connect has devices connect until there are so many, at a rate a second, 0 for all at once, and waits for them. It
// returns how long that took, and fails if they are not connected within a time.
func (r *Running) Connect(ctx context.Context, devices int, rate float64, within time.Duration) (time.Duration, error) {
	a, err := r.tell(ctx, order{}, func(first int) order {
		mine := min(max(devices-first, 0), r.each)
		return order{Do: doConnect, Devices: mine, Rate: rate / float64(len(r.parts)), Within: within}
	})
	r.devices = devices
	return time.Duration(a.Took * float64(time.Second)), err
}

// Devices is how many are, or were, told to connect.
func (r *Running) Devices() int { return r.devices }

// Prime has each device publish once to each of its topics, and waits for the answers.
func (r *Running) Prime(ctx context.Context, within time.Duration) error {
	_, err := r.tell(ctx, order{Do: doPrime, Within: within}, nil)
	return err
}

// Begin has devices publish as their profiles say, until Hush.
func (r *Running) Begin(ctx context.Context) error {
	_, err := r.tell(ctx, order{Do: doBegin}, nil)
	return err
}

// Storm cuts all connections at once, has all devices connect again at once, and returns how long that took.
func (r *Running) Storm(ctx context.Context, within time.Duration) (time.Duration, error) {
	a, err := r.tell(ctx, order{Do: doStorm, Within: within}, nil)
	return time.Duration(a.Took * float64(time.Second)), err
}

// Churn cuts so many connections a second from now on, whose devices connect again; 0 ends it.
func (r *Running) Churn(ctx context.Context, rate float64) error {
	_, err := r.tell(ctx, order{Do: doChurn, Rate: rate / float64(len(r.parts))}, nil)
	return err
}

// Look returns what happened since the look before.
func (r *Running) Look(ctx context.Context) (*Look, error) {
	a, err := r.tell(ctx, order{Do: doLook}, nil)
	return a.Look, err
}

// Hush has devices publish no more, and waits until all that they sent is answered, at most within a time.
func (r *Running) Hush(ctx context.Context, within time.Duration) error {
	_, err := r.tell(ctx, order{Do: doHush, Within: within}, nil)
	return err
}

// Stop ends the processes.
func (r *Running) Stop() error {
	var errs []error
	for _, c := range r.parts {
		errs = append(errs, c.Stop())
	}
	return errors.Join(errs...)
}

// Limit says whether the simulator was the limit of what a look shows, in a sentence.
func (l *Look) Limit(processes int) string {
	if l.HeadRoom.Kept() && l.Cores() < busy*float64(processes) {
		return ""
	}
	return fmt.Sprintf("the simulator was at its limit: it used %.2f cores in %d processes, and sent %d of %d messages late by its own fault, by %.0f ms at most",
		l.Cores(), processes, l.HeadRoom.Late, l.HeadRoom.Sent, l.HeadRoom.MostLag*1e3)
}

// busy is from how many cores a process on a simulator's process counts as busy.
const busy = 0.95
