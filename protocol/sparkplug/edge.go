package sparkplug

import (
	"time"

	"google.golang.org/protobuf/proto"

	"voltbus/protocol/sparkplug/payload"
)

// Value is a value that an edge node publishes.
type Value struct {
	Name    string
	Type    DataType
	Unit    string
	Value   any // as of SetValue; nil for none
	Quality Quality
	Time    time.Time
}

// Edge makes the messages of an edge node. It is used by one goroutine. The caller publishes them in the order in which
// they are made.
type Edge struct {
	seq   uint8
	birth uint64
}

// NewEdge returns an edge node whose next connection has a bdSeq.
func NewEdge(bdSeq uint64) *Edge { return &Edge{birth: bdSeq % 256} }

// Death is the payload of the will for the next connection: NDEATH (chapter 6.4.22).
func (e *Edge) Death() ([]byte, error) {
	return proto.Marshal(&payload.Payload{Metrics: []*payload.Metric{e.bdSeq()}})
}

func (e *Edge) bdSeq() *payload.Metric {
	name, code := bdSeq, uint32(Int64)
	return &payload.Metric{Name: &name, Datatype: &code, Value: &payload.Metric_LongValue{LongValue: e.birth}}
}

// Birth is the payload of NBIRTH, with all metrics. It begins the sequence numbers anew.
func (e *Edge) Birth(now time.Time, values []Value) ([]byte, error) {
	e.seq = 0
	rebirth, code := Rebirth, uint32(Boolean)
	list := []*payload.Metric{e.bdSeq(), {Name: &rebirth, Datatype: &code, Value: &payload.Metric_BooleanValue{}}}
	return e.message(now, list, values, true)
}

// Data is the payload of NDATA.
func (e *Edge) Data(now time.Time, values []Value) ([]byte, error) {
	return e.message(now, nil, values, false)
}

// Again says that the connection is over: the next one has another bdSeq.
func (e *Edge) Again() { e.birth = (e.birth + 1) % 256 }

func (e *Edge) message(now time.Time, list []*payload.Metric, values []Value, birth bool) ([]byte, error) {
	for i := range values {
		m, err := metricOf(&values[i], birth)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	seq := uint64(e.seq)
	e.seq++
	return proto.Marshal(&payload.Payload{Timestamp: milliseconds(now), Seq: &seq, Metrics: list})
}

func metricOf(v *Value, birth bool) (*payload.Metric, error) {
	name := v.Name
	m := &payload.Metric{Name: &name, Timestamp: milliseconds(v.Time)}
	if v.Value == nil {
		null, code := true, uint32(v.Type)
		m.IsNull, m.Datatype = &null, &code
	} else if err := SetValue(m, v.Type, v.Value); err != nil {
		return nil, err
	}
	var p payload.PropertySet
	if birth && v.Unit != "" {
		code := uint32(String)
		p.Keys, p.Values = append(p.Keys, "engUnit"), append(p.Values, &payload.PropertyValue{Type: &code, Value: &payload.PropertyValue_StringValue{StringValue: v.Unit}})
	}
	if v.Quality != Good {
		code, q := uint32(Int32), uint32(0)
		if v.Quality == Stale {
			q = qualityStale
		}
		p.Keys, p.Values = append(p.Keys, "Quality"), append(p.Values, &payload.PropertyValue{Type: &code, Value: &payload.PropertyValue_IntValue{IntValue: q}})
	}
	if len(p.Keys) > 0 {
		m.Properties = &p
	}
	return m, nil
}
