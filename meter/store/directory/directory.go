// Package directory indexes the registered meters in memory: some thirty-five bytes for each of millions, with one shared description of
// channels for meters of the same make. Engines of the metering store keep it beside what they have on disk.
package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"voltbus/internal/column"
	"voltbus/meter"
	"voltbus/meter/interval"
	"voltbus/meter/store"
)

// The bounds of what is registered.
const (
	MaxID       = 64     // bytes of the id of a meter
	MaxChannels = 100    // of a meter
	maxNumber   = 65_535 // of a channel
)

// Always and Never are days outside of time.
const (
	Always store.Day = math.MinInt32
	Never  store.Day = math.MaxInt32
)

// Model is what meters of one make have in common. It does not change.
type Model struct {
	Commodity meter.Commodity `json:"commodity"`
	Channels  []meter.Channel `json:"channels"` // by number
	register  []int           // of each channel: the index of the register that counts the same; −1 without one
}

// Entry is a meter as it is kept: everything but its id are numbers.
type Entry struct {
	ID    string
	Model uint32
	First uint32    // of its channels, which have consecutive numbers in the order of the model
	Since store.Day // the first day on which it is expected to deliver
	Until store.Day // the first on which it is no more
}

// Directory is the meters. It is safe for concurrent use; Apply is called by one goroutine at a time.
type Directory struct {
	calendar *store.Calendar

	mu     sync.RWMutex
	names  *names
	meters columns
	models []*Model
	known  map[string]uint32 // models by their text
	next   uint32            // channel
}

// columns are what is kept of meters, by their numbers: most have what their neighbours have, but other channels.
type columns struct {
	model, first column.Column[uint32]
	since, until column.Column[store.Day]
}

// New returns an empty directory.
func New(c *store.Calendar) *Directory {
	return &Directory{calendar: c, names: newNames(), known: make(map[string]uint32)}
}

// Plan is what a registration adds, before it is on disk.
type Plan struct {
	Result  store.Registered
	Entries []Entry
	Indices []int    // of the entries in the list
	Models  []*Model // new ones, whose numbers follow those that are there
	fresh   map[string]int
	known   map[string]uint32
	recent  []described // whose numbers are known
	points  map[string]bool
	free    func(servicePoint string) bool
	next    uint32
}

// described is the description of a meter that was right, with its number.
type described struct {
	commodity meter.Commodity
	channels  []meter.Channel
	number    uint32
}

// mostRecent is how many descriptions are compared before one is looked up by its text.
const mostRecent = 8

// Plan judges a list. Free reports whether nothing was ever installed at a service point. Nothing changes; the plan
// holds until something is applied.
func (d *Directory) Plan(list []store.Registration, free func(servicePoint string) bool) *Plan {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := &Plan{fresh: make(map[string]int, len(list)), known: map[string]uint32{}, points: map[string]bool{}, free: free, next: d.next}
	for i := range list {
		if err := d.plan(p, &list[i], i); err != nil {
			p.Result.Refused = append(p.Result.Refused, store.Refusal{Index: i, Reason: err.Error()})
		}
	}
	p.Result.Added = len(p.Entries)
	return p
}

var errOther = errors.New("the meter is registered with other channels: give a meter that was exchanged another id")

func (d *Directory) plan(p *Plan, r *store.Registration, index int) error {
	if err := checkID(r.Meter.ID); err != nil {
		return err
	}
	model, err := d.model(p, &r.Meter)
	if err != nil {
		return err
	}
	if n, ok := d.names.one(r.Meter.ID); ok {
		if d.meters.model.At(n) != model {
			return errOther
		}
		p.Result.Known++
		return nil
	}
	if at, ok := p.fresh[r.Meter.ID]; ok {
		if p.Entries[at].Model != model {
			return errOther
		}
		p.Result.Known++
		return nil
	}
	if uint64(p.next)+uint64(len(r.Meter.Channels)) > math.MaxUint32 || d.names.full(len(p.Entries)+1) {
		return errors.New("the store holds no more channels: register the meter at another node")
	}
	if err := p.place(r); err != nil {
		return err
	}
	since := Always
	if !r.From.IsZero() {
		since = d.calendar.Of(r.From.UnixMicro() + 1)
	}
	p.fresh[r.Meter.ID] = len(p.Entries)
	p.Entries = append(p.Entries, Entry{ID: r.Meter.ID, Model: model, First: p.next, Since: since, Until: Never})
	p.Indices = append(p.Indices, index)
	p.next += uint32(len(r.Meter.Channels))
	return nil
}

