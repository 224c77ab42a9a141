package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/uplink/lineage"
)

// Timing of reports.
const (
	passEvery   = time.Second      // changes of descendants are passed on
	ledgerEvery = 30 * time.Second // the own ledger is checked
	saveEvery   = 30 * time.Second // changes are stored
	answerTime  = 10 * time.Second // limit for answers of the parent or children
	pauseTime   = time.Minute      // until a parent that does not understand reports is tried again
	maxRounds   = 10               // in which the parent requests what it has just been sent, until the next second
)

// AboveMethod is the method that a parent calls on its child, with a Reception, when the child's ancestors have changed.
const AboveMethod = "tree.above"

// Config is what a Reporter needs. All functions are required and must be safe for concurrent use.
type Config struct {
	Own     func(context.Context) Status                                  // this node's status; the reporter adds round-trip time and offset
	Origins func() []string                                               // of its blocks
	Ledger  func(ctx context.Context) (node answer.LedgerNode, err error) // of this node alone
	Parent  func() (lineage.Parent, bool)                                 // false: it has none
	// Up sends a request to the parent: fault.Unreachable, at once, without one.
	Up func(ctx context.Context, method string, body []byte) ([]byte, error)
	// Down sends a request to a child, and returns its answer: fault.Unreachable, at once, if it is not connected.
	Down func(ctx context.Context, child, method string, body []byte) ([]byte, error)
	// Kept is called with what the parent knows about the end of this node's audit log; may be nil.
	Kept func(ctx context.Context, audit string)
	File *File // where the table is stored; nil for nowhere
	Log  *slog.Logger
	Now  func() time.Time
}

// Reporter reports the documents of a table to the parent, and makes children report.
type Reporter struct {
	cfg     Config
	table   *Table
	lineage *lineage.Lineage

	session session
	former  *former // set if the parent is of the former version
	looked  time.Time
	counted time.Time // when the own ledger was last read
	met     time.Time // the connection at that time; zero for none
	since   time.Time // the connection on which the parent was reported to
	pause   time.Time // until then the parent is not contacted
	flushes chan chan struct{}
	turn    chan struct{} // holds one entry while children are asked
	asked   time.Time     // when they were last asked; owned by the holder of turn

	mu     sync.Mutex
	rtt    time.Duration
	offset time.Duration
}

// NewReporter returns the reporter of a table. It starts nothing.
func NewReporter(cfg Config, table *Table) *Reporter {
	return &Reporter{
		cfg: cfg, table: table, lineage: table.cfg.Lineage, session: session{table: table},
		flushes: make(chan chan struct{}), turn: make(chan struct{}, 1),
	}
}

// Link returns the round-trip time of the parent's last answer, and this node's clock minus the parent's at
// that time; zeros before the first.
func (r *Reporter) Link() (rtt, offset time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rtt, r.offset
}

func (r *Reporter) measured(rtt, offset time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rtt, r.offset = rtt, offset
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context) error {
	var children sync.WaitGroup
	children.Go(func() { r.runChildren(ctx) })
	defer children.Wait()
	tick := time.NewTicker(passEvery)
	defer tick.Stop()
	for {
		r.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case done := <-r.flushes:
			r.looked, r.counted = time.Time{}, time.Time{}
			r.step(ctx)
			close(done)
		}
	}
}

// step updates this node's status, if due, and reports what is new.
func (r *Reporter) step(ctx context.Context) {
	p, is := r.cfg.Parent()
	since := p.Since
	if !is || !p.Online {
		since = time.Time{}
	}
	if r.due(since) {
		r.look(ctx, is)
	}
	if !is {
		r.lineage.Received(nil, nil, r.lineage.News())
	}
	r.report(ctx, p, is && p.Online)
}

// due reports whether it is time to update the status: one from another connection, or without one, must not
// start a connection.
func (r *Reporter) due(since time.Time) bool {
	now := r.cfg.Now()
	if r.looked.IsZero() || now.Sub(r.looked) >= Every || !since.Equal(r.met) {
		r.looked, r.met = now, since
		return true
	}
	return false
}

