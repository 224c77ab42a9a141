package explain

import (
	"fmt"
	"strconv"
	"strings"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

const (
	maxHeaders = 500 // explained of a fragment
	maxObjects = 500 // explained of a header
	maxOctets  = 64  // shown of an object
)

// Fragment explains an application fragment.
func Fragment(octets []byte) Node {
	f, err := app.Parse(octets)
	if err != nil {
		return Node{Text: "APPLICATION " + err.Error(), Of: []Node{{Text: hex(octets)}}}
	}
	n := Node{Text: fmt.Sprintf("APPLICATION %v, %v, %d octets", f.Function, f.Control, len(octets))}
	if f.Function.Response() {
		n.add(fmt.Sprintf("IIN %v", f.IIN))
	}
	count := 0
	for h, err := range f.Headers() {
		if err != nil {
			n.add("! " + err.Error())
			break
		}
		if count++; count > maxHeaders {
			n.add("… more object headers")
			break
		}
		n.Of = append(n.Of, header(h))
	}
	return n
}

// header explains an object header with its objects.
func header(h app.Header) Node {
	n := Node{Text: fmt.Sprintf("%v %s, qualifier %v%s", h.Variation, h.Variation.Describe(), h.Qualifier, extent(h))}
	if !h.HasValues() && !h.Qualifier.Prefixed() {
		return n
	}
	count := 0
	more := func() bool {
		if count++; count > maxObjects {
			n.add("… more objects")
			return false
		}
		return true
	}
	for p := range h.Points() {
		if !more() {
			return n
		}
		n.add(point(h.Variation, p))
	}
	if count > 0 {
		return n
	}
	for o := range h.Objects() {
		if !more() {
			return n
		}
		n.add(fmt.Sprintf("[%d] %s", o.Index, raw(o)))
	}
	return n
}

// extent describes which objects a header names.
func extent(h app.Header) string {
	switch {
	case h.Qualifier.Ranged():
		return fmt.Sprintf(", index %d–%d", h.Start, h.Stop)
	case h.Count == 0:
		return ", all"
	}
	return fmt.Sprintf(", %d of them", h.Count)
}

// point explains a value.
func point(v object.Variation, p object.Point) string {
	text := fmt.Sprintf("[%d] %v", p.Index, p.Value)
	switch v.Kind() {
	case object.KindAnalogCommand, object.KindAnalogCommandEvent, object.KindBinaryCommandEvent:
		text += " " + p.Status.String()
	default:
		if v.Flagged() {
			text += " " + Flags(v.Kind(), p.Flags)
		}
	}
	if v.Timed() {
		text += " " + stamp(p.Time)
	}
	return text
}

func stamp(t object.Timestamp) string {
	at, usable := t.Time()
	switch {
	case t.Quality == object.TimeBaseless:
		return fmt.Sprintf("at +%d ms of an unknown time", t.Milliseconds)
	case !usable:
		return "at no time"
	}
	text := "at " + at.Format("2006-01-02T15:04:05.000Z")
	if t.Quality == object.TimeUnsynchronized {
		text += " (unsynchronized)"
	}
	return text
}

// raw explains an object that is not a point.
func raw(o object.Raw) string {
	if block, ok := o.CROB(); ok {
		return fmt.Sprintf("%v, count %d, on %v, off %v, %v", block.Code, block.Count, block.OnTime, block.OffTime, block.Status)
	}
	if t, ok := o.IndexedTime(); ok {
		return fmt.Sprintf("%s, then every %d of unit %d", stamp(t.Start), t.Interval, t.Unit)
	}
	if start, interval, ok := o.TimeInterval(); ok {
		return fmt.Sprintf("%s, then every %v", stamp(start), interval)
	}
	if t, ok := o.Time(); ok {
		return stamp(t)
	}
	if d, ok := o.Delay(); ok {
		return d.String()
	}
	if a, ok := o.Attribute(); ok {
		if a.Type == object.AttributeText {
			return quote(a.Data)
		}
		return fmt.Sprintf("type %d: %s", a.Type, hex(a.Data))
	}
	switch {
	case len(o.Data) == 0:
		return ""
	case o.Variation.Kind() == object.KindOctetString:
		return quote(o.Data)
	}
	return hex(o.Data)
}

func quote(octets []byte) string {
	if len(octets) > maxOctets {
		return strconv.QuoteToASCII(string(octets[:maxOctets])) + "…"
	}
	return strconv.QuoteToASCII(string(octets))
}

func hex(octets []byte) string {
	if len(octets) > maxOctets {
		return fmt.Sprintf("% X …", octets[:maxOctets])
	}
	return fmt.Sprintf("% X", octets)
}

// Flags names the quality flags of a point of a kind, such as "ONLINE|COMM_LOST".
func Flags(kind object.Kind, f object.Flags) string {
	names := [8]string{"ONLINE", "RESTART", "COMM_LOST", "REMOTE_FORCED", "LOCAL_FORCED", "BIT_5", "BIT_6", "BIT_7"}
	switch kind {
	case object.KindBinaryInput, object.KindDoubleBitInput:
		names[5] = "CHATTER_FILTER"
	case object.KindCounter, object.KindFrozenCounter:
		names[5], names[6] = "ROLLOVER", "DISCONTINUITY"
	case object.KindAnalogInput, object.KindFrozenAnalog, object.KindAnalogOutput:
		names[5], names[6] = "OVER_RANGE", "REFERENCE_ERR"
	default:
	}
	var set []string
	for i, name := range names {
		if f&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return "OFFLINE"
	}
	return strings.Join(set, "|")
}
