package application

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// request is the payload of a message that asks for a command.
type request struct {
	Value   *float64 `json:"value"`
	Lease   float64  `json:"lease"` // seconds; 0 for the longest
	ID      string   `json:"id"`
	Release bool     `json:"release"` // gives the point back
}

// Why requests are refused.
const (
	whyStranger = "may not publish to this topic: only the account of an application asks, below its own name"
	whyRetained = "is retained; a command is for now, so publish it without retain"
	whyWill     = "is a will; a command is asked for by a client that is there"
	whyBusy     = "comes while many others wait; wait for their answers"
	whyShape    = `is no request; write such as {"value": 21.5, "lease": 600, "id": "a-1"}, or {"release": true}`
)

const maxID = 64

// parse reads a request, or says why it is none.
func parse(payload []byte) (r request, why string) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return request{}, whyShape
	}
	if _, err := d.Token(); err != io.EOF {
		return request{}, whyShape
	}
	switch {
	case r.Release == (r.Value != nil):
		return request{}, whyShape
	case len(r.ID) > maxID:
		return request{}, fmt.Sprintf("has an id of %d bytes; write at most %d", len(r.ID), maxID)
	}
	return r, ""
}

// within says why a value or lease is out of bounds, "" if it is not.
func (o *order) within(r *request) string {
	longest := o.Lease.Seconds()
	switch v := *r.Value; {
	case math.IsNaN(v) || v < *o.Min || v > *o.Max:
		return fmt.Sprintf("asks for %v, which is not from %v to %v", v, *o.Min, *o.Max)
	case !(r.Lease >= 0 && r.Lease <= longest):
		return fmt.Sprintf("asks for a lease of %v seconds, and %v is the longest", r.Lease, longest)
	}
	return ""
}

// tooSoon says that a request has to wait.
func tooSoon(every, wait time.Duration) string {
	return fmt.Sprintf("comes too soon: one is carried out every %v; wait %v", every, wait.Round(time.Millisecond))
}

// tooFar says that a value is too far from the present one, "" if it is not.
func (o *order) tooFar(present, value float64) string {
	if d := math.Abs(value - present); !(d <= o.Step) {
		return fmt.Sprintf("asks for %v, and the point is at %v: the largest step is %v", value, present, o.Step)
	}
	return ""
}
