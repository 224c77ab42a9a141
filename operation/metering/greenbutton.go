package metering

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/meter/message/greenbutton"
	"voltbus/meter/store"
	"voltbus/operation"
)

// Customer requests readings in the form for the customer.
type Customer struct {
	Meter   string `json:"meter" api:"query,required,max=64" doc:"Its id"`
	Channel int    `json:"channel" api:"min=0,max=65535,default=0" doc:"Only this channel; 0 for all"`
	From    string `json:"from" api:"required,max=40" doc:"Intervals that end after it, as 2026-03-01T00:00:00Z"`
	To      string `json:"to" api:"required,max=40" doc:"and not after it; at most 400 days later"`
	KnownAt string `json:"knownAt" api:"max=40" doc:"As it was known at this moment; now if left out"`
}

// GreenButton is the operation that writes readings as a Green Button file.
var GreenButton = operation.Declare[Customer, operation.None](operation.Spec{
	Name: "meter.greenbutton", ID: "downloadGreenButton", HTTP: "GET /metering/greenbutton", Role: identity.Viewer, Stream: operation.Exports,
	Formats: []string{greenbutton.Media},
	Summary: "Read the readings of a meter as a Green Button file (ESPI, NAESB REQ.21)", Result: "An Atom feed",
	Doc: "Quantities, with the multiplier of the channel, and the quality of each reading: valid, raw, estimated, edited or questionable. A channel of " +
		"consumption that lacks no interval has a UsageSummary. A file that cannot be completed ends with a cut connection.",
})

var errBackwards = errors.New("to must be later than from")

// window is a period, as known at a given time.
type window struct{ from, to, known time.Time }

// window parses the times of a request.
func (p *Part) window(op, from, to, known string) (w window, err error) {
	if w.from, err = instant(op, "from", from); err != nil {
		return w, err
	}
	if w.to, err = instant(op, "to", to); err != nil {
		return w, err
	}
	if !w.from.Before(w.to) {
		return w, fault.E(op, fault.Invalid, "to", errBackwards)
	}
	w.known = p.Now().Add(time.Hour) // times of recording are rounded up
	if known != "" {
		w.known, err = instant(op, "knownAt", known)
	}
	return w, err
}

func (p *Part) greenButton(ctx context.Context, _ *operation.Call, in *Customer, to operation.Stream) error {
	const op = "meter.greenbutton"
	of, err := p.window(op, in.From, in.To, in.KnownAt)
	if err != nil {
		return err
	}
	if of.to.Sub(of.from) > mostBilled {
		return fault.E(op, fault.Invalid, "to", errLongBill)
	}
	m, err := p.Store.Meter(ctx, in.Meter)
	if err != nil {
		return err
	}
	channels := m.Channels
	if in.Channel != 0 {
		if channels = only(channels, in.Channel); channels == nil {
			return fault.E(op, fault.NotFound, m.ID, errNoChannel)
		}
	}
	to.Begin(operation.Head{Media: greenbutton.Media, File: fileName("green-button-" + m.ID + "-" + of.from.In(p.Zone).Format(time.DateOnly) + ".xml")})
	w := greenbutton.NewWriter(to, greenbutton.Head{Meter: &m, From: of.from, To: of.to, Zone: p.Zone, Updated: p.Now()})
	for i := range channels {
		if err := p.writeChannel(ctx, w, &m, &channels[i], of); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return fault.E(op, fault.Canceled, m.ID, err)
	}
	return nil
}

// writeChannel writes a channel that has readings. They are read twice: first for their common power of ten.
func (p *Part) writeChannel(ctx context.Context, w *greenbutton.Writer, m *meter.Meter, c *meter.Channel, of window) error {
	r := channelReader{store: p.Store, key: store.ChannelKey{Meter: m.ID, Channel: c.Number}, long: c.Interval == 0 || c.Interval >= time.Minute}
	var scale greenbutton.Scale
	count := 0
	err := r.read(ctx, of, func(list []meter.Version) error {
		for i := range list {
			scale.Add(list[i].Value * c.Multiplier)
		}
		count += len(list)
		return nil
	})
	if err != nil || count == 0 {
		return err
	}
	w.Channel(c, &scale)
	return r.read(ctx, of, func(list []meter.Version) error {
		w.Readings(list)
		return nil
	})
}

var errNoChannel = errors.New("the meter has no such channel")

func only(channels []meter.Channel, number int) []meter.Channel {
	for i := range channels {
		if channels[i].Number == number {
			return channels[i : i+1]
		}
	}
	return nil
}

// fileName keeps those characters of a name that every system accepts.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, s)
}

// histories is the source of readings.
type histories interface {
	History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error)
}

// channelReader reads the readings of a channel in pieces, so that memory does not grow with the period.
type channelReader struct {
	store histories
	key   store.ChannelKey
	long  bool // pieces of a month instead of a day each
	all   bool // all versions instead of the current ones
}

// read calls do with the readings, piece by piece.
func (r *channelReader) read(ctx context.Context, of window, do func([]meter.Version) error) error {
	days := 1
	if r.long {
		days = 31
	}
	var list []meter.Version
	for at := of.from; at.Before(of.to); {
		end := at.AddDate(0, 0, days)
		if end.After(of.to) {
			end = of.to
		}
		h, err := r.store.History(ctx, r.key, at, end)
		if err != nil {
			return err
		}
		if r.all {
			list = slices.DeleteFunc(h.Versions(list[:0], at, end), func(v meter.Version) bool { return v.Recorded.After(of.known) })
		} else {
			list = h.AsKnown(list[:0], at, end, of.known)
		}
		if len(list) > 0 {
			if err := do(list); err != nil {
				return err
			}
		}
		at = end
	}
	return nil
}
