package dnp3tool

import (
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// Reading is a value from an outstation.
type Reading struct {
	Variation object.Variation
	Point     object.Point
	text      string // for objects other than points: an octet string, an attribute
	info      master.Info
}

// Readings passes incoming values on. It implements master.Handler.
type Readings struct {
	Take func(Reading)
	info master.Info
}

// Begin implements master.Handler.
func (r *Readings) Begin(i master.Info) { r.info = i }

// End implements master.Handler.
func (*Readings) End(master.Info) {}

// Header implements master.Handler.
func (r *Readings) Header(h app.Header) {
	for p := range h.Points() {
		r.Take(Reading{Variation: h.Variation, Point: p, info: r.info})
	}
	switch h.Variation.Kind() {
	case object.KindOctetString, object.KindAttribute:
		for o := range h.Objects() {
			text := o.Data
			if a, ok := o.Attribute(); ok {
				text = a.Data
			}
			r.Take(Reading{Variation: h.Variation, Point: object.Point{Index: o.Index}, text: fmt.Sprintf("%q", text), info: r.info})
		}
	default:
	}
}
