// Package bill reads what a bill needs from a metering store and computes its determinants: consumption of a meter, or of a service point
// whose meter was exchanged, by period of a tariff, as known now or at a past moment.
package bill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/billing"
	"voltbus/meter/interval"
	"voltbus/meter/store"
)

// Store is what a bill is read from.
type Store interface {
	Meter(ctx context.Context, id string) (meter.Meter, error)
	Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error)
	History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error)
}

// Query says which bill.
type Query struct {
	Meter        string // either a meter,
	ServicePoint string // or a service point with all meters that were there
	Channel      int    // consumption: a load profile
	Export       int    // what was fed in, a load profile; 0 for none
	From, To     time.Time
	Known        time.Time // as it was known at this moment
	Zone         *time.Location
	Tariff       *billing.Tariff // nil for one period
	Window       billing.Window  // of demand; zero for none
}

// Result is the determinants of a bill. Quantities are in Unit, demand in Unit an hour.
type Result struct {
	Unit      string
	Use       []billing.Use
	Peaks     []billing.Peak
	Net       []billing.Net
	Registers []Register
	Stray     int      // readings at no end of an interval: they do not count
	Meters    []string // that were read, the first one first
}

// Register is a register of a meter between two bill dates.
type Register struct {
	Meter       string
	Channel     int
	Unit        string
	First, Last billing.Frozen
	Used        float64 // quantity between them, with the multiplier
	Unknown     string  // why there is none
}

var (
	errWhich   = errors.New("give either a meter or a service point")
	errNoMeter = errors.New("no meter was installed there in this time")
)

// Determine returns the determinants. It fails with fault.NotFound for an unknown meter, fault.Invalid for what cannot be billed.
func Determine(ctx context.Context, s Store, q *Query) (*Result, error) {
	const op = "bill.Determine"
	places, err := installed(ctx, s, q)
	if err != nil {
		return nil, err
	}
	d := &determination{store: s, query: q, result: &Result{}}
	r := d.result
	var used, fed *billing.Series
	for _, at := range places {
		m, err := s.Meter(ctx, at.Meter)
		if err != nil {
			return nil, err
		}
		r.Meters = append(r.Meters, m.ID)
		if used, err = d.fill(ctx, &m, q.Channel, at, used); err != nil {
			return nil, err
		}
		if q.Export != 0 {
			if fed, err = d.fill(ctx, &m, q.Export, at, fed); err != nil {
				return nil, err
			}
		}
		if err := d.registers(ctx, &m, at); err != nil {
			return nil, err
		}
	}
	calendar, err := q.calendar()
	if err != nil {
		return nil, fault.E(op, fault.Invalid, "tariff", err)
	}
	if err := r.determine(calendar, used, fed, q.Window); err != nil {
		return nil, fault.E(op, fault.Invalid, "", err)
	}
	return r, nil
}

