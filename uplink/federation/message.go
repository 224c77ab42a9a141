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

// Method is what a parent asks of its child: a Query, answered with a Reply.
const Method = "history.below"

// Bounds of what is asked of one child.
const (
	maxHops    = 16
	maxPoints  = 1000   // of a query
	maxAsked   = 20_000 // points of one question
	maxSamples = 200_000
	maxTexts   = 2 << 20   // bytes of texts of one answer, which with so many samples is a message that the bus takes
	maxGiven   = 1_000_000 // samples for one question
	givenTexts = 64 << 20  // bytes of texts for one question
	maxScan    = 3_000_000 // samples of the log that are looked at for one query
	atOnce     = 8         // children
)

// part is how much of its time a node gives those below it, so that it can still answer itself.
const part = 0.8

// Query asks for samples that the parent does not have.
type Query struct {
	Points []Wanted `json:"points"`
	To     int64    `json:"to,omitempty"`     // microseconds since 1970
	Before int64    `json:"before,omitempty"` // the last sample before From is wanted, too, if it is at most so many microseconds older
	Limit  int      `json:"limit,omitempty"`  // of each point, if all are too many
	Newest bool     `json:"newest,omitempty"`
	Latest bool     `json:"latest,omitempty"` // only the newest sample of each, without an end
	Hops   int      `json:"hops"`             // that it may still go down
	Time   float64  `json:"time"`             // seconds that the answer may take
}

// Wanted is a point of a query, as the parent names it. Times are microseconds since 1970.
type Wanted struct {
	Point point.Path `json:"point"`
	From  int64      `json:"from"`
	Have  int64      `json:"have,omitempty"` // of the newest sample that the parent has stored; 0 for none
}

// Reply is the answer.
type Reply struct {
	Points  []PointReply   `json:"points"` // in the order asked
	Block   []byte         `json:"block"`  // see package wire; its points are places in Points
	Missing string         `json:"missing,omitempty"`
	Sources []query.Source `json:"sources,omitempty"` // below the child
	Rough   bool           `json:"rough,omitempty"`   // of what is not sent yet only what is newer than Have was looked for
	Large   bool           `json:"large,omitempty"`   // it is too much for one answer, and there is nothing else in this one
}

// PointReply is what a child says of a point. Times are microseconds since 1970.
type PointReply struct {
	Unit      string `json:"unit,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Interval  int64  `json:"interval,omitempty"` // microseconds
	FirstSeen int64  `json:"first_seen,omitempty"`
	Since     int64  `json:"since,omitempty"`
	Removed   int64  `json:"removed,omitempty"`
	Cut       bool   `json:"cut,omitempty"` // the limit cut its samples
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

// pack writes the samples of the points, in their order, into the reply.
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

// unpack reads the samples of the points, in the order asked. It fails with fault.Corrupt if they are none
// that a store could hold, or not in the order of time, each time once: what follows relies on it.
func (r *Reply) unpack(points []Wanted) ([][]point.Sample, error) {
	const op = "federation.Ask"
	b := &point.Block{}
	if err := new(wire.Decoder).DecodeBlock(r.Block, b); err != nil {
		return nil, err
	}
	if len(r.Points) != len(points) || len(b.Points) != len(points) || b.Len() > maxSamples {
		return nil, fault.E(op, fault.Corrupt, "reply", errAnswer)
	}
	b.Origin, b.First, b.Sequence = "reply", 0, 1 // an answer has none
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

// roomy returns a list for the samples of each point of a block, as long as it gets.
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
