// Package metering declares and carries out the operations on the metering system: meters, readings, missing readings, validation,
// exceptions, edits and bills.
package metering

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/ruleset"
	"voltbus/meter/store"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// Gate accepts readings.
type Gate interface {
	Take(ctx context.Context, sender, under string, readings []meter.Reading) (gate.Taken, error)
}

// Store is the metering store, see store.Store.
type Store interface {
	store.Registry
	History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error)
	Missing(ctx context.Context, q store.MissingQuery) (store.Missing, error)
	Revise(ctx context.Context, key store.ChannelKey, versions []meter.Version) error
	Exceptions(ctx context.Context, q store.ExceptionQuery) ([]store.Exception, error)
	Settle(ctx context.Context, number uint64, who, why string) error
	Events(ctx context.Context, q store.EventQuery) ([]store.Event, error)
}

// Validator validates a local day according to rules.
type Validator interface {
	Validate(ctx context.Context, d store.Day) (store.Judgement, error)
	// Sets returns the current rules by group of meters.
	Sets(ctx context.Context) (*ruleset.Sets, error)
}

// The arguments.
type (
	// Registration is meters to register.
	Registration struct {
		Meters []answer.MeterEntry `json:"meters" api:"required" doc:"id, commodity, channels (number, readingType, obis, interval, multiplier, digits, decimals), servicePoint, premises, from"`
	}
	// ID names a meter.
	ID struct {
		Meter string `json:"meter" api:"required,max=64" doc:"Its id"`
	}
	// Page selects a page of the list of meters.
	Page struct {
		After string `json:"after" api:"max=64" doc:"The id of the meter behind which the list begins"`
		Limit int    `json:"limit" api:"min=1,max=10000,default=100" doc:"The most meters"`
	}
	// Bulk holds readings.
	Bulk struct {
		Readings []answer.MeterReadingIn `json:"readings" api:"required" doc:"meter, channel or readingType, end (of the interval), value"`
	}
	// Span selects readings of a channel.
	Span struct {
		ID
		Channel  int    `json:"channel" api:"min=1,max=65535,default=1" doc:"The number of the channel"`
		From     string `json:"from" api:"required,max=40" doc:"Intervals that end after it, as 2026-03-01T00:00:00Z"`
		To       string `json:"to" api:"required,max=40" doc:"and not after it"`
		KnownAt  string `json:"knownAt" api:"max=40" doc:"As it was known at this moment; now if left out"`
		Versions bool   `json:"versions" doc:"All versions, not only the one that counts"`
	}
	// Lacking requests the data missing for a day.
	Lacking struct {
		Day   string `json:"day" api:"required,max=10" doc:"The local day, such as 2026-03-01"`
		After string `json:"after" api:"max=64" doc:"The id of the meter behind which the list begins"`
		Limit int    `json:"limit" api:"min=1,max=10000,default=100" doc:"The most channels in the list"`
	}
	// Waiting requests exceptions.
	Waiting struct {
		Meter string `json:"meter" api:"max=64" doc:"Only those of this meter"`
		Limit int    `json:"limit" api:"min=1,max=10000,default=100" doc:"The most exceptions"`
	}
	// Settlement removes an exception from the queue.
	Settlement struct {
		Number int    `json:"number" api:"required,min=1"`
		Why    string `json:"why" api:"required,min=1,max=1024" doc:"What was found, or done"`
		Member string `json:"member" api:"max=64" doc:"The member of the cluster whose number it is; only in a cluster"`
	}
	// Edit sets the value of an interval.
	Edit struct {
		ID
		Channel int      `json:"channel" api:"min=1,max=65535,default=1" doc:"The number of the channel"`
		End     string   `json:"end" api:"required,max=40" doc:"The end of the interval"`
		Value   *float64 `json:"value" api:"required" doc:"In the unit of the channel"`
		Reason  string   `json:"reason" api:"required,min=1,max=1024" doc:"Why it is set"`
	}
	// Replacement exchanges the meter of a service point.
	Replacement struct {
		ServicePoint string `json:"servicePoint" api:"required,max=64"`
		Meter        string `json:"meter" api:"required,max=64" doc:"The new one, which is registered"`
		At           string `json:"at" api:"required,max=40" doc:"When it was exchanged"`
	}
	// Validation names a day to validate.
	Validation struct {
		Day string `json:"day" api:"required,max=10" doc:"The local day, such as 2026-03-01"`
	}
)

