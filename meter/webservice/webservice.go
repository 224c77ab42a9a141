// Package webservice answers the messages of concentrators and of other systems: it reads them, has their readings
// recorded, and writes the answer in the form of the message.
package webservice

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/message"
	"voltbus/meter/message/soap"
)

// Gate takes in readings.
type Gate interface {
	Take(ctx context.Context, sender, under string, readings []meter.Reading) (gate.Taken, error)
}

// Service is the web service of a metering data system.
type Service struct{ gate Gate }

// New returns a service that hands readings to a gate.
func New(g Gate) *Service { return &Service{g} }

var errMedia = errors.New("the body must be application/xml (IEC 61968-9 MeterReadings) or text/csv; set Content-Type")

// limits bound a document: its octets are bounded by who reads the body.
func limits() xmlpull.Limits { return xmlpull.Limits{Depth: 16} }

// Record records the readings of a message of a media type: application/xml and text/xml are MeterReadings of IEC
// 61968-9, text/csv is a table. It fails with fault.Invalid for what is no such message, and as the gate does.
func (s *Service) Record(ctx context.Context, m *answer.Message) (answer.Reply, error) {
	const op = "meter.Record"
	var list *message.List
	kind, _, err := mime.ParseMediaType(m.Media)
	switch {
	case err == nil && (kind == "application/xml" || kind == "text/xml"):
		list, err = message.ReadCIM(bytes.NewReader(m.Body), limits())
	case err == nil && kind == "text/csv":
		list, err = message.ReadCSV(bytes.NewReader(m.Body))
	default:
		err = errMedia
	}
	if err != nil {
		return answer.Reply{}, fault.E(op, fault.Invalid, "body", err)
	}
	a, err := s.take(ctx, m, list)
	if err != nil {
		return answer.Reply{}, err
	}
	out, err := a.JSON()
	return answer.Reply{Status: http.StatusOK, Media: "application/json", Body: out, Readings: a.Accepted + len(a.Refused)}, err
}

func (s *Service) take(ctx context.Context, m *answer.Message, l *message.List) (*message.Answer, error) {
	a := &message.Answer{Refused: l.Refused}
	done, err := s.gate.Take(ctx, m.Sender, m.Under, l.Readings)
	if err != nil {
		return nil, err
	}
	a.Accepted = done.Accepted
	for _, r := range done.Refused {
		a.Refused = append(a.Refused, message.Refusal{Index: l.Place(r.Index), Reason: r.Reason})
	}
	a.Sort()
	return a, nil
}

// SOAP answers a message of the web service. What goes wrong is answered as a fault.
func (s *Service) SOAP(ctx context.Context, m *answer.Message) answer.Reply {
	version := soap.V11
	if kind, _, err := mime.ParseMediaType(m.Media); err == nil && kind == "application/soap+xml" {
		version = soap.V12
	}
	r, err := soap.Read(bytes.NewReader(m.Body), limits())
	if f, is := errors.AsType[*soap.Fault](err); is {
		return fail(version, f)
	}
	if r.Version != version {
		return fail(version, &soap.Fault{Code: "VersionMismatch", Reason: "the envelope is not of the version of SOAP that Content-Type names"})
	}
	a, err := s.take(ctx, m, &r.List)
	if err != nil {
		f := &soap.Fault{Code: "Receiver", Reason: "nothing is known to be recorded; send it again: " + err.Error()}
		if fault.Is(err, fault.Invalid) {
			f = &soap.Fault{Code: "Sender", Reason: err.Error()}
		}
		return fail(version, f)
	}
	return answer.Reply{Status: http.StatusOK, Media: version.Media(), Body: r.Answer(a), Readings: a.Accepted + len(a.Refused)}
}

func fail(v soap.Version, f *soap.Fault) answer.Reply {
	return answer.Reply{Status: f.Status(v), Media: v.Media(), Body: f.Message(v)}
}

// Description returns the WSDL of the service at an address.
func (s *Service) Description(address string) answer.Reply {
	return answer.Reply{Status: http.StatusOK, Media: "text/xml; charset=utf-8", Body: soap.WSDL(address)}
}
