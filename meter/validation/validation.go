// Package validation validates and estimates the readings of a metering store: each local day after its end, and again when late readings
// arrive.
package validation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter/ruleset"
	"voltbus/meter/store"
	"voltbus/meter/vee"
)

// Config says how. The zero values of Every, Grace, Now, Log and Document mean the defaults.
type Config struct {
	Rules vee.Rules
	// Document returns the document with the sets of rules as JSON, and its version: fault.NotFound for none.
	Document func(ctx context.Context) (json.RawMessage, int, error)
	Every    time.Duration    // between two looks for days that wait: default 1 min
	Grace    time.Duration    // how long after its end a day is validated: default 1 h
	Now      func() time.Time // the clock
	Log      *slog.Logger
}

// Store is what is validated.
type Store interface {
	Days(ctx context.Context) ([]store.DayState, error)
	Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error)
}

// Validator validates days. Its methods are safe for concurrent use.
type Validator struct {
	cfg      Config
	store    Store
	calendar *store.Calendar

	mu     sync.Mutex
	rules  []string          // what is wrong with the sets of rules
	failed map[string]string // sets whose rules could not be carried out, with why
	days   error             // why days could not be validated
}

// New returns a validator for a store whose days are those of a zone.
func New(c Config, st Store, zone *time.Location) (*Validator, error) {
	if err := c.Rules.Validate(); err != nil {
		return nil, err
	}
	if c.Document == nil {
		c.Document = func(context.Context) (json.RawMessage, int, error) {
			return nil, 0, fault.E("validation.Document", fault.NotFound, ruleset.Name, errors.New("there is none"))
		}
	}
	if c.Every == 0 {
		c.Every = time.Minute
	}
	if c.Grace == 0 {
		c.Grace = time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Validator{cfg: c, store: st, calendar: store.NewCalendar(zone), failed: map[string]string{}}, nil
}

// Run validates days that have ended, until ctx ends, and returns nil.
func (v *Validator) Run(ctx context.Context) error {
	tick := time.NewTicker(v.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := v.Pass(ctx); err != nil && ctx.Err() == nil {
			v.cfg.Log.WarnContext(ctx, "validation failed and is tried again", slog.Any("err", err))
		}
	}
}

// Pass validates the days that have ended and wait. One that cannot be validated stops no other.
func (v *Validator) Pass(ctx context.Context) error {
	days, err := v.store.Days(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, d := range days {
		if d.Waiting == 0 || v.cfg.Now().Before(v.end(d.Day).Add(v.cfg.Grace)) {
			continue
		}
		if _, err := v.judge(ctx, d.Day); err != nil {
			problems = append(problems, fmt.Errorf("validate %v: %w", d.Day, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	err = errors.Join(problems...)
	if ctx.Err() == nil {
		v.mu.Lock()
		v.days = err
		v.mu.Unlock()
	}
	return err
}

func (v *Validator) end(d store.Day) time.Time { return time.UnixMicro(v.calendar.Bounds(d).End) }

// Validate validates what waits of a day now. It fails with fault.Invalid for a day that has not ended, or lies before
// the first one with readings.
func (v *Validator) Validate(ctx context.Context, d store.Day) (store.Judgement, error) {
	const op = "meter.validate"
	if end := v.end(d); v.cfg.Now().Before(end) {
		return store.Judgement{}, fault.E(op, fault.Invalid, d.String(), fmt.Errorf("the day ends at %s: validate it then", end.UTC().Format(time.RFC3339)))
	}
	days, err := v.store.Days(ctx)
	if err != nil {
		return store.Judgement{}, err
	}
	if len(days) == 0 || d < days[0].Day {
		return store.Judgement{}, fault.E(op, fault.Invalid, d.String(), errors.New("the store has no readings of this day or an earlier one"))
	}
	return v.judge(ctx, d)
}

func (v *Validator) judge(ctx context.Context, d store.Day) (store.Judgement, error) {
	sets, err := v.Sets(ctx)
	if err != nil {
		return store.Judgement{}, err
	}
	w := &worker{calendar: v.calendar, sets: sets, failed: map[string]string{}}
	j, err := v.store.Judge(ctx, d, w.judge)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rules = sets.Problems()
	for name := range w.used {
		delete(v.failed, name)
	}
	maps.Copy(v.failed, w.failed)
	return j, err
}

// Sets reads the sets of rules as they are now.
func (v *Validator) Sets(ctx context.Context) (*ruleset.Sets, error) {
	text, version, err := v.cfg.Document(ctx)
	switch {
	case fault.Is(err, fault.NotFound):
		return ruleset.Standard(v.cfg.Rules), nil
	case fault.Is(err, fault.Invalid):
		return ruleset.Unreadable(err, v.cfg.Rules), nil
	case err != nil:
		return nil, fmt.Errorf("read the rules of validation: %w", err)
	}
	return ruleset.Parse(text, version, v.cfg.Rules), nil
}

// Problems says what is not well with validation, each a sentence without a full stop.
func (v *Validator) Problems() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, text := range v.rules {
		out = append(out, "rules of validation are wrong and left out: "+text)
	}
	for name, why := range v.failed {
		out = append(out, fmt.Sprintf("rules of validation of %s failed: %s", name, why))
	}
	if v.days != nil {
		out = append(out, "validation failed and is tried again: "+v.days.Error())
	}
	slices.Sort(out)
	return out
}
