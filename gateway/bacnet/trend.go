package bacnet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
)

const (
	recordSize = 26               // bytes of a record at most
	portion    = 1000             // records in one answer at most
	newStart   = 10 * time.Minute // after which the node is asked again since when it has samples: it forgets old ones
)

// trendLog is a trend log (clause 12.25) that is computed from the history: one record for each interval, which holds the last value in it.
// Its time is the end of the interval, in the zone of this machine. The number of a record is that of its interval since 1970, so it is the
// same whenever the log is read, also after a restart.
type trendLog struct {
	id       encoding.ObjectID
	name     string
	of       *object
	device   encoding.ObjectID
	node     Node
	interval time.Duration
	records  int

	mu    sync.Mutex
	start int64     // number of the first record; 0: the node has no sample
	asked time.Time // when the start was asked for
}

// ID identifies the log.
func (l *trendLog) ID() encoding.ObjectID { return l.id }

// Name returns the name of the log.
func (l *trendLog) Name() string { return l.name }

var trendTable = []enum.Property{
	enum.PropertyDescription, enum.PropertyEnable, enum.PropertyStopWhenFull, enum.PropertyBufferSize, enum.PropertyLogBuffer,
	enum.PropertyRecordCount, enum.PropertyTotalRecordCount, enum.PropertyEventState, enum.PropertyStatusFlags, enum.PropertyReliability,
	enum.PropertyLoggingType, enum.PropertyLogDeviceObjectProperty, enum.PropertyLogInterval,
}

// Properties lists the properties of the log.
func (l *trendLog) Properties() []enum.Property { return trendTable }

// Read returns a property. The records are read by ranges only.
func (l *trendLog) Read(p enum.Property) (server.Value, error) {
	unsigned := func(n int64) (server.Value, error) { return server.Single(encoding.Unsigned(uint64(n))), nil }
	switch p {
	case enum.PropertyDescription:
		return server.Single(encoding.Text("history of " + string(l.of.path))), nil
	case enum.PropertyEnable:
		return server.Single(encoding.Boolean(true)), nil
	case enum.PropertyStopWhenFull:
		return server.Single(encoding.Boolean(false)), nil
	case enum.PropertyBufferSize:
		return unsigned(int64(l.records))
	case enum.PropertyRecordCount:
		first, last := l.span(time.Now())
		return unsigned(last - first + 1)
	case enum.PropertyTotalRecordCount:
		_, last := l.span(time.Now())
		return unsigned(max(last, 0))
	case enum.PropertyEventState:
		return server.Single(encoding.Enumerated(enum.EventNormal)), nil
	case enum.PropertyStatusFlags:
		return server.Single(encoding.BitStringValue(constructed.StatusFlags{}.Bits())), nil
	case enum.PropertyReliability:
		return server.Single(encoding.Enumerated(enum.NoFaultDetected)), nil
	case enum.PropertyLoggingType:
		return server.Single(encoding.Enumerated(uint8(0))), nil // polled
	case enum.PropertyLogInterval:
		return unsigned(int64(l.interval / (10 * time.Millisecond)))
	case enum.PropertyLogDeviceObjectProperty:
		return server.Encoded(constructed.ObjectPropertyReference{
			Object: l.of.point.ID(), Property: enum.PropertyPresentValue, Device: l.device, Remote: true,
		}.Append(nil)), nil
	case enum.PropertyLogBuffer:
		return server.Value{}, service.Error{Class: enum.ClassProperty, Code: enum.CodeReadAccessDenied}
	default:
		return server.Value{}, service.Error{Class: enum.ClassProperty, Code: enum.CodeUnknownProperty}
	}
}

// Write refuses: the history is not changed this way.
func (l *trendLog) Write(context.Context, server.Write) error { return denied() }

// span returns the numbers of the first and the last record; last is below first if there is none.
func (l *trendLog) span(now time.Time) (first, last int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last = now.UnixNano() / int64(l.interval)
	if l.start == 0 {
		return last + 1, last
	}
	return max(l.start, last-int64(l.records)+1), last
}