// installed lists the meters of a bill, each with its time.
func installed(ctx context.Context, s Store, q *Query) ([]meter.Installation, error) {
	const op = "bill.Determine"
	if (q.Meter == "") == (q.ServicePoint == "") {
		return nil, fault.E(op, fault.Invalid, "meter", errWhich)
	}
	if q.Meter != "" {
		return []meter.Installation{{Meter: q.Meter, From: q.From, To: q.To}}, nil
	}
	all, err := s.Installations(ctx, q.ServicePoint)
	if err != nil {
		return nil, err
	}
	var list []meter.Installation
	for _, i := range all {
		if i.From.Before(q.To) && (i.To.IsZero() || i.To.After(q.From)) {
			i.From = later(i.From, q.From)
			if i.To.IsZero() || i.To.After(q.To) {
				i.To = q.To
			}
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, fault.E(op, fault.NotFound, q.ServicePoint, errNoMeter)
	}
	return list, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// determination is one bill under way.
type determination struct {
	store  Store
	query  *Query
	result *Result
}

// fill reads a channel's readings into a series, which the first one makes.
func (d *determination) fill(ctx context.Context, m *meter.Meter, number int, at meter.Installation, into *billing.Series) (*billing.Series, error) {
	const op = "bill.Determine"
	q, r := d.query, d.result
	subject := fmt.Sprintf("%s channel %d", m.ID, number)
	c := channel(m, number)
	switch {
	case c == nil:
		return nil, fault.E(op, fault.NotFound, subject, errors.New("the meter has no such channel"))
	case c.Interval == 0:
		return nil, fault.E(op, fault.Invalid, subject, errors.New("it is a register: give the channel of a load profile"))
	}
	if into == nil {
		grid, err := interval.New(c.Interval, q.Zone)
		if err == nil {
			into, err = billing.NewSeries(grid, q.From, q.To)
		}
		if err != nil {
			return nil, fault.E(op, fault.Invalid, subject, err)
		}
	}
	switch {
	case c.Interval != into.Grid.Length():
		return nil, fault.E(op, fault.Invalid, subject, fmt.Errorf("it has intervals of %s, and another channel of this bill has %s: bill them apart", c.Interval, into.Grid.Length()))
	case r.Unit != "" && r.Unit != c.Unit():
		return nil, fault.E(op, fault.Invalid, subject, fmt.Errorf("it counts %s, and another channel of this bill counts %s: bill them apart", c.Unit(), r.Unit))
	}
	r.Unit = c.Unit()
	h, err := d.store.History(ctx, store.ChannelKey{Meter: m.ID, Channel: number}, at.From, at.To)
	if err != nil {
		return nil, err
	}
	stray, err := into.Read(billing.Source{History: h, Multiplier: c.Multiplier, From: at.From, To: at.To}, q.Known)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, subject, err)
	}
	r.Stray += stray
	return into, nil
}

func channel(m *meter.Meter, number int) *meter.Channel {
	for i := range m.Channels {
		if m.Channels[i].Number == number {
			return &m.Channels[i]
		}
	}
	return nil
}

// nearby is how far from a bill date a register may be read.
const nearby = 24 * time.Hour

// registers adds the registers of a meter between the bill dates, or since it was installed and until it was removed.
func (d *determination) registers(ctx context.Context, m *meter.Meter, at meter.Installation) error {
	for i := range m.Channels {
		c := &m.Channels[i]
		if c.Interval != 0 {
			continue
		}
		h, err := d.store.History(ctx, store.ChannelKey{Meter: m.ID, Channel: c.Number}, at.From.Add(-nearby-time.Second), at.To.Add(nearby))
		if err != nil {
			return err
		}
		one := Register{Meter: m.ID, Channel: c.Number, Unit: c.Unit()}
		one.freeze(h, c, at, d.query.Known)
		d.result.Registers = append(d.result.Registers, one)
	}
	return nil
}

func (g *Register) freeze(h *meter.History, c *meter.Channel, at meter.Installation, known time.Time) {
	var err error
	if g.First, err = billing.Freeze(h, c.Register, at.From, nearby, known); err == nil {
		g.Last, err = billing.Freeze(h, c.Register, at.To, nearby, known)
	}
	if err != nil {
		g.Unknown = err.Error()
		return
	}
	d, how := c.Register.Difference(g.First.Value, g.Last.Value, 0)
	if how != meter.Forward && how != meter.RollOver {
		g.Unknown = fmt.Sprintf("it reads %v and then %v (%s): correct one of them", g.First.Value, g.Last.Value, how)
		return
	}
	g.Used = d * c.Multiplier
}

// calendar compiles the tariff.
func (q *Query) calendar() (*billing.Calendar, error) {
	if q.Tariff != nil {
		return billing.Compile(*q.Tariff)
	}
	return billing.Compile(billing.Tariff{Zone: q.Zone.String(), Periods: []string{"all"}, Seasons: []billing.Season{{
		Name: "year", From: "01-01", Types: []billing.DayType{{
			Name: "all", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, Schedule: []billing.Switch{{From: "00:00", Period: "all"}},
		}},
	}}})
}

func (r *Result) determine(c *billing.Calendar, used, fed *billing.Series, w billing.Window) error {
	scope, err := c.Scope(used)
	if err != nil {
		return err
	}
	if r.Use, err = scope.Use(used); err != nil {
		return err
	}
	if w.Length > 0 {
		if r.Peaks, err = scope.Peaks(used, w); err != nil {
			return err
		}
	}
	if fed != nil {
		r.Net, err = scope.Net(used, fed)
	}
	return err
}
