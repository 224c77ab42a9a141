// Package system assembles a metering system. A metering data system has the store, the sink that fills it from the node's log, the gate
// that admits readings, and validation; a concentrator has the gate and the delivery.
package system

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/meter/collection"
	"voltbus/meter/delivery"
	"voltbus/meter/gate"
	"voltbus/meter/membership"
	"voltbus/meter/ruleset"
	"voltbus/meter/setting"
	meterstore "voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/meter/store/postgres"
	"voltbus/meter/validation"
	"voltbus/meter/valve"
	"voltbus/meter/webservice"
	"voltbus/operation/metering"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/store"
)

// Config is what a System needs of its node.
type Config struct {
	Dir     string        // of an embedded store
	Store   setting.Store // where readings are kept
	Node    string        // the node's name
	Section setting.Section
	Origin  string // the node's; that of readings is made of it
	// Last are the last blocks of readings of this node, and Events those of events.
	Last, Events gate.Position
	Blocks       sink.Log
	Forward      gate.Forward
	Bounds       point.Bounds
	// Document returns a shared document as JSON, and its version; fault.NotFound for none. See ruleset and metering.Tariffs.
	Document documents
	Now      func() time.Time
	Log      *slog.Logger
	// Read reads points of this node's devices, see collection.Config; nil if it has none.
	Read   func(ctx context.Context, points []point.Path) []collection.Value
	Valves bool // whether messages with readings are measured on their way
	// Held returns how many samples of each origin the parent has.
	Held func() map[string]uint64
	// Tell tells the audit log what other members of the cluster had done here.
	Tell metering.Tell
}

// documents returns a shared document, and its version.
type documents = func(ctx context.Context, name string) (json.RawMessage, int, error)

// rules returns the document with the rules of validation.
func rules(d documents) func(context.Context) (json.RawMessage, int, error) {
	if d == nil {
		return nil
	}
	return func(ctx context.Context) (json.RawMessage, int, error) { return d(ctx, ruleset.Name) }
}

// System is an open metering data system, or a concentrator, which has no store. Close it.
type System struct {
	store     keeper // nil of a concentrator
	sink      *sink.Sink
	reported  *sink.Sink // of events
	gate      valve.Gate
	events    *gate.Events
	validator *validation.Validator
	zone      *time.Location // of local days
	giveUp    time.Duration
	document  documents
	now       func() time.Time
	room      *room
	delivery  *delivery.Delivery // of a concentrator that hands readings to systems; nil of others
	urgent    *delivery.Events   // with delivery
	section   *setting.Concentrator
	origin    string // of readings
	held      func() map[string]uint64
	collector *collection.Collector  // nil if there is nothing to read
	taken     func() gate.Position   // how far readings were taken
	cluster   *membership.Membership // nil for a node that is in none
	tell      metering.Tell
}

// keeper is a store that says what was damaged.
type keeper interface {
	meterstore.Store
	Damage() []string
}

// open opens the store.
func (c *Config) open(ctx context.Context, zone *time.Location) (keeper, error) {
	if d := &c.Store; d.Engine == "postgres" {
		o := postgres.Options{Writer: c.Node, Zone: zone, Now: c.Now, Log: c.Log}
		o.URL, o.PasswordFile, o.Schema, o.Section, o.TLS = d.URL, d.PasswordFile, d.Schema, "metering.store", d.TLS
		return postgres.Open(ctx, o)
	}
	return duckdb.Open(ctx, duckdb.Options{Dir: c.Dir, Zone: zone, Now: c.Now, MemoryLimit: int64(c.Section.Memory) << 20})
}

