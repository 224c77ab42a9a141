package metersim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/lab/load"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// Fleet is simulated meters or concentrators in a process of its own. A member sends one request after another; members
// begin a period, divided by their number, after one another.
type Fleet struct {
	URL string `json:"url"` // of the node
	// Tokens record; members have them in turn, as a node bounds the requests of each.
	Tokens []string `json:"tokens"`
	CA     string   `json:"ca"` // file with what signed the node's certificate; "" without TLS
	Form   string   `json:"form"`
	Gzip   bool     `json:"gzip"`
	Kept   bool     `json:"kept"` // connections stay open; else each request has a new one

	Members int       `json:"members"`
	Batch   int       `json:"batch"`  // readings of a request
	Meters  int       `json:"meters"` // behind each member
	First   int       `json:"first"`  // number of the first meter
	Skip    int64     `json:"skip"`   // readings of each member that were sent before
	From    time.Time `json:"from"`   // beginning of the first interval
	Slots   int       `json:"slots"`  // intervals that a meter may have readings of

	Interval time.Duration `json:"interval"` // of the readings: Minute or Quarter

	Rhythm   Rhythm        `json:"rhythm"`
	Period   time.Duration `json:"period"`   // 0 without a pause
	Requests int           `json:"requests"` // of each member; 0 for as many as the time allows
	For      time.Duration `json:"for"`      // the longest time; required
	WarmUp   time.Duration `json:"warm_up"`  // at the beginning of For, not measured
}

// Rhythm is when a member sends its next request.
type Rhythm string

// The rhythms.
const (
	// Closed: the member waits for the answer, sleeps a period, and sends the next. An overloaded node so stretches the
	// cycle of its members, and is offered less.
	Closed Rhythm = "closed"
	// Serial: a request is due each period, and sent when the one before has been answered.
	Serial Rhythm = "serial"
	// Open: a request is due each period, and sent whatever became of those before, as far as most in flight allow.
	Open Rhythm = "open"
)

// mostInFlight is how many requests of all members may be under way in an open rhythm.
const mostInFlight = 256

// Outcome is what a fleet found. Counts are of all that was sent, rates of what was answered after the warm-up.
type Outcome struct {
	Requests uint64 `json:"requests"`
	Sent     uint64 `json:"sent"`     // readings
	Accepted uint64 `json:"accepted"` // readings
	Refused  uint64 `json:"refused"`  // readings
	Failed   uint64 `json:"failed"`   // requests without a proper answer
	First    string `json:"first"`    // why the first of them failed, or was refused

	Reached int64 `json:"reached"` // reading with which a member would go on, at most

	Rate     float64 `json:"rate"`     // readings accepted a second
	Asked    float64 `json:"asked"`    // requests answered a second
	Took     float64 `json:"took"`     // seconds from the first request to the last answer, or to the end of the last cycle
	Stretch  float64 `json:"stretch"`  // mean cycle of a member divided by the period; 0 without one
	Bytes    uint64  `json:"bytes"`    // of all requests, head and body, as sent
	Plain    uint64  `json:"plain"`    // of all requests, before compression
	Payload  uint64  `json:"payload"`  // of these, bytes that say which meter, channel, time and value
	Building float64 `json:"building"` // seconds in which messages were built
	// Processor is what the process used, in seconds of a core.
	Processor float64 `json:"processor"`

	Latency  []load.Bar    `json:"latency"`
	HeadRoom load.HeadRoom `json:"head_room"`
	Error    string        `json:"error"` // why the fleet could not run
}

// FleetKind is the kind of the process of a fleet.
const FleetKind = "meter-fleet"

