package destination

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/judge"
	rules "voltbus/judge/setting"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/sink/setting"
)

// Config is what destinations need.
type Config struct {
	Sinks []setting.Sink
	Judge rules.Rules // of all destinations
	// Function makes the function of a rule for a destination; nil if no rule is a function.
	Function func(rule *rules.Rule, to string) judge.Function
	Kinds    map[string]Kind
	Dir      string // the data directory
	Node     string
	Blocks   sink.Log
	History  History
	Unit     func(point.Path) string // unit of a point
	// Recorded returns how many samples of each origin were acknowledged so far, so that the account of each destination can be
	// compared with what was recorded. Nil if that is not known.
	Recorded func() map[string]uint64
	Now      func() time.Time
	Log      *slog.Logger
}

// State is how a destination is.
type State struct {
	Name, Kind string
	Address    string // "" for a file
	Into       string // the index, table, topic or file
	Counts

	Waiting      uint64        // blocks of the log that are still to be sent
	Samples      uint64        // samples in them
	Acknowledged int64         // samples that were acknowledged since the destination was added: the sum of the counts and Samples
	Behind       time.Duration // age of Newest while something waits
	Newest       time.Time     // of the readings that were seen; zero for none
	Kept         int           // readings that were refused and are kept
	Held         int           // readings that were withheld and are kept
	Rules        []RuleState   // that hold for it, in the order of the configuration
	Err          error         // why nothing is sent at present; nil in normal operation
	Since        time.Time     // when that began
	// The part of the history that is being sent, and how far it was sent; zero for none.
	From, To, Next time.Time
}

// States returns how all destinations are, in the order of the configuration.
func (d *Destinations) States(ctx context.Context) []State {
	var list []State
	_, last, err := d.cfg.Blocks.Bounds(ctx)
	var recorded map[string]uint64
	if d.cfg.Recorded != nil {
		recorded = d.cfg.Recorded()
	}
	for _, one := range d.current() {
		s := one.state(recorded)
		if at := one.at(); err == nil && last > at {
			s.Waiting = last - at
		}
		if s.Waiting > 0 && !s.Newest.IsZero() {
			s.Behind = d.cfg.Now().Sub(s.Newest)
		}
		list = append(list, s)
	}
	return list
}

func (t *target) at() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.p.Sequence
}

// state returns how the destination is, when so many samples of each origin were acknowledged.
func (t *target) state(recorded map[string]uint64) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := State{Name: t.entry.Name, Kind: t.entry.Kind, Address: t.entry.URL, Into: t.entry.Into, Counts: t.p.Counts, Err: t.err, Since: t.since}
	if t.broken != nil {
		s.Err = t.broken
	}
	if h := t.p.History; h != nil {
		s.From, s.To, s.Next = h.From, h.To, h.Next
	}
	if t.p.Newest != 0 {
		s.Newest = time.UnixMicro(t.p.Newest).UTC()
	}
	for origin, n := range recorded {
		if end := t.p.Ends[origin]; n > end {
			s.Samples += n - end
		}
	}
	if t.p.Begun != nil {
		s.Acknowledged = t.p.ended() - *t.p.Begun + int64(s.Samples)
	}
	s.Kept = t.refused.Len()
	s.Held, s.Rules = t.bench.state(&t.p)
	return s
}

// Balanced reports whether it is known of each sample that was acknowledged what became of it.
func (s *State) Balanced() bool { return s.Acknowledged == int64(s.accounted()+s.Samples) }

// Problem describes in a sentence what is wrong with a destination; "" if nothing is.
func (s *State) Problem() string {
	switch {
	case s.Err != nil:
		since := ""
		if !s.Since.IsZero() {
			since = " since " + s.Since.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("Nothing is sent to the destination %q%s: %v. %s %s.", s.Name, since, s.Err, plural.Of(s.Waiting, "block"), plural.Word(s.Waiting, "waits", "wait"))
	case s.Kept > 0:
		return fmt.Sprintf("The destination %q refused %s, which are kept: voltbus sinks refused shows them.", s.Name, plural.Of(s.Kept, "reading"))
	case s.failing() != "":
		return s.failing()
	case s.Behind > slow:
		return fmt.Sprintf("The destination %q takes less than is recorded: it is %s and %s behind.", s.Name, plural.Of(s.Samples, "sample"), s.Behind.Round(time.Second))
	case s.Held > 0:
		return fmt.Sprintf("%s for the destination %q %s withheld by a rule, and wait for a person: voltbus judge withheld shows them.", plural.Of(s.Held, "reading"), s.Name, plural.Word(s.Held, "was", "were"))
	}
	return ""
}

// failing describes the rule that cannot judge; "" if all can.
func (s *State) failing() string {
	for i := range s.Rules {
		if r := &s.Rules[i]; r.Err != "" {
			return fmt.Sprintf("The rule %q cannot judge readings for the destination %q since %s, and %s: %s.",
				r.Name, s.Name, r.Since.UTC().Format(time.RFC3339), map[bool]string{true: "withholds them", false: "marks them"}[r.Failure == rules.Withhold], r.Err)
		}
	}
	return ""
}

// slow is how far a destination may be behind, while it takes readings, without being told of.
const slow = 5 * time.Minute

// Problems describes what is wrong with destinations.
func (d *Destinations) Problems(ctx context.Context) (list []string) {
	for _, s := range d.States(ctx) {
		if text := s.Problem(); text != "" {
			list = append(list, text)
		}
	}
	return list
}

func (d *Destinations) find(op, name string) (*target, error) {
	for _, one := range d.current() {
		if one.entry.Name == name {
			return one.target, nil
		}
	}
	return nil, fault.E(op, fault.NotFound, name, errors.New("there is no such destination; voltbus sinks list names them"))
}

// Refused returns readings that a destination refused and that are kept, oldest first, after skipping some.
func (d *Destinations) Refused(name string, skip, limit int) ([]Refused, error) {
	t, err := d.find("sinks.refused", name)
	if err != nil {
		return nil, err
	}
	return t.refused.List(skip, limit)
}

// Discard forgets the readings that a destination refused, and returns how many.
func (d *Destinations) Discard(name string) (n int, err error) {
	t, err := d.find("sinks.discard", name)
	if err != nil {
		return 0, err
	}
	t.work.Lock()
	defer t.work.Unlock()
	if _, _, err := t.Cursor(context.Background()); err != nil {
		return 0, err
	}
	n = t.refused.Len()
	if err := t.refused.Replace(nil); err != nil {
		return 0, err
	}
	return n, t.count(func(c *Counts) { c.Discarded += uint64(n) })
}

// Resend sends the readings again that a destination refused, and returns how many it accepted.
func (d *Destinations) Resend(ctx context.Context, name string) (accepted int, err error) {
	t, err := d.find("sinks.resend", name)
	if err != nil {
		return 0, err
	}
	return t.resend(ctx, t.refused, "", func(c *Counts, n uint64) { c.Accepted += n })
}

// Backfill has a destination get the part of the history with from ≤ time < to.
func (d *Destinations) Backfill(ctx context.Context, name string, from, to time.Time) error {
	t, err := d.find("sinks.backfill", name)
	if err != nil {
		return err
	}
	return t.backfill(ctx, from, to)
}