// Open opens the store; nothing runs before Run. It returns nil if the role of the node is another.
func Open(ctx context.Context, c Config) (*System, error) {
	s, err := open(ctx, &c)
	if s != nil && err == nil && len(c.Section.Reads) > 0 && c.Read != nil {
		var zone *time.Location
		if zone, err = time.LoadLocation(c.Section.Zone); err == nil {
			s.collector = collection.New(collection.Config{Reads: c.Section.Reads, Zone: zone, Read: c.Read, Take: s.gate.Take, Now: c.Now, Log: c.Log})
		}
	}
	return s, err
}

func open(ctx context.Context, given *Config) (*System, error) {
	c := *given
	switch {
	case c.Section.Concentrates():
		return openConcentrator(&c)
	case !c.Section.Enabled():
		return nil, nil //nolint:nilnil // no system is what such a node has
	}
	zone, err := time.LoadLocation(c.Section.Zone)
	if err != nil {
		return nil, err
	}
	v := validation.Config{Grace: max(c.Section.Grace, time.Nanosecond), Now: c.Now, Log: c.Log, Rules: c.Section.Rules(), Document: rules(c.Document)}
	st, err := c.open(ctx, zone)
	if err != nil {
		return nil, err
	}
	s := &System{
		store: st, zone: zone, giveUp: c.Section.GiveUp, document: c.Document, now: c.Now, tell: c.Tell,
		room: &room{store: st, knows: st.Knows, meter: st.KnowsMeter, most: uint64(c.Section.Unregistered), underway: map[string][]strays{}, reported: map[string]uint64{}},
	}
	s.cluster, err = membership.Open(ctx, membership.Config{
		Dir: c.Dir, Node: c.Node, Own: point.MeterOrigin(c.Origin), Section: &c.Section, Store: st, Blocks: c.Blocks, Now: c.Now, Log: c.Log, Document: rules(c.Document),
	})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if s.validator, err = validation.New(v, st, zone); err != nil {
		return nil, err
	}
	s.sink = sink.New(sink.Config{Leaves: func(origin string) bool { return !point.IsMeterOrigin(origin) || point.IsMeterEventOrigin(origin) }, Log: c.Log}, c.Blocks, blocks{s, point.MeterOrigin(c.Origin)})
	g := gate.Config{Origin: point.MeterOrigin(c.Origin), Start: c.Last, Registry: st, Forward: c.Forward, Bounds: c.Bounds, Now: c.Now}
	if s.cluster != nil {
		g.Elsewhere, s.room.knows, s.room.meter = s.cluster.Elsewhere, s.cluster.Knows, s.cluster.KnowsMeter
	}
	taking := gate.New(g)
	if s.gate = taking; s.cluster != nil {
		s.cluster.Serve(taking, func() uint64 { return s.sink.Stats().Sequence })
	}
	s.reported = newEventSink(&c, st)
	s.events = gate.NewEvents(gate.EventConfig{Origin: point.MeterEventOrigin(c.Origin), Start: c.Events, Known: s.room.meter, Forward: c.Forward, Bounds: c.Bounds, Now: c.Now})
	if c.Valves {
		s.gate = valve.At(s.gate)
	}
	return s, nil
}