// Run starts the process and returns what it found. watch is called with the readings a second, about each second; nil
// for nobody. started gets the number of the process; nil for nobody.
func (f Fleet) Run(ctx context.Context, program []string, started func(process int), watch func(load.Moment)) (*Outcome, error) {
	c, err := rig.Start(program, FleetKind, f)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.In.Close() })() // with which the process ends
	if started != nil {
		started(c.Process())
	}
	for {
		var s said
		if err := c.Next(&s); err != nil {
			return nil, errors.Join(ctx.Err(), err, c.Kill())
		}
		if s.Outcome == nil {
			if watch != nil {
				watch(load.Moment{Rate: s.Rate, P50: s.P50, P99: s.P99})
			}
			continue
		}
		if s.Outcome.Error != "" {
			return nil, errors.Join(fault.E("metersim.Run", fault.Unavailable, f.URL, errors.New(s.Outcome.Error)), c.Stop())
		}
		return s.Outcome, c.Stop()
	}
}

// said is a line of a fleet's process.
type said struct {
	Rate    float64       `json:"rate,omitempty"`
	P50     time.Duration `json:"p50,omitempty"`
	P99     time.Duration `json:"p99,omitempty"`
	Outcome *Outcome      `json:"outcome,omitempty"`
}

func serveFleet(ctx context.Context, raw []byte, out io.Writer) error {
	memory.Tune()
	var f Fleet
	if err := json.Unmarshal(raw, &f); err != nil {
		return fault.E("metersim.Serve", fault.Invalid, FleetKind, err)
	}
	o, err := f.play(ctx, func(s said) { _ = say(out, s) }) // who listens has gone: so does this process
	if err != nil {
		o = &Outcome{Error: err.Error()}
	}
	return say(out, said{Outcome: o})
}

func (f *Fleet) check() error {
	problem := ""
	switch {
	case f.Members < 1 || f.Batch < 1 || f.Meters < 1 || f.Slots < 1:
		problem = "members, batch, meters and slots must be 1 or more"
	case len(f.Tokens) == 0:
		problem = "it needs a token"
	case f.Interval != Minute && f.Interval != Quarter:
		problem = "intervals must be a minute or a quarter of an hour long"
	case f.For <= 0 || f.WarmUp < 0 || f.WarmUp >= f.For:
		problem = "it needs a time that is longer than its warm-up"
	case f.Rhythm != Closed && f.Rhythm != Serial && f.Rhythm != Open:
		problem = fmt.Sprintf("%q is no rhythm", f.Rhythm)
	case f.Gzip && f.Form == JSON:
		problem = "a node takes JSON only uncompressed; choose another form, or no gzip"
	case f.Rhythm == Open && f.Period <= 0:
		problem = "an open rhythm needs a period"
	}
	if problem == "" {
		return nil
	}
	return fault.E("metersim", fault.Invalid, "fleet", errors.New(problem))
}

// play sends until all is sent or the time is over.
func (f *Fleet) play(ctx context.Context, tell func(said)) (*Outcome, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	form, err := formOf(f.Form, ReadingType(f.Interval))
	if err != nil {
		return nil, err
	}
	targets, err := newTargets(f, form)
	if err != nil {
		return nil, err
	}
	used := machine.NewMeter(os.Getpid())
	s := &sender{fleet: f, form: form, targets: targets, start: time.Now()}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(stop, tell) })
	if f.Rhythm == Open {
		err = s.open(ctx)
	} else {
		s.members(ctx)
	}
	close(stop)
	watching.Wait()
	if err != nil {
		return nil, err
	}
	o := s.outcome()
	if u, err := used.Usage(); err == nil {
		o.Processor = u.CPU
	}
	return o, nil
}

// Serves reports whether a kind of process is one of this package.
func Serves(kind string) bool { return kind == FleetKind || kind == systemKind }

// Serve plays the part of a child process, as rig.Serve does.
func Serve(ctx context.Context, kind string, in io.Reader, out io.Writer) error {
	if kind == systemKind {
		return serveSystem(ctx, in, out)
	}
	return rig.ServePart(ctx, kind, serveFleet, in, out)
}

// say writes one line for Child.Next.
func say(out io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}