// Maximum sizes of requests in bytes.
const (
	bulkBody  = 32 << 20
	smallBody = 16 << 10
)

// The operations.
var (
	Register = operation.Declare[Registration, answer.MeterRegistered](operation.Spec{
		Name: "meter.register", ID: "registerMeters", HTTP: "POST /metering/meters", Role: identity.Engineer, Audited: true, Body: bulkBody,
		Summary: "Register meters with their channels and places", Result: "How many are new, and why others were refused",
	})
	List = operation.Declare[Page, answer.Meters](operation.Spec{
		Name: "meter.list", ID: "listMeters", HTTP: "GET /metering/meters", Role: identity.Viewer,
		Summary: "List meters", Result: "In the order in which they were registered",
	})
	Get = operation.Declare[ID, answer.MeterEntry](operation.Spec{
		Name: "meter.get", HTTP: "GET /metering/meters/{meter}", Role: identity.Viewer,
		Summary: "Read what is known of a meter", Result: "The meter",
	})
	Record = operation.Declare[Bulk, answer.MeterTaken](operation.Spec{
		Name: "meter.record", ID: "recordMeterReadings", HTTP: "POST /metering/readings", Role: identity.Operator, Record: true, Body: bulkBody,
		Summary: "Record readings of meters; answered when they are on disk", Result: "How many were accepted, and why others were refused",
		Doc: "Each reading is taken or refused by itself. A token for recording may ask, too: below meters, or below meters/<meter> for one meter.",
	})
	Readings = operation.Declare[Span, answer.MeterReadings](operation.Spec{
		Name: "meter.readings", ID: "getMeterReadings", Method: "meter_readings", HTTP: "GET /metering/meters/{meter}/readings", Role: identity.Viewer,
		Summary: "Read a channel's readings as they are, or were known", Result: "By end of the interval",
	})
	Missing = operation.Declare[Lacking, answer.MeterMissing](operation.Spec{
		Name: "meter.missing", ID: "listMissingReadings", HTTP: "GET /metering/missing", Role: identity.Viewer,
		Summary: "List the intervals of a day that have no reading", Result: "Counts of all channels, and a part of the list",
	})
	Exceptions = operation.Declare[Waiting, answer.MeterExceptions](operation.Spec{
		Name: "meter.exceptions", ID: "listMeterExceptions", HTTP: "GET /metering/exceptions", Role: identity.Viewer,
		Summary: "List what validation doubts and nobody dealt with", Result: "The newest day first",
	})
	Settle = operation.Declare[Settlement, operation.None](operation.Spec{
		Name: "meter.settle", ID: "settleMeterException", HTTP: "POST /metering/exceptions/{number}/settle", Role: identity.Engineer, Audited: true, Body: smallBody,
		Summary: "Take an exception from the queue",
	})
	EditReading = operation.Declare[Edit, operation.None](operation.Spec{
		Name: "meter.edit", ID: "editMeterReading", HTTP: "POST /metering/meters/{meter}/edit", Role: identity.Engineer, Audited: true, Body: smallBody,
		Summary: "Set the value of an interval, with the reason", Doc: "All versions before it stay.",
	})
	Exchange = operation.Declare[Replacement, operation.None](operation.Spec{
		Name: "meter.exchange", ID: "exchangeMeter", HTTP: "POST /metering/exchange", Role: identity.Engineer, Audited: true, Body: smallBody,
		Summary: "Replace the meter of a service point by another",
	})
	Validate = operation.Declare[Validation, answer.MeterJudgement](operation.Spec{
		Name: "meter.validate", ID: "validateMeterDay", HTTP: "POST /metering/validate", Role: identity.Engineer, Audited: true, Body: smallBody,
		Summary: "Validate the readings of a day that were not, and estimate what is missing", Result: "What was found",
	})
)

// Tell records a request in the audit log.
type Tell = func(ctx context.Context, e operation.Entry)

