package soap

import (
	"strings"

	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/message"
)

// EventAction is the SOAPAction of a bulk of events.
const EventAction = Namespace + "/RecordEvents"

// eventField returns where a field of an event belongs.
func eventField(t *message.EventText, name string) *string {
	switch name {
	case "meter":
		return &t.Meter
	case "at":
		return &t.At
	case "kind":
		return &t.Kind
	case "code":
		return &t.Code
	case "severity":
		return &t.Severity
	case "detail":
		return &t.Detail
	}
	return nil
}

// events reads events, whose fields are attributes.
func (d *decoder) events() error {
	for {
		end, err := d.start()
		if end || err != nil {
			return err
		}
		if name := d.xml.Name(); name != (xmlpull.Name{Space: Namespace, Local: "event"}) {
			return d.xml.Problem("element %s where event is expected", name.Local)
		}
		var t message.EventText
		for _, a := range d.xml.Attrs() {
			to := eventField(&t, a.Name.Local)
			if to == nil || a.Name.Space != "" {
				return d.xml.Problem("attribute %s does not belong to an event: it has meter, at, kind or code, severity and detail", a.Name.Local)
			}
			*to = strings.TrimSpace(string(a.Value))
		}
		if d.out.Len() >= message.MaxReadings {
			return d.xml.Problem("more than %d events: send them in several messages", message.MaxReadings)
		}
		e, problem := t.Event()
		d.out.AddEvent(&e, problem)
		if d.text, err = d.xml.Content(d.text[:0]); err != nil {
			return err
		}
	}
}

// RecordEvents writes the request with a bulk of events.
func RecordEvents(v Version, list []meter.Event) []byte {
	var b strings.Builder
	b.Grow(256 + 128*len(list))
	open(&b, v)
	b.WriteString(`<RecordEvents xmlns="` + Namespace + `">`)
	for i := range list {
		t := message.TextOf(&list[i])
		b.WriteString(`<event`)
		for _, name := range []string{"meter", "at", "kind", "code", "severity", "detail"} {
			if value := *eventField(&t, name); value != "" {
				b.WriteString(` ` + name + `="`)
				escape(&b, value)
				b.WriteString(`"`)
			}
		}
		b.WriteString(`/>`)
	}
	b.WriteString(`</RecordEvents></env:Body></env:Envelope>`)
	return []byte(b.String())
}
