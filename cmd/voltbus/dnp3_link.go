package main

import (
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// reading is a value that an outstation gave.
type reading struct {
	variation object.Variation
	point     object.Point
	text      string // of what is no point: an octet string, an attribute
	info      master.Info
}

// readings hands on what arrives. It implements master.Handler.
type readings struct {
	take func(reading)
	info master.Info
}

func (r *readings) Begin(i master.Info) { r.info = i }
func (*readings) End(master.Info)       {}

func (r *readings) Header(h app.Header) {
	for p := range h.Points() {
		r.take(reading{variation: h.Variation, point: p, info: r.info})
	}
	switch h.Variation.Kind() {
	case object.KindOctetString, object.KindAttribute:
		for o := range h.Objects() {
			text := o.Data
			if a, ok := o.Attribute(); ok {
				text = a.Data
			}
			r.take(reading{variation: h.Variation, point: object.Point{Index: o.Index}, text: fmt.Sprintf("%q", text), info: r.info})
		}
	default:
	}
}