// place checks where a meter is installed.
func (p *Plan) place(r *store.Registration) error {
	switch {
	case r.ServicePoint == "" && r.Premises != "":
		return errors.New("premises: give the service point in them, too")
	case r.ServicePoint == "":
		return nil
	case r.From.IsZero():
		return errors.New("from: give since when the meter is installed at its service point")
	case len(r.ServicePoint) > MaxID || len(r.Premises) > MaxID || !utf8.ValidString(r.ServicePoint) || !utf8.ValidString(r.Premises):
		return fmt.Errorf("service point, premises: write up to %d bytes of text", MaxID)
	case p.points[r.ServicePoint] || !p.free(r.ServicePoint):
		return errors.New("service point: a meter was installed there already: exchange it")
	}
	p.points[r.ServicePoint] = true
	return nil
}

// model checks a meter's description and returns its number, which may be a new one. Most meters of a list have that of
// one before.
func (d *Directory) model(p *Plan, m *meter.Meter) (uint32, error) {
	for i := range p.recent {
		if r := &p.recent[i]; r.commodity == m.Commodity && slices.Equal(r.channels, m.Channels) {
			return r.number, nil
		}
	}
	if err := check(m); err != nil {
		return 0, err
	}
	n, err := modelOf(d, p, m)
	if err == nil && len(p.recent) < mostRecent {
		p.recent = append(p.recent, described{m.Commodity, m.Channels, n})
	}
	return n, err
}

// modelOf returns the number of a description by its text.
func modelOf(d *Directory, p *Plan, m *meter.Meter) (uint32, error) {
	described := Model{Commodity: m.Commodity, Channels: slices.Clone(m.Channels)}
	slices.SortFunc(described.Channels, func(a, b meter.Channel) int { return a.Number - b.Number })
	text, err := json.Marshal(described)
	if err != nil {
		return 0, fmt.Errorf("channels: %w", err)
	}
	if n, ok := d.known[string(text)]; ok {
		return n, nil
	}
	if n, ok := p.known[string(text)]; ok {
		return n, nil
	}
	n := uint32(len(d.models) + len(p.Models))
	p.Models = append(p.Models, &described)
	p.known[string(text)] = n
	return n, nil
}

// checkID returns what is wrong with the id of a meter.
func checkID(id string) error {
	plain := id != "" && id != "." && id != ".." && len(id) <= MaxID && utf8.ValidString(id)
	if !plain || strings.ContainsFunc(id, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '/' || r == '*' }) {
		return fmt.Errorf("id: write 1 to %d bytes of printable text without / and *", MaxID)
	}
	return nil
}

// check returns what is wrong with the description of a meter.
func check(m *meter.Meter) error {
	if err := m.Validate(); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(m.Channels) == 0 || len(m.Channels) > MaxChannels {
		return fmt.Errorf("channels: %d: write 1 to %d", len(m.Channels), MaxChannels)
	}
	for i, c := range m.Channels {
		if c.Number > maxNumber {
			return fmt.Errorf("channels[%d]: number %d: write up to %d", i, c.Number, maxNumber)
		}
		if c.Interval > 0 {
			if err := interval.Check(c.Interval); err != nil {
				return fmt.Errorf("channels[%d]: %w", i, err)
			}
		}
	}
	return nil
}

// Apply makes a plan that is on disk the directory's.
func (d *Directory) Apply(p *Plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range p.Models {
		d.addModel(m)
	}
	if len(p.Entries) > d.names.len()/2 {
		d.names.reserve(len(p.Entries))
	}
	for i := range p.Entries {
		d.add(&p.Entries[i])
	}
}

// Reserve makes room for so many more meters, so that what is kept need not grow while they are loaded.
func (d *Directory) Reserve(meters int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names.reserve(meters)
}

// Load adds what is on disk. Models and entries come in the order of their numbers. Ids are copied.
func (d *Directory) Load(models []*Model, entries []Entry) {
	d.Apply(&Plan{Models: models, Entries: entries})
}

func (d *Directory) addModel(m *Model) {
	text, _ := json.Marshal(m) // it was made from text, or into text, before
	m.register = make([]int, len(m.Channels))
	for i := range m.Channels {
		if m.register[i] = -1; m.Channels[i].Interval > 0 {
			m.register[i] = store.RegisterOf(m.Channels, i)
		}
	}
	d.known[string(text)] = uint32(len(d.models))
	d.models = append(d.models, m)
}

func (d *Directory) add(e *Entry) {
	d.names.add(e.ID)
	d.meters.model.Append(e.Model)
	d.meters.first.Append(e.First)
	d.meters.since.Append(e.Since)
	d.meters.until.Append(e.Until)
	d.next = e.First + uint32(len(d.models[e.Model].Channels))
}

// Models returns the descriptions that meters of a directory share, by their numbers. They do not change.
func Models(d *Directory) []*Model {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.models)
}