// Part carries out the operations on the metering system.
type Part struct {
	Store Store // nil for a node without a metering data system
	// Counted reports the progress of days; nil if the store's engine does not support it.
	Counted   store.Progressive
	Files     Files     // nil if the store's engine does not support them
	Gate      Gate      // nil for a node that accepts no meter readings
	Events    Events    // nil with Gate
	Collector Collector // nil for a node that does not read meters itself
	Validator Validator
	Now       func() time.Time
	// Zone is the time zone of the local days.
	Zone *time.Location
	// GiveUp is how far back the list of readings to recover reaches.
	GiveUp time.Duration
	// Document returns a shared document as JSON, and its version; fault.NotFound if there is none.
	Document func(ctx context.Context, name string) (json.RawMessage, int, error)
	// Concentrator is nil for a node without one.
	Concentrator Concentrator
	// Cluster is nil for a node in no cluster.
	Cluster Cluster
	// Tell records in the audit log what other members of the cluster had done here.
	Tell Tell
	// Move records that a meter leaves a service point, or is installed there, while another member keeps the other meter of the exchange. It
	// may have been recorded before.
	Move func(ctx context.Context, servicePoint, meter string, leaves bool, at time.Time) error

	local *operation.Table // the operations that this member carries out itself
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	system := []operation.Bound{
		operation.Bind(Register, nil, p.register), operation.Bind(List, nil, p.list), operation.Bind(Get, nil, p.get),
		operation.Bind(Readings, mayReadChannel, p.readings), operation.Bind(Missing, nil, p.missing), operation.Bind(Exceptions, nil, p.exceptions),
		operation.Bind(Settle, nil, p.settle), operation.Bind(EditReading, nil, p.edit), operation.Bind(Exchange, nil, p.exchange),
		operation.Bind(Validate, nil, p.validate), operation.Bind(Bill, nil, p.bill), operation.Bind(ListEvents, nil, p.events), operation.Bind(Progress, nil, p.progress),
		operation.Bind(Recovery, nil, func(ctx context.Context, _ *operation.Call, in *ToRecover) (Gaps, error) { return listGaps(ctx, p, in) }),
		operation.BindStream(GreenButton, nil, p.greenButton), operation.BindStream(Export, nil, p.export),
	}
	r := &router{p}
	between := []operation.Bound{operation.Bind(Member, nil, r.member)}
	switch {
	case p.Store == nil:
		system = operation.Lacking(system, errNoSystem)
	case p.Cluster != nil:
		system = r.inCluster(system)
	}
	if p.Cluster == nil {
		between = operation.Absent(between)
	}
	both := []operation.Bound{operation.Bind(Record, nil, p.record), operation.Bind(RecordEvents, nil, p.recordEvents)}
	if p.Gate == nil {
		both = operation.Lacking(both, errNoRole)
	}
	reads := []operation.Bound{operation.Bind(ReadMeters, nil, func(ctx context.Context, c *operation.Call, in *ReadRequest) (MeterReads, error) {
		return readMeters(ctx, p, c, in)
	})}
	if p.Collector == nil {
		reads = operation.Lacking(reads, errNoReads)
	}
	again := []operation.Bound{operation.Bind(Recover, nil, func(ctx context.Context, c *operation.Call, in *account.ToSend) (SentAgain, error) {
		return sendAgain(ctx, p, c, in)
	})}
	if p.Concentrator == nil {
		again = operation.Lacking(again, errNoConcentrator)
	}
	return append(slices.Concat(system, both, reads, again, between), operation.Bind(Concentrators, nil, p.concentrators), operation.Bind(ClusterStatus, nil, r.cluster))
}

var (
	errNoSystem       = errors.New("this node is no metering data system: set metering.role to mds in its configuration, or ask a node with that role")
	errNoRole         = errors.New("this node takes no readings of meters: set metering.role to mds or concentrator in its configuration, or ask such a node")
	errNoReads        = errors.New("this node reads no meters: set metering.role, and list the meters in metering.reads")
	errNoConcentrator = errors.New("this node hands no readings to other systems: set metering.role to concentrator, and metering.concentrator.systems")
)
