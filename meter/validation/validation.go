// Package validation validates and estimates what a metering store holds: each local day when it has ended, and again
// when readings come late.
package validation

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/vee"
)

// Config says how. The zero values of Every, Grace, Now and Log mean the defaults.
type Config struct {
	Rules vee.Rules
	Every time.Duration    // between two looks for days that wait: default 1 min
	Grace time.Duration    // how long after its end a day is validated: default 1 h
	Now   func() time.Time // the clock
	Log   *slog.Logger
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
	name     string // of the rules, for the lineage of readings
}

// New returns a validator for a store whose days are those of a zone.
func New(c Config, st Store, zone *time.Location) (*Validator, error) {
	if err := c.Rules.Validate(); err != nil {
		return nil, err
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
	return &Validator{cfg: c, store: st, calendar: store.NewCalendar(zone), name: "standard 1"}, nil
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

// Pass validates the days that have ended and wait.
func (v *Validator) Pass(ctx context.Context) error {
	days, err := v.store.Days(ctx)
	if err != nil {
		return err
	}
	for _, d := range days {
		end := time.UnixMicro(v.calendar.Bounds(d.Day).End)
		if d.Waiting == 0 || v.cfg.Now().Before(end.Add(v.cfg.Grace)) {
			continue
		}
		if _, err := v.Validate(ctx, d.Day); err != nil {
			return fmt.Errorf("validate %v: %w", d.Day, err)
		}
	}
	return nil
}

// Validate validates what waits of a day now.
func (v *Validator) Validate(ctx context.Context, d store.Day) (store.Judgement, error) {
	w := &worker{v: v}
	return v.store.Judge(ctx, d, w.judge)
}

// worker is the memory of one pass.
type worker struct {
	v      *Validator
	both   *vee.Pipeline // for channels whose values may be negative, and for others
	plus   *vee.Pipeline
	status []vee.Status
}

// pipeline returns the rules for a channel: a net channel may be negative.
func (w *worker) pipeline(c *meter.Channel) (*vee.Pipeline, error) {
	net := c.ReadingType[meter.FlowDirection] == meter.FlowNet
	at := &w.plus
	if net {
		at = &w.both
	}
	if *at == nil {
		rules := w.v.cfg.Rules
		rules.Negative = rules.Negative && !net
		p, err := vee.New(rules)
		if err != nil {
			return nil, err
		}
		*at = p
	}
	return *at, nil
}

// doubt is what makes an interval be estimated.
const doubt = vee.Gap | vee.Negative | vee.Spike | vee.DemandTolerance | vee.HistoricalMax

func (w *worker) judge(c *store.ChannelDay) error {
	p, err := w.pipeline(c.Channel)
	if err != nil {
		return err
	}
	for len(w.status) < len(c.Values) {
		w.status = append(w.status, 0)
	}
	b := vee.Block{
		Values: c.Values, Status: w.status[:len(c.Values)], Length: c.Channel.Interval, WantLength: c.Channel.Interval,
		Multiplier: c.Channel.Multiplier, WantMultiplier: c.Channel.Multiplier,
		UsualSum: math.NaN(), HighestValue: math.NaN(),
	}
	c.Rule = w.v.name
	if err := p.Validate(&b); err != nil {
		c.Exception = true // a rule failed: the status says so, and the others were carried out
	}
	estimate := false
	for i, s := range b.Status {
		c.Status[i] = uint32(s)
		c.Exception = c.Exception || s&^vee.Gap != 0
		estimate = estimate || s&doubt != 0
	}
	if !estimate {
		return nil
	}
	found, err := vee.Estimate(&b, doubt, nil)
	if err != nil {
		return err
	}
	for i, m := range found.Methods {
		switch m {
		case vee.Measured:
		case vee.Unfilled: // the gap is longer than a straight line may be: it waits for a person
			c.Exception = true
		default:
			c.Estimates[i], c.Rules[i] = found.Values[i], m.String()
		}
	}
	return nil
}
