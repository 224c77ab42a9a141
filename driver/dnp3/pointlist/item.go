package pointlist

import (
	"math"
	"strconv"
	"time"

	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// Item is one point of the registry, checked.
type Item struct {
	Name        string
	Path        point.Path
	Kind        object.Kind
	Index       uint32
	variation   uint8 // of present values; 0 for the device's choice
	scale       float64
	offset      float64
	unit        string
	description string
	tags        map[string]string
	Writable    bool
	operate     operation
	presets     registry.Presets
}

// operation is how a point is operated.
type operation struct {
	how     string // sbo, direct, no_answer
	control string // latch, pulse, trip_close
	count   uint8
	on, off time.Duration
}

// The ways to give a command.
const (
	OperateSBO      = "sbo"
	OperateDirect   = "direct"
	OperateNoAnswer = "no_answer"
)

// The ways to switch a binary output.
const (
	controlLatch     = "latch"
	controlPulse     = "pulse"
	controlTripClose = "trip_close"
)

func (t *Item) scaled() bool { return t.scale != 1 || t.offset != 0 }

// Variation returns the variation in which the point's present value is requested.
func (t *Item) Variation() object.Variation {
	if t.Kind == object.KindOctetString {
		return object.Of(typeOf(t.Kind).group, 0) // its variation is its length
	}
	return object.Of(typeOf(t.Kind).group, t.variation)
}

// Rough reports whether a variation has whole numbers although the registry names one with fractions: in a read by class
// the device chooses, and many choose whole numbers.
func (t *Item) Rough(got object.Variation) bool { return fractional(t.Variation()) && !fractional(got) }

// Whole reports whether a value received as a whole number may be the known one, truncated or rounded.
func (t *Item) Whole(known, got point.Value) bool {
	a, knows := known.Number()
	b, came := got.Number()
	a, b = (a-t.offset)/t.scale, (b-t.offset)/t.scale
	return knows && came && (math.Abs(math.Trunc(a)-b) < almost || math.Abs(math.Round(a)-b) < almost)
}

// fractional reports whether present values of a variation are floating-point numbers.
func fractional(v object.Variation) bool {
	return v == object.G30V5 || v == object.G30V6 || v == object.G31V7 || v == object.G31V8 || v == object.G40V3 || v == object.G40V4
}

// before reports whether the other point continues a range after this one.
func (t *Item) before(other *Item) bool {
	return t.Variation() == other.Variation() && t.Index+1 == other.Index
}

// Info describes the point to the platform.
func (t *Item) Info() point.Info {
	kind := typeOf(t.Kind).values
	if kind == point.Int && t.scaled() {
		kind = point.Float
	}
	return point.Info{
		Path: t.Path, Kind: kind, Unit: t.unit, Description: t.description, Writable: t.Writable, Tags: t.tags,
		Default: t.presets.Default, Min: t.presets.Min, Max: t.presets.Max,
	}
}

// NewItem returns a point found on a device without configuration, named after its type and index.
func NewItem(kind object.Kind, index uint32) Item {
	name := TypeName(kind) + "_" + strconv.FormatUint(uint64(index), 10)
	return Item{Name: name, Path: point.Path(name), Kind: kind, Index: index, scale: 1}
}

// Group returns the number of the object group of the point's present values.
func (t *Item) Group() uint8 { return typeOf(t.Kind).group }