// look records this node's status, and with a parent also its ledger.
func (r *Reporter) look(ctx context.Context, parent bool) {
	s := r.cfg.Own(ctx)
	if s.Link == "" {
		r.measured(0, 0)
	}
	rtt, offset := r.Link()
	s.RTT, s.Offset = Rounded(millis(rtt), 3), float64(offset.Milliseconds())
	r.table.Own(s, r.cfg.Origins())
	r.table.watch()
	if now := r.cfg.Now(); parent && (r.counted.IsZero() || now.Sub(r.counted) >= ledgerEvery) {
		if n, err := r.cfg.Ledger(ctx); err == nil { // the node itself reports when its log cannot be read
			r.counted = now
			r.table.OwnLedger(&n)
		}
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// report sends the parent what is new.
func (r *Reporter) report(ctx context.Context, p lineage.Parent, online bool) {
	if !online {
		r.session.reset()
		return
	}
	if !p.Since.Equal(r.since) {
		r.since, r.pause, r.former = p.Since, time.Time{}, nil
		r.session.reset()
	}
	if r.cfg.Now().Before(r.pause) {
		return
	}
	var err error
	if r.former == nil {
		if err = r.send(ctx); err != nil && isUnknown(err) {
			r.former = &former{session: session{table: r.table, heard: true}}
		}
	}
	if r.former != nil {
		if err = r.former.report(ctx, r, p.As); err != nil {
			r.former = nil
		}
	}
	r.failed(ctx, err)
}

// send sends reports until there is nothing new.
func (r *Reporter) send(ctx context.Context) error {
	for wants := 0; wants < maxRounds; {
		out, more := r.session.next()
		if out == nil {
			return nil
		}
		in, err := r.exchange(ctx, out)
		if err != nil {
			r.session.reset()
			return err
		}
		r.session.answered(in)
		if !more && len(in.Want) == 0 {
			return nil
		}
		if !more {
			wants++
		}
	}
	return nil
}

func (r *Reporter) exchange(ctx context.Context, out *Report) (*Reception, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	const op = "replica.Report"
	asked, heard := r.cfg.Now(), r.lineage.News()
	out.Time = asked
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.E(op, fault.Internal, "report", err)
	}
	answer, err := r.cfg.Up(ctx, ReportMethod, body)
	if err != nil {
		return nil, err
	}
	in, err := r.received(ctx, asked, answer)
	if err == nil {
		r.accepted(ctx, in, heard)
	}
	return in, err
}

// received decodes an answer, and measures the round trip.
func (r *Reporter) received(ctx context.Context, asked time.Time, answer []byte) (*Reception, error) {
	rtt := r.cfg.Now().Sub(asked)
	in := new(Reception)
	if err := json.Unmarshal(answer, in); err != nil {
		return nil, fault.E("replica.Report", fault.Corrupt, "answer", fmt.Errorf("the parent's answer cannot be read: %w", err))
	}
	r.measured(rtt, asked.Add(rtt/2).Sub(in.Time))
	if in.Audit != "" && r.cfg.Kept != nil {
		r.cfg.Kept(ctx, in.Audit)
	}
	return in, nil
}

// accepted records the ancestors, and the nodes that the parent does not admit.
func (r *Reporter) accepted(ctx context.Context, in *Reception, heard uint64) {
	_, before := r.lineage.Ancestors()
	known := map[lineage.Refused]bool{}
	for _, f := range before {
		known[f] = true
	}
	r.lineage.Received(in.Above, in.Refused, heard)
	for _, f := range in.Refused {
		if !known[f] {
			r.cfg.Log.WarnContext(ctx, "the parent does not let a node in", slog.String("node", clipText(f.Name)), slog.String("why", clipText(f.Why)))
		}
	}
}

// failed records that the parent did not accept a report.
func (r *Reporter) failed(ctx context.Context, err error) {
	if err == nil || fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Timeout) || ctx.Err() != nil {
		return // the uplink reports the missing connection
	}
	r.pause = r.cfg.Now().Add(pauseTime)
	r.cfg.Log.WarnContext(ctx, "the parent does not take reports; it is asked again in a minute", slog.Any("err", err))
}
