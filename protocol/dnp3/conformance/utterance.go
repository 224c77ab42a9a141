package conformance

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/transport"
)

// utterance is a link frame without user octets or a fragment that an outstation sent.
type utterance struct {
	link     link.Function // if it is a frame
	fragment []byte
}

// ear finds utterances in octets.
type ear struct {
	parser link.Parser
	room   [link.MaxPayload]byte
	joiner transport.Reassembler
	rest   []byte
}

func newEar() *ear {
	e := &ear{}
	e.joiner.Lend(make([]byte, 0, maxFragment))
	return e
}

const maxFragment = 4096

func (e *ear) hear(octets []byte) []utterance {
	e.rest = append(e.rest, octets...)
	var all []utterance
	for {
		frame, n, ok := e.parser.Next(e.rest, &e.room)
		e.rest = e.rest[n:]
		if !ok {
			return all
		}
		if !frame.Control.Function().UserData() {
			all = append(all, utterance{link: frame.Control.Function()})
			continue
		}
		if fragment, complete := e.joiner.Add(frame.Payload); complete {
			all = append(all, utterance{fragment: slices.Clone(fragment)})
		}
	}
}

// parse returns the fragment, if it is one that can be read.
func (u utterance) parse() (app.Fragment, bool) {
	if u.fragment == nil {
		return app.Fragment{}, false
	}
	f, err := app.Parse(u.fragment)
	return f, err == nil
}

// unsolicited reports whether it is a report.
func (u utterance) unsolicited() bool {
	f, ok := u.parse()
	return ok && f.Function == app.FuncUnsolicitedResponse
}

// String spells what is compared: function, control, indications, and the objects by
// variation and index, with their status if they are commands. How they share headers,
// and their values, are left out.
func (u utterance) String() string {
	f, ok := u.parse()
	switch {
	case u.fragment == nil:
		return u.link.String()
	case !ok:
		return fmt.Sprintf("unreadable % X", u.fragment)
	}
	text := fmt.Sprintf("%v %v %v:", f.Function, f.Control, f.IIN)
	var ordered, static []string
	for h, err := range f.Headers() {
		switch {
		case err != nil:
			return text + " " + err.Error()
		case current(h.Variation.Kind()) && !h.Variation.Event():
			static = append(static, spell(h)...)
		default:
			ordered = append(ordered, spell(h)...)
		}
	}
	slices.Sort(static) // the order of current values is free
	return text + strings.Join(append(ordered, static...), " ")
}

// spell returns the objects of a header.
func spell(h app.Header) []string {
	var all []string
	for p := range h.Points() {
		text := fmt.Sprintf(" %v[%d]", h.Variation, p.Index)
		if h.Variation.Kind() == object.KindAnalogCommand {
			text += fmt.Sprintf("=%v", p.Status)
		}
		all = append(all, text)
	}
	if len(all) > 0 {
		return all
	}
	for o := range h.Objects() {
		text := fmt.Sprintf(" %v[%d]", h.Variation, o.Index)
		if c, ok := o.CROB(); ok {
			text += fmt.Sprintf("=%v", c.Status)
		}
		all = append(all, text)
	}
	return all
}

// current reports whether objects of a kind are values of points, rather than commands,
// times and the like.
func current(k object.Kind) bool {
	switch k {
	case object.KindBinaryInput, object.KindDoubleBitInput, object.KindBinaryOutput, object.KindCounter,
		object.KindFrozenCounter, object.KindAnalogInput, object.KindFrozenAnalog, object.KindAnalogOutput:
		return true
	default:
		return false
	}
}
