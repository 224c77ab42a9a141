package experiment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/machine"
)

// Execute runs the experiment and checks what it found. It fails with fault.Invalid for settings
// that the experiment does not have, and with fault.Canceled when ctx ends first; then there is no
// result.
func Execute(ctx context.Context, e Experiment, o Options) (*Result, error) {
	settings, err := e.settings(o.Set, o.Quick)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := e.result(&o, settings)
	b := &Bench{opts: o, settings: settings, subject: Own, result: r, report: newReporter(o.Progress, len(e.Published)*r.Repeats)}
	b.report.phase("preparing")
	if err := e.Run(ctx, b); err != nil {
		return nil, ended(ctx, e.Name, err)
	}
	if o.WithPeers {
		if err := e.runPeers(ctx, b); err != nil {
			return nil, ended(ctx, e.Name, err)
		}
	}
	r.Finished = time.Now().UTC()
	r.judge(e.Published)
	return r, nil
}

// ended distinguishes an interruption from a failure.
func ended(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return fault.E("experiment.Execute", fault.Canceled, name, ctx.Err())
	}
	return fmt.Errorf("experiment %s: %w", name, err)
}

func (e *Experiment) result(o *Options, settings map[string]string) *Result {
	return &Result{
		Format: Format, Experiment: e.Name, Title: e.Title, Question: e.Question, Source: e.Source,
		Method: notNil(e.Method), Limits: notNil(e.Limits), Metric: e.Metric,
		Started: time.Now().UTC(), Command: notNil(o.Command), Version: o.Version, Commit: o.Commit,
		Seed: o.Seed, Quick: o.Quick, Repeats: o.Repeated(), Settings: settings,
		Machine: machine.Describe(o.Dir),
		Cases:   []Measured{}, Skipped: []Skipped{}, Notes: []string{}, Verdict: []string{},
	}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// runPeers measures the peers that are here. A peer that is missing or fails is skipped with a
// word: it says nothing about Voltbus.
func (e *Experiment) runPeers(ctx context.Context, b *Bench) error {
	for _, p := range e.Peers {
		if err := p.Find(); err != nil {
			b.result.Skipped = append(b.result.Skipped, Skipped{p.Name, err.Error()})
			continue
		}
		before := len(b.result.Cases)
		b.subject = p.Name
		if err := p.Run(ctx, b); err != nil {
			if ctx.Err() != nil {
				return err
			}
			b.result.Cases = b.result.Cases[:before]
			b.result.Skipped = append(b.result.Skipped, Skipped{p.Name, "it failed: " + err.Error()})
		}
	}
	return nil
}

// settings are the defaults with what the run changes.
func (e *Experiment) settings(set map[string]string, quick bool) (map[string]string, error) {
	out := map[string]string{}
	var names []string
	for _, s := range e.Settings {
		out[s.Name] = s.Default
		if quick && s.Quick != "" {
			out[s.Name] = s.Quick
		}
		names = append(names, s.Name)
	}
	var problems []error
	for name, value := range set {
		i := slices.Index(names, name)
		if i < 0 {
			problems = append(problems, fmt.Errorf("there is no setting %q; there are %s", name, strings.Join(names, ", ")))
			continue
		}
		if err := e.Settings[i].check(value); err != nil {
			problems = append(problems, err)
			continue
		}
		out[name] = value
	}
	if len(problems) > 0 {
		return nil, fault.E("experiment.Execute", fault.Invalid, e.Name, errors.Join(problems...))
	}
	return out, nil
}

// longest is the most characters of a setting.
const longest = 200

// check reports a value that is of another kind than the default.
func (s *Setting) check(value string) error {
	if len(value) > longest {
		return fmt.Errorf("setting %s: has more than %d characters", s.Name, longest)
	}
	if _, err := strconv.Atoi(s.Default); err == nil {
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return fmt.Errorf("setting %s: %q is no number; write one such as %s", s.Name, value, s.Default)
		}
		return nil
	}
	if _, err := time.ParseDuration(s.Default); err == nil {
		if d, err := time.ParseDuration(value); err != nil || d <= 0 {
			return fmt.Errorf("setting %s: %q is no duration; write one such as %s", s.Name, value, s.Default)
		}
		return nil
	}
	if (s.Default == "true" || s.Default == "false") && value != "true" && value != "false" {
		return fmt.Errorf("setting %s: %q is neither true nor false", s.Name, value)
	}
	return nil
}

// summarise fills in what follows from the values.
func (m *Measured) summarise() {
	if len(m.Values) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(m.Values))
	m.Least, m.Most = sorted[0], sorted[len(sorted)-1]
	m.Median = sorted[len(sorted)/2]
	if len(sorted)%2 == 0 {
		m.Median = (sorted[len(sorted)/2-1] + sorted[len(sorted)/2]) / 2
	}
	if m.latency != nil {
		s := m.latency.Summary()
		m.Latency = &s
	}
}

// Check reports settings that the experiment does not have, or whose values are of another kind. It
// fails with fault.Invalid.
func (e *Experiment) Check(set map[string]string) error {
	_, err := e.settings(set, false)
	return err
}
