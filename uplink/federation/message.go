package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/wire"
)

// Method is the method that a parent calls on its child: a Query, answered with a Reply.
const Method = "history.below"

// Bounds of the queries to one child.
const (
	maxHops    = 16
	maxPoints  = 1000   // points of a query
	maxAsked   = 20_000 // points of one request
	maxSamples = 200_000
	maxTexts   = 2 << 20   // bytes of strings in one answer, which with so many samples still fits into a bus message
	maxGiven   = 1_000_000 // samples for one request
	givenTexts = 64 << 20  // bytes of strings for one request
	maxScan    = 3_000_000 // samples of the log examined for one query
	atOnce     = 8         // children at once
)

// part is the share of its time that a node gives its descendants, so that it can still answer itself.
const part = 0.8

// Query requests samples that the parent does not have.
type Query struct {
	Points []Wanted `json:"points"`
	To     int64    `json:"to,omitempty"`     // microseconds since 1970
	Before int64    `json:"before,omitempty"` // also return the last sample before From, if it is at most this many microseconds older
	Limit  int      `json:"limit,omitempty"`  // per point, if all are too many
	Newest bool     `json:"newest,omitempty"`
	Latest bool     `json:"latest,omitempty"` // only the newest sample of each, with no end
	Hops   int      `json:"hops"`             // levels that it may still descend
	Time   float64  `json:"time"`             // seconds that the answer may take
}

// Wanted is a point of a query, under the parent's name. Times are microseconds since 1970.
type Wanted struct {
	Point point.Path `json:"point"`
	From  int64      `json:"from"`
	Have  int64      `json:"have,omitempty"` // time of the newest sample stored at the parent; 0 for none
}

// Reply is the answer.
type Reply struct {
	Points  []PointReply   `json:"points"` // in the order requested
	Block   []byte         `json:"block"`  // see package wire; its points are indices in Points
	Missing string         `json:"missing,omitempty"`
	Sources []query.Source `json:"sources,omitempty"` // descendants of the child
	Rough   bool           `json:"rough,omitempty"`   // among unsent data, only samples newer than Have were searched
	Large   bool           `json:"large,omitempty"`   // it is too much for one answer, and this one is otherwise empty
}

// PointReply is a child's data about a point. Times are microseconds since 1970.
type PointReply struct {
	Unit      string `json:"unit,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Interval  int64  `json:"interval,omitempty"` // microseconds
	FirstSeen int64  `json:"first_seen,omitempty"`
	Since     int64  `json:"since,omitempty"`
	Removed   int64  `json:"removed,omitempty"`
	Cut       bool   `json:"cut,omitempty"` // the limit truncated its samples
	Unknown   bool   `json:"unknown,omitempty"`
	Refused   bool   `json:"refused,omitempty"`
}

var (
	errQuery = fmt.Errorf("asks for 1 to %d points, and gives a time of up to %v and up to %d hops", maxPoints, MaxTime, maxHops)
	errMuch  = fmt.Errorf("has more than %d samples, or %d MiB of texts, that are not stored here; ask for a shorter time, fewer points or a limit",
		maxGiven, givenTexts>>20)
	errLong   = fmt.Errorf("is asked for %d points at most; name fewer, or ask in pages", maxAsked)
	errAnswer = errors.New("its answer does not fit what it was asked for; is its version another one?")
)

func parseQuery(body []byte) (*Query, error) {
	const op = "federation.Answer"
	q := &Query{}
	if err := json.Unmarshal(body, q); err != nil {
		return nil, fault.E(op, fault.Invalid, "query", fmt.Errorf("%w: %w", errQuery, err))
	}
	if len(q.Points) == 0 || len(q.Points) > maxPoints || q.Hops < 0 || q.Hops > maxHops || q.Limit < 0 || q.Before < 0 ||
		!(q.Time > 0 && q.Time <= MaxTime.Seconds()) {
		return nil, fault.E(op, fault.Invalid, "query", errQuery)
	}
	for _, w := range q.Points {
		if err := w.Point.Validate(); err != nil {
			return nil, fault.E(op, fault.Invalid, "query", err)
		}
	}
	return q, nil
}

// pack encodes the samples of the points, in order, in the reply.
func (r *Reply) pack(e *wire.Encoder, samples [][]point.Sample) error {
	b := &point.Block{}
	for i, list := range samples {
		b.Points = append(b.Points, point.Path(strconv.Itoa(i)))
		for j := range list {
			b.Append(uint32(i), &list[j])
		}
	}
	var err error
	r.Block, err = e.AppendPacked(nil, b)
	return err
}

// unpack decodes the samples of the points, in the order requested. It fails with fault.Corrupt if a store
// could not hold them, or they are not in strict time order, which the following code relies on.
func (r *Reply) unpack(points []Wanted) ([][]point.Sample, error) {
	const op = "federation.Ask"
	b := &point.Block{}
	if err := new(wire.Decoder).DecodeBlock(r.Block, b); err != nil {
		return nil, err
	}
	if len(r.Points) != len(points) || len(b.Points) != len(points) || b.Len() > maxSamples {
		return nil, fault.E(op, fault.Corrupt, "reply", errAnswer)
	}
	b.Origin, b.First, b.Sequence = "reply", 0, 1 // an answer has no origin
	if err := store.CheckBlocks(op, []*point.Block{b}); err != nil {
		return nil, fault.E(op, fault.Corrupt, "reply", fmt.Errorf("%w: %w", errAnswer, err))
	}
	out := roomy(b, len(points))
	for i := range b.Len() {
		s := b.Sample(i)
		at := b.Point[i]
		s.Point = points[at].Point
		if n := len(out[at]); n > 0 && !out[at][n-1].Time.Before(s.Time) {
			return nil, fault.E(op, fault.Corrupt, "reply", errAnswer)
		}
		out[at] = append(out[at], s)
	}
	return out, nil
}

// roomy returns a list with capacity for the samples of each point of a block.
func roomy(b *point.Block, points int) [][]point.Sample {
	counts, out := make([]int, points), make([][]point.Sample, points)
	for _, at := range b.Point {
		counts[at]++
	}
	for i, n := range counts {
		if n > 0 {
			out[i] = make([]point.Sample, 0, n)
		}
	}
	return out
}
