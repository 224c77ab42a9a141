package message

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"voltbus/meter"
)

// EventText is an event as texts, as messages have it. Fields that a message does not have are empty.
type EventText struct{ Meter, At, Kind, Code, Severity, Detail string }

var errKind = errors.New("kind: missing: give the kind, such as last-gasp, or the code of IEC 61968-9, such as 3.26.0.85")

// Event reads the texts. The kind is that of the code if only a code is given, the severity that of the kind.
func (t *EventText) Event() (e meter.Event, err error) {
	if t.Meter == "" {
		return e, errMeter
	}
	if len(t.Meter) > MaxMeter {
		return e, errLongMeter
	}
	e.Meter, e.Detail = t.Meter, t.Detail
	if e.At, err = ParseTime([]byte(t.At)); err != nil {
		return e, fmt.Errorf("at: %w", err)
	}
	if t.Kind == "" && t.Code == "" {
		return e, errKind
	}
	if t.Code != "" {
		if e.Code, err = meter.ParseEventCode(t.Code); err != nil {
			return e, err
		}
		e.Kind = e.Code.Kind()
	}
	if t.Kind != "" {
		if e.Kind, err = meter.ParseEventKind(t.Kind); err != nil {
			return e, err
		}
	}
	e.Severity = e.Kind.Severity()
	if t.Severity != "" {
		e.Severity, err = meter.ParseSeverity(t.Severity)
	}
	return e, err
}

// TextOf writes an event as texts.
func TextOf(e *meter.Event) EventText {
	t := EventText{Meter: e.Meter, At: FormatTime(e.At), Kind: e.Kind.String(), Severity: e.Severity.String(), Detail: e.Detail}
	if e.Code != (meter.EventCode{}) {
		t.Code = e.Code.String()
	}
	return t
}

// JSONEvents writes events as operation meter.recordEvents takes them.
func JSONEvents(list []meter.Event) ([]byte, error) {
	type event struct {
		Meter    string `json:"meter"`
		At       string `json:"at"`
		Kind     string `json:"kind"`
		Code     string `json:"code,omitempty"`
		Severity string `json:"severity"`
		Detail   string `json:"detail,omitempty"`
	}
	out := struct {
		Events []event `json:"events"`
	}{make([]event, len(list))}
	for i := range list {
		out.Events[i] = event(TextOf(&list[i]))
	}
	return json.Marshal(out)
}

// kindCode is the code of IEC 61968-9 with which an event without one is written, by kind.
var kindCode = map[meter.EventKind]string{ //nolint:gochecknoglobals // a table
	meter.LastGasp: "3.26.0.85", meter.Restoration: "3.26.0.216", meter.Tamper: "3.12.0.257", meter.VoltageHigh: "3.38.0.93", meter.VoltageLow: "3.38.0.150",
	meter.BatteryLow: "3.2.0.150", meter.ClockSet: "3.36.0.24", meter.Disconnected: "3.31.0.68", meter.Connected: "3.31.0.42",
}

// CIMEvents writes events as an EndDeviceEvents document of IEC 61968-9. A kind for which neither the event nor that standard has a code is written as its
// reason.
func CIMEvents(list []meter.Event) []byte {
	var b strings.Builder
	b.Grow(256 + 300*len(list))
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<EndDeviceEvents xmlns="http://iec.ch/TC57/2011/EndDeviceEvents#">`)
	for i := range list {
		t := TextOf(&list[i])
		if t.Code == "" {
			t.Code = kindCode[list[i].Kind]
		}
		if t.Code == "" {
			t.Code, t.Detail = "0.0.0.0", strings.TrimSpace(t.Kind+" "+t.Detail)
		}
		b.WriteString(`<EndDeviceEvent><createdDateTime>` + t.At + `</createdDateTime>`)
		if t.Detail != "" {
			b.WriteString(`<reason>`)
			_ = xml.EscapeText(&b, []byte(t.Detail))
			b.WriteString(`</reason>`)
		}
		b.WriteString(`<severity>` + t.Severity + `</severity><Assets><Names><name>`)
		_ = xml.EscapeText(&b, []byte(t.Meter))
		b.WriteString(`</name></Names></Assets><EndDeviceEventType ref="` + t.Code + `"/></EndDeviceEvent>`)
	}
	b.WriteString(`</EndDeviceEvents>`)
	return []byte(b.String())
}

// happening is an EndDeviceEvent as it stands in a document.
type happening struct{ meter, at, code, severity, reason string }

// event reads an EndDeviceEvent.
func (c *cim) event() (h happening, err error) {
	err = c.children(func(name string) (err error) {
		switch name {
		case "createdDateTime":
			h.at, err = c.content()
		case "EndDeviceEventType":
			h.code, err = c.reference()
		case "severity":
			h.severity, err = c.content()
		case "reason":
			h.reason, err = c.content()
		case "Assets":
			h.meter, err = c.meter()
		default:
			err = c.xml.Skip()
		}
		return err
	})
	if err == nil {
		err = c.many()
	}
	return h, err
}

// told adds an event of a meter to the list. A severity that is none of ours is left aside: the standard leaves its words open.
func (c *cim) told(h *happening, id string) {
	t := EventText{Meter: id, At: h.at, Code: h.code, Detail: h.reason}
	if s := strings.ToLower(h.severity); s != "" {
		if _, err := meter.ParseSeverity(s); err == nil {
			t.Severity = s
		}
	}
	e, problem := t.Event()
	if problem != nil && t.Code == "" && t.Meter != "" {
		problem = errors.New("EndDeviceEventType: missing")
	}
	c.list.AddEvent(&e, problem)
}
