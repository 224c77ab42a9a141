// Package survey finds out which points a BACnet device has: its objects with a present value, how they are called,
// and what a registry must say to have them.
package survey

import (
	"context"
	"strconv"
	"strings"

	"voltbus/driver/bacnet/pointlist"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// maxObjects bounds the objects of one device.
const maxObjects = 20_000

// Point is a point that a device was found to have.
type Point struct {
	Item  pointlist.Item
	Entry map[string]string // what the registry says, by column
	Value encoding.Any      // the present value; nil if it cannot be read
}

// Columns are those of a registry that is made of points, in order.
var Columns = []string{"name", "object", "type", "states", "unit", "writable", "priority", "description"}

// Device is what a device says of itself.
type Device struct {
	Name, Vendor, Model string
}

// Describe asks a device what it is. What it does not say is empty; the error is that of the way to it.
func Describe(ctx context.Context, d client.Remote) (Device, error) {
	results, err := d.Read(ctx, properties(d.ID(), enum.PropertyObjectName, enum.PropertyVendorName, enum.PropertyModelName))
	if err != nil {
		return Device{}, err
	}
	return Device{text(results[0]), text(results[1]), text(results[2])}, nil
}

// Points asks a device for its objects and returns those that have a present value, in the order of the device's
// list. Names are made readable; without the name of the device before them.
func Points(ctx context.Context, d client.Remote, deviceName string) ([]Point, error) {
	list, err := d.ReadArray(ctx, client.Property{Object: d.ID(), Property: enum.PropertyObjectList})
	if err != nil {
		return nil, err
	}
	var asked []object
	var wanted []client.Property
	for _, v := range list[:min(len(list), maxObjects)] {
		id := v.ObjectID()
		if v.Kind() != encoding.KindObjectID || passive(id.Type) {
			continue
		}
		o := object{id: id, first: len(wanted), properties: properties(id, questions(id.Type)...)}
		wanted = append(wanted, o.properties...)
		asked = append(asked, o)
	}
	results, err := d.Read(ctx, wanted)
	if err != nil {
		return nil, err
	}
	namer := pointlist.Namer{Prefix: deviceName}
	var points []Point
	for i := range asked {
		o := &asked[i]
		o.results = results[o.first : o.first+len(o.properties)]
		if _, has := o.get(enum.PropertyPresentValue); !has {
			continue
		}
		points = append(points, o.point(&namer, o.states(ctx, d)))
	}
	return points, nil
}

// object is an object of a device with the answers about it.
type object struct {
	id         encoding.ObjectID
	first      int // of its questions among all
	properties []client.Property
	results    []client.Result
}

// passive reports whether objects of a type have no present value.
func passive(t enum.ObjectType) bool {
	switch t {
	case enum.Device, enum.File, enum.NotificationClass, enum.TrendLog, enum.TrendLogMultiple, enum.EventLog,
		enum.EventEnrollment, enum.Program, enum.StructuredView, enum.NetworkPort, enum.NotificationForwarder, enum.AuditLog, enum.AuditReporter:
		return true
	default:
		return false
	}
}

// questions are what is asked about objects of a type.
func questions(t enum.ObjectType) []enum.Property {
	ask := []enum.Property{enum.PropertyObjectName, enum.PropertyDescription, enum.PropertyPresentValue}
	switch t {
	case enum.AnalogInput, enum.AnalogOutput, enum.AnalogValue, enum.LargeAnalogValue, enum.IntegerValue, enum.PositiveIntegerValue, enum.Accumulator, enum.PulseConverter:
		ask = append(ask, enum.PropertyUnits)
	case enum.BinaryInput, enum.BinaryOutput, enum.BinaryValue:
		ask = append(ask, enum.PropertyInactiveText, enum.PropertyActiveText)
	default:
	}
	switch t {
	case enum.AnalogInput, enum.BinaryInput, enum.MultiStateInput, enum.Accumulator:
		return ask
	default:
		return append(ask, enum.PropertyRelinquishDefault) // it is there with a priority array (clause 19.2)
	}
}

func properties(id encoding.ObjectID, list ...enum.Property) []client.Property {
	out := make([]client.Property, len(list))
	for i, p := range list {
		out[i] = client.Property{Object: id, Property: p}
	}
	return out
}

// get returns a value that is there.
func (o *object) get(p enum.Property) (encoding.Any, bool) {
	for i := range o.properties {
		if o.properties[i].Property == p {
			return o.results[i].Value, o.results[i].Err == nil && o.results[i].Value != nil
		}
	}
	return nil, false
}

func (o *object) text(p enum.Property) string {
	data, _ := o.get(p)
	return text(client.Result{Value: data})
}

func text(r client.Result) string {
	if r.Err != nil || r.Value == nil {
		return ""
	}
	v, err := r.Value.One()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(v.Text())
}

// States asks a device for the texts of the states of a binary or multi-state object; nil if it has none.
func States(ctx context.Context, d client.Remote, id encoding.ObjectID) []string {
	if !isBinary(id.Type) {
		return stateTexts(ctx, d, id)
	}
	results, err := d.Read(ctx, properties(id, enum.PropertyInactiveText, enum.PropertyActiveText))
	if err != nil {
		return nil
	}
	return binaryStates(text(results[0]), text(results[1]))
}

func isBinary(t enum.ObjectType) bool {
	return t == enum.BinaryInput || t == enum.BinaryOutput || t == enum.BinaryValue
}

// binaryStates are the texts of a binary object, if it has both.
func binaryStates(off, on string) []string {
	if off == "" || on == "" {
		return nil
	}
	return []string{oneState(off), oneState(on)}
}

// stateTexts asks for the texts of a multi-state object.
func stateTexts(ctx context.Context, d client.Remote, id encoding.ObjectID) []string {
	switch id.Type {
	case enum.MultiStateInput, enum.MultiStateOutput, enum.MultiStateValue:
	default:
		return nil
	}
	values, err := d.ReadArray(ctx, client.Property{Object: id, Property: enum.PropertyStateText})
	if err != nil {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = oneState(v.Text())
	}
	return texts
}

// oneState makes a text of a state one of a list.
func oneState(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "|", "/") }

// states returns the texts of the states of an object.
func (o *object) states(ctx context.Context, d client.Remote) []string {
	if isBinary(o.id.Type) {
		return binaryStates(o.text(enum.PropertyInactiveText), o.text(enum.PropertyActiveText))
	}
	return stateTexts(ctx, d, o.id)
}

// point makes a point of an object.
func (o *object) point(namer *pointlist.Namer, states []string) Point {
	_, commanded := o.get(enum.PropertyRelinquishDefault)
	entry := map[string]string{
		"name": namer.Name(o.id, o.text(enum.PropertyObjectName)), "object": o.id.String(),
		"states": strings.Join(states, "|"), "description": o.text(enum.PropertyDescription),
	}
	if data, has := o.get(enum.PropertyUnits); has {
		if v, err := data.One(); err == nil {
			entry["unit"] = pointlist.UnitText(enum.Unit(v.Uint()))
		}
	}
	if commanded {
		entry["writable"], entry["priority"] = "true", strconv.Itoa(constructed.Priorities)
	}
	value, _ := o.get(enum.PropertyPresentValue)
	item := pointlist.ItemOf(entry)
	if v, ok := item.Decode(value); ok && item.Kind == point.None { // what only the device knows is written down
		entry["type"] = v.Kind().String()
	}
	for column, cell := range entry {
		if cell == "" {
			delete(entry, column)
		}
	}
	return Point{Item: pointlist.ItemOf(entry), Entry: entry, Value: value}
}
