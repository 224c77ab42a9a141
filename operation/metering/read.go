package metering

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter/collection"
	"voltbus/operation"
)

// Collector reads meters.
type Collector interface {
	ReadNow(ctx context.Context, sender string, meters []string) ([]collection.Outcome, error)
}

// ReadRequest requests reads of meters now.
type ReadRequest struct {
	Meters      []string `json:"meters" api:"required" doc:"The ids of the meters, at most 1,000"`
	Timeout     int      `json:"timeout" api:"min=1,max=120,default=30" doc:"Seconds after which meters that did not answer count as timed out"`
	Correlation string   `json:"correlation" api:"max=64" doc:"Comes back with the answer and stands in the audit log; one is made if left out"`
}

// mostRead is the maximum number of meters read at once.
const mostRead = 1000

// ReadMeters is the operation that reads meters on demand.
var ReadMeters = operation.Declare[ReadRequest, MeterReads](operation.Spec{
	Name: "meter.read", ID: "readMeters", HTTP: "POST /metering/read", Role: identity.Operator, Remote: true, Audited: true, Body: 128 << 10, Waits: true, Wait: 150 * time.Second,
	Summary: "Read meters now, from the points that metering.reads maps to their channels", Result: "An outcome for each channel",
	Doc: "Registers that answer become readings, which are on disk when the answer comes. Meters on one line are read one after another, all lines at once.",
})

func readMeters(ctx context.Context, p *Part, c *operation.Call, in *ReadRequest) (MeterReads, error) {
	const op = "meter.read"
	if len(in.Meters) == 0 || len(in.Meters) > mostRead {
		return MeterReads{}, invalid(op, "meters", errors.New("write 1 to 1,000 ids of meters"))
	}
	out := MeterReads{Correlation: cmp.Or(in.Correlation, rand.Text()), Started: p.Now().UTC(), Outcomes: []MeterRead{}}
	c.Did(in.Meters[0], map[string]any{"meters": len(in.Meters), "correlation": out.Correlation})
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Timeout)*time.Second)
	defer cancel()
	list, err := p.Collector.ReadNow(ctx, c.Name, in.Meters)
	if err != nil {
		return MeterReads{}, fault.E(op, fault.KindOf(err), "", err)
	}
	for i := range list {
		o := &list[i]
		r := MeterRead{Meter: o.Meter, Channel: o.Channel, Outcome: o.Result, Reason: o.Reason, Recorded: o.Recorded}
		if o.Result == collection.Answered {
			r.Value, r.At = &o.Value, &o.At
		}
		out.Outcomes = append(out.Outcomes, r)
	}
	return out, nil
}

// MeterReads are the outcomes of a read on demand.
type MeterReads struct {
	Correlation string      `json:"correlation" doc:"As it was given, or made"`
	Started     time.Time   `json:"started"`
	Outcomes    []MeterRead `json:"outcomes" doc:"In the order of the meters"`
}

// MeterRead is the outcome of reading a channel.
type MeterRead struct {
	Meter    string     `json:"meter"`
	Channel  int        `json:"channel,omitempty"`
	Outcome  string     `json:"outcome" api:"one-of=answered|timed-out|unreachable|refused|unknown|failed" doc:"unknown: no point is mapped to the meter"`
	Reason   string     `json:"reason,omitempty" doc:"Why it did not answer, or its value is no reading"`
	Value    *float64   `json:"value,omitempty"`
	At       *time.Time `json:"at,omitempty" doc:"When it had the value"`
	Recorded bool       `json:"recorded" doc:"Whether the value is a reading now"`
}
