// Package senml reads meter readings from SenML (RFC 8428), as JSON and as CBOR.
package senml

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/meter"
	"voltbus/meter/message"
	"voltbus/point"
)

var (
	errName = errors.New("name: write <meter>/<channel> or <meter>/<reading type of IEC 61968-9>, such as E1/1")
	errEnd  = errors.New("time: missing, relative or before 1999: write the end of the interval as t, in seconds since 1970")
	errKind = errors.New("value: write a number as v")
)

// Read reads a pack in the format ingest.SenML or ingest.SenMLCBOR. The resolved name of a record is <meter>/<channel>
// or <meter>/<reading type>, its time the end of the interval in seconds since 1970, its value a number. The index of a
// reading is the number of its record, from 0.
//
// It fails for what is no SenML, for more than message.MaxReadings readings, and for more than ingest.MaxErrors records
// that cannot be read; then nothing of the message counts.
func Read(format ingest.Format, body []byte) (*message.List, error) {
	l := &message.List{}
	report, err := ingest.NewParser().Parse(format, body, ingest.Options{Now: time.Unix(longAgo, 0)}, func(b *ingest.Batch) error {
		for i := range b.Samples {
			r, problem := reading(&b.Samples[i])
			l.AddAt(b.Lines[i]-1, &r, problem)
		}
		if len(l.Readings) > message.MaxReadings {
			return fault.E("senml.Read", fault.Invalid, "body", message.ErrMany)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(report.Errors) < report.Refused {
		first := report.Errors[0]
		return nil, fault.E("senml.Read", fault.Invalid, "body",
			fmt.Errorf("%d records cannot be read; the first is number %d: %s", report.Refused, first.Line, first.Detail))
	}
	for _, e := range report.Errors {
		l.AddAt(e.Line-1, nil, errors.New(e.Detail))
	}
	return l, nil
}

// The end of an interval is no moment of sending: times that are relative to now, which are at most 8.5 years off
// (RFC 8428, section 4.5.3), are read as if now were long ago, and refused.
const (
	longAgo  = 631_152_000 // 1990-01-01, in Unix seconds
	earliest = 915_148_800 // 1999-01-01
)

// reading is what a resolved record says.
func reading(s *point.Sample) (r meter.Reading, err error) {
	id, channel, ok := cutLast(string(s.Point))
	value, number := s.Value.Number()
	switch {
	case !ok:
		return r, errName
	case !number || s.Value.Kind() == point.Bool:
		return r, errKind
	case s.Time.Unix() < earliest:
		return r, errEnd
	}
	t := message.Text{Meter: []byte(id)}
	if strings.Contains(channel, ".") {
		t.Type = []byte(channel)
	} else {
		t.Channel = []byte(channel)
	}
	if r, err = t.Key(); err != nil {
		return r, err
	}
	r.Meter = strings.Clone(r.Meter) // paths of a message share memory
	r.End, r.Value = s.Time, value
	return r, nil
}

// cutLast divides a name at its last slash.
func cutLast(name string) (before, after string, ok bool) {
	at := strings.LastIndexByte(name, '/')
	if at <= 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}
