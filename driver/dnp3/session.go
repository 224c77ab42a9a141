package dnp3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
)

// retryAbsent is the interval after which a point that the device does not have is requested again.
const retryAbsent = 10 * time.Minute

// session is one device of the configuration.
type session struct {
	line     *line
	station  *remote
	values   *collector
	items    []pointlist.Item
	byName   map[string]int
	wanted   map[point.Path]bool // points to report
	absent   []time.Time         // by item: until when it is not requested
	scan     string
	patience time.Duration // limit for one request
	subject  string
	while    func() // called while waiting for an answer, when there is something to take; may be nil
	closed   bool

	diagnosis error // of the last read, for Diagnose
}

func newSession(l *line, s *remote, c *Config, values *collector) *session {
	n := &session{
		line: l, station: s, values: values, items: c.items, byName: make(map[string]int, len(c.items)),
		absent: make([]time.Time, len(c.items)), scan: c.Scan, patience: time.Duration(4*(1+c.Retries)) * c.Timeout, subject: c.subject(),
	}
	if c.readOnly {
		n.patience += master.HoldBack
	}
	for i := range c.items {
		n.byName[c.items[i].Name] = i
	}
	return n
}

// Close implements driver.Session. The line stays open.
func (n *session) Close() error {
	if !n.closed {
		n.closed = true
		n.values.search.close()
		n.line.leave(n.station) // first: events pending for a station's last session must not be confirmed unseen
		n.station.leave(n.values)
	}
	return nil
}

// Read implements driver.Session.
func (n *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	const op = "dnp3.Read"
	if err := n.ready(ctx); err != nil {
		return nil, n.fail(op, err)
	}
	pass := n.values.newPass()
	if err := n.ask(ctx); err != nil {
		return nil, n.fail(op, err)
	}
	if n.scan == scanEvents {
		pass = 0 // any known value suffices
	}
	if err := n.fetch(ctx, n.missing(names, pass)); err != nil {
		return nil, n.fail(op, err)
	}
	samples := n.answer(names, pass)
	n.diagnosis = diagnose(n, names, samples)
	return samples, nil
}

// ask makes the configured scan.
func (n *session) ask(ctx context.Context) error {
	classes := map[string]app.Classes{scanIntegrity: app.Integrity, scanClass0: app.Class0, scanEvents: app.EventClasses}[n.scan]
	if classes == 0 {
		return nil
	}
	_, err := n.do(ctx, master.ReadClasses(classes))
	return err
}

// answer returns the samples of a read.
func (n *session) answer(names []string, pass uint64) []point.Sample {
	samples := make([]point.Sample, len(names))
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i, name := range names {
		samples[i] = point.Sample{Point: point.Path(name), Time: now, Quality: point.BadConfig}
		if at, known := n.byName[name]; known {
			if s, fresh := n.values.value(at, pass, now.Before(n.absent[at])); fresh {
				samples[i] = s
			}
		}
	}
	return samples
}

// missing returns the items that did not come in a pass and may be requested.
func (n *session) missing(names []string, pass uint64) []int {
	var missing []int
	now := time.Now()
	for _, name := range names {
		at, known := n.byName[name]
		if !known || now.Before(n.absent[at]) {
			continue
		}
		if !n.values.came(at, pass) {
			missing = append(missing, at)
		}
	}
	return missing
}

// fetch reads the items that did not come otherwise. Those still missing are not requested again for a while.
func (n *session) fetch(ctx context.Context, wanted []int) error {
	queue := pointlist.Plan(n.items, wanted)
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		pass := n.values.newPass()
		_, err := n.do(ctx, r.Request(n.items))
		if err != nil && !errors.Is(err, master.ErrRefused) {
			return err
		}
		left := r.Without(func(i int) bool { return n.values.came(i, pass) })
		switch {
		case len(left.Members) == 0:
		case err != nil && len(left.Members) > 1:
			queue = append(left.Halves(n.items), queue...)
		default:
			for _, i := range left.Members {
				n.absent[i] = time.Now().Add(retryAbsent)
			}
		}
	}
	return nil
}

// do makes a request, bounded by the time that the answer and the requests ahead of it may take.
func (n *session) do(ctx context.Context, r *master.Request) (master.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, n.patience)
	defer cancel()
	if n.while == nil {
		return n.station.Do(ctx, r)
	}
	return n.station.DoWhile(ctx, r, n.line.nudged, n.while)
}

var errAway = errors.New("the device has not dialled in; check that it dials this address, and its link address")

// ready returns why no request can be made now.
func (n *session) ready(ctx context.Context) error {
	if err := n.dead(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return n.line.away(n.station)
}

// dead returns why nothing will ever be received again.
func (n *session) dead() error {
	if err := n.line.lost(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	if n.closed {
		return driver.ErrNotConnected
	}
	return nil
}

// fail converts an error to the contract's.
func (n *session) fail(op string, err error) error {
	if errors.Is(err, master.ErrClosed) {
		if n.line.only == nil {
			err = errGone
		} else {
			err = n.whyLost(err)
		}
	}
	switch {
	case errors.Is(err, driver.ErrNotConnected):
		return fault.E(op, fault.Unreachable, n.line.name, err)
	case errors.Is(err, errAway), errors.Is(err, errGone):
		return fault.E(op, fault.Unreachable, n.subject, err)
	case errors.Is(err, master.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.Timeout, n.subject, fmt.Errorf("%w; check the link addresses and that the device is on", err))
	case errors.Is(err, context.Canceled):
		return fault.E(op, fault.Canceled, n.subject, err)
	case errors.Is(err, master.ErrMalformed):
		return fault.E(op, fault.Corrupt, n.subject, err)
	case errors.Is(err, master.ErrFull):
		return fault.E(op, fault.Unavailable, n.subject, err)
	}
	return fault.E(op, fault.Rejected, n.subject, err)
}

// whyLost waits for the reason why the line closed during a request.
func (n *session) whyLost(err error) error {
	n.line.only.Close()
	<-n.line.only.Done()
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, errors.Join(whyEnded(n.line.only.Err()), err))
}

// Subscribe implements driver.Subscriber: it reports events, and present values that differ from the last
// report. Data received since Open is kept, so there may be news at once.
func (n *session) Subscribe(_ context.Context, names []string, news func()) error {
	const op = "dnp3.Subscribe"
	if err := n.dead(); err != nil {
		return n.fail(op, err)
	}
	n.wanted = make(map[point.Path]bool, len(names))
	for _, name := range names {
		n.wanted[point.Path(name)] = true
	}
	n.values.listen(func() {
		news()
		n.line.nudge()
	})
	if n.line.lost() != nil { // meanwhile, so it was not notified
		news()
	}
	return nil
}

// Forgetful implements driver.Forgetful: an outstation forgets confirmed events.
func (n *session) Forgetful() {}

// Lost implements driver.Lossy.
func (n *session) Lost() uint64 { return n.values.losses() }

// Misdated implements driver.Dated.
func (n *session) Misdated() uint64 { return n.values.misdated() }

// Take implements driver.Subscriber.
func (n *session) Take(_ context.Context, emit func(point.Sample)) error {
	const op = "dnp3.Take"
	reports, trouble := n.values.reports(n.wanted)
	for i := range reports {
		emit(reports[i])
	}
	if err := n.dead(); err != nil {
		return n.fail(op, err)
	}
	if trouble != nil {
		return fault.E(op, fault.KindOf(trouble), n.subject, trouble)
	}
	return nil
}
