package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"voltbus/fault"
)

// The rhythm of reports.
const (
	Every     = 10 * time.Second // how a node is
	passEvery = time.Second      // what those below told is passed on
	tellTime  = 10 * time.Second // that the parent may take to answer
	sulk      = time.Minute      // until a parent that does not understand reports is asked again
)

// Config is what a Reporter needs. All functions must be there; they are safe for concurrent use.
type Config struct {
	Own func(context.Context) Status // how this node is; the reporter adds round-trip time and offset
	// Parent returns since when this node is connected to its parent; false if it is not.
	Parent func() (since time.Time, online bool)
	// Up asks the parent: fault.Unreachable, at once, without one.
	Up func(ctx context.Context, method string, body []byte) ([]byte, error)
	// Known returns how to tell whether a node stands below a child, for forgetting those that do not.
	// Names are in lower case.
	Known func() func(child, node string) bool
	// Outages returns when a child was not connected, the newest first; nil tells nobody of them.
	Outages func(child string) []Outage
	// Kept is told what the parent knows of where this node's audit log ended; nil takes nothing.
	Kept func(ctx context.Context, audit string)
	Log  *slog.Logger
	Now  func() time.Time
}

// Reporter tells the parent how this node is and those below it.
type Reporter struct {
	cfg  Config
	book *Book

	looked time.Time // when was looked last how this node is
	met    time.Time // the connection that it had then; zero for none

	since time.Time // the connection on which the parent was told
	told  bool
	pause time.Time // until then the parent is not asked

	mu     sync.Mutex
	rtt    time.Duration
	offset time.Duration
}

// NewReporter returns the reporter of a book. It starts nothing.
func NewReporter(cfg Config, book *Book) *Reporter { return &Reporter{cfg: cfg, book: book} }

// Link returns how long the parent took for its last answer, and this node's clock less the parent's
// then; zeros before the first.
func (r *Reporter) Link() (rtt, offset time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rtt, r.offset
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context) error {
	tick := time.NewTicker(passEvery)
	defer tick.Stop()
	for {
		since, online := r.cfg.Parent()
		if !online {
			since = time.Time{}
		}
		if r.due(since) {
			r.look(ctx)
		}
		r.tell(ctx, since, online)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// due reports whether it is time to look again: what was seen on another connection, or without one, is
// nothing to begin a connection with.
func (r *Reporter) due(since time.Time) bool {
	now := r.cfg.Now()
	if r.looked.IsZero() || now.Sub(r.looked) >= Every || !since.Equal(r.met) {
		r.looked, r.met = now, since
		return true
	}
	return false
}

// look notes how this node is, and forgets nodes that are gone.
func (r *Reporter) look(ctx context.Context) {
	s := r.cfg.Own(ctx)
	if s.Link == "" {
		r.measured(0, 0)
	}
	rtt, offset := r.Link()
	s.RTT, s.Offset = Rounded(millis(rtt), 3), float64(offset.Milliseconds())
	r.book.Own(s)
	r.book.Keep(r.cfg.Known())
	if r.cfg.Outages != nil {
		r.book.witness(r.cfg.Outages)
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *Reporter) measured(rtt, offset time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rtt, r.offset = rtt, offset
}

// tell tells the parent what is new, on the connection since then.
func (r *Reporter) tell(ctx context.Context, since time.Time, online bool) {
	if !online {
		r.told = false
		return
	}
	if !r.told || !since.Equal(r.since) {
		r.book.anew()
		r.since, r.told, r.pause = since, true, time.Time{}
	}
	if r.cfg.Now().Before(r.pause) {
		return
	}
	for more := true; more && ctx.Err() == nil; {
		var list []Entry
		if list, more = r.book.draft(); len(list) == 0 {
			return
		}
		again, err := r.send(ctx, list)
		if err != nil || again {
			r.told = false // everything, with the next tick
		}
		if err != nil {
			r.failed(ctx, err)
			return
		}
	}
}

// failed notes that the parent did not take a report.
func (r *Reporter) failed(ctx context.Context, err error) {
	if fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Timeout) || ctx.Err() != nil {
		return // the uplink says that there is no connection
	}
	r.told, r.pause = true, r.cfg.Now().Add(sulk)
	r.book.anew()
	r.cfg.Log.WarnContext(ctx, "the parent does not take reports of how this node is; it is asked again in a minute", slog.Any("err", err))
}

func (r *Reporter) send(ctx context.Context, list []Entry) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	asked := r.cfg.Now()
	body, err := json.Marshal(Report{Time: asked, Nodes: list})
	if err != nil {
		return false, fault.E("fleet.Report", fault.Internal, "report", err)
	}
	answer, err := r.cfg.Up(ctx, ReportMethod, body)
	if err != nil {
		return false, err
	}
	rtt := r.cfg.Now().Sub(asked)
	var in Reception
	if err := json.Unmarshal(answer, &in); err != nil {
		return false, fault.E("fleet.Report", fault.Corrupt, "answer", fmt.Errorf("the parent's answer cannot be read: %w", err))
	}
	r.measured(rtt, asked.Add(rtt/2).Sub(in.Time))
	if in.Audit != "" && r.cfg.Kept != nil {
		r.cfg.Kept(ctx, in.Audit)
	}
	return in.Again, nil
}
