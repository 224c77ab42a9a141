package experiment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/lab/machine"
)

// Options are how an experiment is run.
type Options struct {
	Repeats   int               // how often each case is measured; 0 for the default
	Quick     bool              // few, small cases: to see that it works
	Seed      int64             // of everything random
	Set       map[string]string // settings that differ from their defaults
	WithPeers bool              // measure the peers that are here too
	Dir       string            // where trials keep their files; it is there and empty
	Program   []string          // how this program is started again for parts in processes of their own
	Command   []string          // the command line, for the report
	Version   string            // of this program
	Commit    string
	Progress  func(Progress) // called from one goroutine at a time; nil for nobody
	Log       *slog.Logger
}

// The repeats of a run that does not say.
const (
	defaultRepeats = 5
	quickRepeats   = 1
)

// Repeated returns how often each case is measured.
func (o *Options) Repeated() int {
	switch {
	case o.Repeats > 0:
		return o.Repeats
	case o.Quick:
		return quickRepeats
	}
	return defaultRepeats
}

// Bench is where an experiment measures. One goroutine uses it.
type Bench struct {
	opts     Options
	settings map[string]string
	subject  string
	result   *Result
	report   *reporter
}

// Quick says whether few and small cases are wanted.
func (b *Bench) Quick() bool { return b.opts.Quick }

// Seed is where everything random starts.
func (b *Bench) Seed() int64 { return b.opts.Seed }

// Program is how this program is started again, for parts in processes of their own.
func (b *Bench) Program() []string { return b.opts.Program }

// Log is for what a developer wants to know.
func (b *Bench) Log() *slog.Logger { return b.opts.Log }

// Text returns a setting. It panics if the experiment did not declare it.
func (b *Bench) Text(name string) string {
	v, ok := b.settings[name]
	if !ok {
		panic("experiment " + b.result.Experiment + " declares no setting " + name)
	}
	return v
}

// Int returns a setting that is a number. Checked before the run, it cannot fail.
func (b *Bench) Int(name string) int {
	n, _ := strconv.Atoi(b.Text(name))
	return n
}

// Duration returns a setting that is a duration.
func (b *Bench) Duration(name string) time.Duration {
	d, _ := time.ParseDuration(b.Text(name))
	return d
}

// Flag returns a setting that is true or false.
func (b *Bench) Flag(name string) bool { return b.Text(name) == "true" }

// Note adds a sentence to the report.
func (b *Bench) Note(format string, args ...any) {
	b.result.Notes = append(b.result.Notes, fmt.Sprintf(format, args...))
}

// Found adds a figure that the run found. One with the same key takes its place.
func (b *Bench) Found(f Finding) {
	i := slices.IndexFunc(b.result.Findings, func(o Finding) bool { return o.Key == f.Key })
	if i < 0 {
		b.result.Findings = append(b.result.Findings, f)
		return
	}
	b.result.Findings[i] = f
}

// Table adds a table of what follows from the cases.
func (b *Bench) Table(t Table) { b.result.Tables = append(b.result.Tables, t) }

// Plot adds a drawing of what follows from the cases, if there is a line in it.
func (b *Bench) Plot(p Plot) {
	if len(p.Lines) > 0 {
		b.result.Plots = append(b.result.Plots, p)
	}
}

// Measured returns the cases so far of what is measured now.
func (b *Bench) Measured() []Measured {
	var list []Measured
	for i := range b.result.Cases {
		if m := &b.result.Cases[i]; m.Subject == b.subject {
			m.summarise()
			list = append(list, *m)
		}
	}
	return list
}

// Median is that of the values of a case so far, on what is measured now; 0 if there are none.
func (b *Bench) Median(name string) float64 {
	for i := range b.result.Cases {
		if m := &b.result.Cases[i]; m.Case.Name == name && m.Subject == b.subject && len(m.Values) > 0 {
			m.summarise()
			return m.Median
		}
	}
	return 0
}

// MedianOf is that of a figure beside the metric of a case; 0 if there is none.
func (b *Bench) MedianOf(name, also string) float64 {
	for i := range b.result.Cases {
		m := &b.result.Cases[i]
		if m.Case.Name != name || m.Subject != b.subject {
			continue
		}
		for _, a := range m.Also {
			if a.Name == also && len(a.Values) > 0 {
				return slices.Sorted(slices.Values(a.Values))[len(a.Values)/2]
			}
		}
	}
	return 0
}

// errNoValue is a defect of an experiment.
var errNoValue = errors.New("the trial recorded no value")

// Measure runs a trial of the case as often as the run repeats, each in a directory of its own that
// is removed afterwards. It ends with the first error.
func (b *Bench) Measure(ctx context.Context, c Case, trial func(context.Context, *Trial) error) error {
	m := b.result.measured(c, b.subject)
	for i := range b.result.Repeats {
		if err := ctx.Err(); err != nil {
			return fault.E("experiment.Measure", fault.Canceled, c.Name, err)
		}
		if err := b.once(ctx, m, i, trial); err != nil {
			return fmt.Errorf("%s, repeat %d: %w", c.Name, i+1, err)
		}
	}
	return nil
}

func (b *Bench) once(ctx context.Context, m *Measured, i int, trial func(context.Context, *Trial) error) (err error) {
	dir, err := os.MkdirTemp(b.opts.Dir, "trial")
	if err != nil {
		return fmt.Errorf("make the trial's directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b.report.begin(b.subject, m.Case.Name, i, b.result.Repeats)
	t := &Trial{Dir: dir, Repeat: i, measured: m, report: b.report, meter: machine.NewMeter(os.Getpid())}
	before := collections()
	if err := trial(ctx, t); err != nil {
		return err
	}
	t.collected(collections().since(before))
	m.Course = b.report.moments()
	if len(m.Values) != i+1 {
		return fault.E("experiment.Measure", fault.Internal, m.Case.Name, errNoValue)
	}
	if u, err := t.meter.Usage(); err == nil {
		t.Usage("this process", u)
	}
	b.report.value(m.Values[i])
	return nil
}