// find asks the node since when it has samples of the point.
func (l *trendLog) find(ctx context.Context) error {
	l.mu.Lock()
	known := l.start != 0 && time.Since(l.asked) < newStart
	l.mu.Unlock()
	if known {
		return nil
	}
	got, err := l.node.Range(ctx, client.Span{Points: []string{string(l.of.path)}, From: "1970-01-01T00:00:01Z", To: "now"}, 1, false)
	if err != nil {
		return fmt.Errorf("ask for the first sample of %s: %w", l.of.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.start = time.Now(), 0
	for i := range got.Series {
		if s := got.Series[i].Samples; len(s) > 0 {
			l.start = s[0].Time().UnixNano()/int64(l.interval) + 1
		}
	}
	return nil
}

// findLogs asks for the beginnings of all logs, so that their counts are right.
func (g *Gateway) findLogs(ctx context.Context) {
	for _, o := range g.objects {
		if o.log == nil {
			continue
		}
		if err := o.log.find(ctx); err != nil && ctx.Err() != nil {
			return
		}
	}
}

// ReadRange returns records (clause 15.8).
func (l *trendLog) ReadRange(ctx context.Context, r service.ReadRangeRequest, room int) (service.ReadRangeAck, error) {
	none := service.ReadRangeAck{Object: r.Object, Property: r.Property}
	switch index := (constructed.Index{}); {
	case r.Property != enum.PropertyLogBuffer && slices.Contains(trendTable, r.Property):
		return none, service.Error{Class: enum.ClassProperty, Code: enum.CodePropertyIsNotAList}
	case r.Property != enum.PropertyLogBuffer:
		return none, service.Error{Class: enum.ClassProperty, Code: enum.CodeUnknownProperty}
	case r.Index != index:
		return none, service.Error{Class: enum.ClassProperty, Code: enum.CodePropertyIsNotAnArray}
	}
	if err := l.find(ctx); err != nil {
		return none, inWords(err)
	}
	first, last := l.span(time.Now())
	from, to, err := l.wanted(r, first, last)
	if err != nil || from > to {
		return none, err
	}
	ack := none
	if most := int64(max(min(room/recordSize, portion), 1)); to-from+1 > most {
		ack.More = true
		if r.Count < 0 { // those next to the start count more
			from = to - most + 1
		} else {
			to = from + most - 1
		}
	}
	ack.First, ack.Last, ack.Count = from == first, to == last, uint32(to-from+1)
	if r.By == service.BySequence || r.By == service.ByTime {
		ack.HasSequence, ack.Sequence = true, uint32(from)
	}
	ack.Items, err = l.read(ctx, from, to)
	return ack, err
}

// wanted returns which records a request is for: from is above to if there is none.
func (l *trendLog) wanted(r service.ReadRangeRequest, first, last int64) (from, to int64, err error) {
	count := int64(r.Count)
	if r.By != service.AllItems && count == 0 {
		return 0, 0, service.Error{Class: enum.ClassServices, Code: enum.CodeInconsistentParameters}
	}
	var at int64 // the record at the start
	switch r.By {
	case service.AllItems:
		return first, last, nil
	case service.ByPosition:
		at = first + int64(r.Start) - 1
	case service.BySequence:
		at = int64(r.Start)
	case service.ByTime:
		t, known := r.Time.In(time.Local) //nolint:gosmopolitan // records are in local time
		if !known {
			return 0, 0, service.Error{Class: enum.ClassServices, Code: enum.CodeInconsistentParameters}
		}
		at = t.UnixNano()/int64(l.interval) + 1 // the first record later than the time
		if count < 0 {
			at = (t.UnixNano() - 1) / int64(l.interval) // the last one before it
		}
		if count > 0 {
			at = max(at, first)
		} else {
			at = min(at, last)
		}
	}
	if at < first || at > last {
		return 1, 0, nil
	}
	if count > 0 {
		return at, min(at+count-1, last), nil
	}
	return max(at+count+1, first), at, nil
}

// read returns records, encoded.
func (l *trendLog) read(ctx context.Context, from, to int64) (encoding.Any, error) {
	at := func(n int64) time.Time { return time.Unix(0, n*int64(l.interval)).UTC() }
	got, err := l.node.Aggregate(ctx, client.Span{
		Points: []string{string(l.of.path)}, From: at(from - 1).Format(time.RFC3339Nano), To: at(to).Format(time.RFC3339Nano),
	}, client.Steps{Step: fmt.Sprintf("%ds", int64(l.interval/time.Second))})
	if err != nil {
		return nil, inWords(err)
	}
	buckets := make(map[int64]*answer.Bucket)
	for i := range got.Series {
		for j := range got.Series[i].Buckets {
			b := &got.Series[i].Buckets[j]
			buckets[b.Start.UnixNano()/int64(l.interval)+1] = b
		}
	}
	var items encoding.Any
	for n := from; n <= to; n++ {
		items = l.record(at(n), buckets[n]).Append(items)
	}
	return items, nil
}

// record returns the record of an interval: a failure if there is no value.
func (l *trendLog) record(at time.Time, b *answer.Bucket) constructed.LogRecord {
	local := at.Local() //nolint:gosmopolitan // records are in local time (clause 12.25.14)
	r := constructed.LogRecord{
		Time:   encoding.DateTime{Date: encoding.DateOf(local), Time: encoding.TimeOf(local)},
		Choice: constructed.LogFailure, Class: enum.ClassDevice, Code: enum.CodeOperationalProblem,
	}
	if b == nil || b.Last == nil {
		return r
	}
	v, ok := l.of.numberToObject(*b.Last)
	if !ok {
		r.Class, r.Code = enum.ClassProperty, enum.CodeValueOutOfRange
		return r
	}
	r.Value, r.HasStatus = v, true
	switch l.of.family {
	case binary:
		r.Choice = constructed.LogEnumerated
	case multiState:
		r.Choice = constructed.LogUnsigned
	default:
		r.Choice = constructed.LogReal
	}
	return r
}