// Run stores and validates readings until ctx ends, and returns nil. That of a nil System only waits.
func (s *System) Run(ctx context.Context) error {
	if s == nil {
		<-ctx.Done()
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	if s.collector != nil {
		group.Go(func() error { return s.collector.Run(ctx) })
	}
	if s.store == nil {
		if s.delivery != nil {
			group.Go(func() error { return s.delivery.Run(ctx) })
			group.Go(func() error { return s.urgent.Run(ctx) })
			return group.Wait()
		}
		<-ctx.Done()
		return group.Wait()
	}
	group.Go(func() error { return s.sink.Run(ctx) })
	group.Go(func() error { return s.reported.Run(ctx) })
	group.Go(func() error { return s.validator.Run(ctx) })
	if s.cluster != nil {
		group.Go(func() error { return s.cluster.Run(ctx) })
	}
	return group.Wait()
}

// Fits returns why there is no room for a block of readings that came from a descendant: too many of meters that are not
// registered wait here. from tells the origins that come by that node. A System without a store takes what comes, as it keeps none.
func (s *System) Fits(b *point.Block, from func(origin string) bool) error {
	if s == nil || s.store == nil {
		return nil
	}
	return s.room.fits(b, from)
}

// Problems says what is not well, each a sentence without a full stop. A nil System is well.
func (s *System) Problems() []string {
	if s == nil || s.validator == nil {
		return nil
	}
	return append(s.store.Damage(), s.validator.Problems()...)
}

// Close ends the store, if there is one.
func (s *System) Close() error {
	if s == nil || s.store == nil {
		return nil
	}
	return s.store.Close()
}

// Part does what the system is asked for. That of a nil System answers that the node is none.
func (s *System) Part() metering.Part {
	p := s.part()
	if s != nil && s.collector != nil {
		p.Collector = s.collector
	}
	return p
}

func (s *System) part() metering.Part {
	if s == nil {
		return metering.Part{}
	}
	if s.store == nil {
		return metering.Part{Gate: s.gate, Events: s.events, Now: s.now, Concentrator: s}
	}
	p := metering.Part{Store: s.store, Gate: s.gate, Events: s.events, Validator: s.validator, Now: s.now, Zone: s.zone, GiveUp: s.giveUp, Document: s.document, Tell: s.tell}
	switch st := s.store.(type) {
	case *duckdb.Store:
		p.Counted, p.Files = duckdb.Counting{Store: st}, duckdb.Counting{Store: st}
	case *postgres.Store:
		p.Counted = st
	}
	if s.cluster != nil {
		p.Cluster = s.cluster
		if st, is := s.store.(*duckdb.Store); is {
			p.Move = func(ctx context.Context, servicePoint, meter string, leaves bool, at time.Time) error {
				return duckdb.Move(ctx, st, &duckdb.Moving{ServicePoint: servicePoint, Meter: meter, Leaves: leaves, At: at})
			}
		}
	}
	return p
}

// Statements shows the store to SQL statements of people, if it is an embedded one; nil else.
func (s *System) Statements() *duckdb.Statements {
	if s == nil {
		return nil
	}
	if st, is := s.store.(*duckdb.Store); is {
		return duckdb.StatementsOf(st)
	}
	return nil
}

// Folder is below which path who has a name may record readings: those of the meter, or of all meters for a concentrator.
func Folder(name string, concentrator bool) string {
	if concentrator {
		return strings.TrimSuffix(meterstore.Branch, "/")
	}
	return meterstore.Branch + name
}

// WebService answers the messages of other metering systems.
func (s *System) WebService() *webservice.Service {
	switch {
	case s.store == nil:
		return webservice.New(s.gate, s.events, nil)
	case s.cluster != nil:
		return webservice.New(s.gate, s.events, s.cluster).Passing(s.cluster)
	}
	return webservice.New(s.gate, s.events, s.store)
}

// blocks is the store as a sink fills it.
type blocks struct {
	*System

	own string // the origin of the readings that this node takes in
}

// Append implements sink.Store.
func (b blocks) Append(ctx context.Context, list []*point.Block) (store.Result, error) {
	batch := &meterstore.Batch{}
	if b.cluster != nil {
		batch.Keeps = b.cluster.Keeps
	}
	keys, readings := 0, 0
	for _, one := range list {
		keys, readings = keys+len(one.Points), readings+one.Len()
	}
	batch.Grow(keys, readings)
	for _, one := range list {
		batch.Take(one, b.own, b.now())
	}
	r, err := b.store.Append(ctx, batch)
	if err == nil {
		b.room.stored(list)
		if b.cluster != nil {
			b.cluster.Stored(r.Strays)
		}
	}
	return store.Result{Stored: r.Stored + r.Strays}, err
}

// Cursor implements sink.Store.
func (b blocks) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	return b.store.Cursor(ctx)
}
