// Package webservice answers messages with meter readings: it parses them, has the readings recorded, and replies in the format of the
// message.
package webservice

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/message"
	"voltbus/meter/message/compact"
	"voltbus/meter/message/greenbutton"
	"voltbus/meter/message/senml"
	"voltbus/meter/message/soap"
)

// Gate takes in readings.
type Gate interface {
	Take(ctx context.Context, sender, under string, readings []meter.Reading) (gate.Taken, error)
}

// Registry knows the meters.
type Registry interface {
	Meter(ctx context.Context, id string) (meter.Meter, error)
}

// Events takes in events.
type Events interface {
	TakeEvents(ctx context.Context, sender, under string, list []meter.Event) (gate.Taken, error)
}

// Passage takes in readings that another member of the cluster hands on.
type Passage interface {
	Pass(ctx context.Context, member, digest string, readings []meter.Reading) (gate.Taken, error)
}

// Service is the web service of a metering data system.
type Service struct {
	gate    Gate
	events  Events
	meters  Registry
	passage Passage
}

// New returns a service that hands readings to a gate, and events to another. meters is nil where none are registered.
func New(g Gate, e Events, meters Registry) *Service {
	return &Service{gate: g, events: e, meters: meters}
}

// Passing has the service hand readings of other members of the cluster to a passage.
func (s *Service) Passing(p Passage) *Service {
	s.passage = p
	return s
}

var errNoCluster = errors.New("this node is in no cluster: list its members in metering.cluster.members")

// Pass records the readings that another member of the cluster hands on. It fails with fault.Invalid for what is no such message, and as the
// passage does.
func (s *Service) Pass(ctx context.Context, m *answer.Message) (answer.Reply, error) {
	const op = "meter.Pass"
	if s.passage == nil {
		return answer.Reply{}, fault.E(op, fault.Unavailable, m.Member, errNoCluster)
	}
	list, err := compact.Passed(m.Body)
	if err != nil {
		return answer.Reply{}, err
	}
	done, err := s.passage.Pass(ctx, m.Member, m.Digest, list)
	if err != nil {
		return answer.Reply{}, err
	}
	a := &message.Answer{Accepted: done.Accepted}
	for _, r := range done.Refused {
		a.Refused = append(a.Refused, message.Refusal(r))
	}
	out, err := a.JSON()
	return answer.Reply{Status: http.StatusOK, Media: "application/json", Body: out, Readings: len(list)}, err
}

var errMedia = errors.New("the body must be application/xml (IEC 61968-9 MeterReadings or EndDeviceEvents), " + greenbutton.Media + " (Green Button), text/csv, application/senml+json, " +
	"application/senml+cbor or " + compact.Media + "; set Content-Type")

// limits bound a document: its bytes are bounded by who reads the body.
func limits() xmlpull.Limits { return xmlpull.Limits{Depth: 16} }

// Record records the readings of a message of a media type: application/xml and text/xml are MeterReadings or EndDeviceEvents of IEC
// 61968-9, greenbutton.Media is a Green Button file, text/csv is a table, application/senml+json and application/senml+cbor are SenML, compact.Media is a block. It fails with fault.Invalid for what is no such message, and as the gate does.
func (s *Service) Record(ctx context.Context, m *answer.Message) (answer.Reply, error) {
	const op = "meter.Record"
	list, err := s.read(ctx, m)
	if fault.Is(err, fault.Unavailable) {
		return answer.Reply{}, err
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

// read reads the readings of a message.
func (s *Service) read(ctx context.Context, m *answer.Message) (*message.List, error) {
	kind, _, err := mime.ParseMediaType(m.Media)
	if err != nil {
		return nil, errMedia
	}
	switch kind {
	case "application/xml", "text/xml":
		return message.ReadCIM(bytes.NewReader(m.Body), limits())
	case greenbutton.Media:
		return s.readGreenButton(ctx, m.Body)
	case "text/csv":
		return message.ReadCSV(bytes.NewReader(m.Body))
	case "application/senml+json":
		return senml.Read(ingest.SenML, m.Body)
	case "application/senml+cbor":
		return senml.Read(ingest.SenMLCBOR, m.Body)
	case compact.Media:
		return compact.Read(m.Body)
	}
	return nil, errMedia
}

var errUnregistered = errors.New("no meter is registered with the last part of the address of the UsagePoint as its id: register it first")

// readGreenButton reads a Green Button file. Where meters are registered, their channels are found.
func (s *Service) readGreenButton(ctx context.Context, body []byte) (*message.List, error) {
	if s.meters == nil {
		return greenbutton.Read(bytes.NewReader(body), limits(), nil)
	}
	var broken error // no refusal: the sender tries again
	list, err := greenbutton.Read(bytes.NewReader(body), limits(), func(id string, t meter.ReadingType, length time.Duration) (greenbutton.Target, error) {
		m, err := s.meters.Meter(ctx, id)
		if err != nil {
			if !fault.Is(err, fault.NotFound) {
				broken = err
			}
			return greenbutton.Target{}, errUnregistered
		}
		return greenbutton.Fit(&m, t, length)
	})
	return list, cmp.Or(err, broken)
}

func (s *Service) take(ctx context.Context, m *answer.Message, l *message.List) (*message.Answer, error) {
	a := &message.Answer{Refused: l.Refused}
	if len(l.Events) > 0 { // first: they are urgent
		told, err := s.events.TakeEvents(ctx, m.Sender, m.Under, l.Events)
		if err != nil {
			return nil, err
		}
		a.Accepted = told.Accepted
		for _, r := range told.Refused {
			a.Refused = append(a.Refused, message.Refusal{Index: l.EventPlace(r.Index), Reason: r.Reason})
		}
	}
	done, err := s.gate.Take(ctx, m.Sender, m.Under, l.Readings)
	if err != nil {
		return nil, err
	}
	a.Accepted += done.Accepted
	for _, r := range done.Refused {
		a.Refused = append(a.Refused, message.Refusal{Index: l.Place(r.Index), Reason: r.Reason})
	}
	a.Sort()
	return a, nil
}

// What a line of a table, an element or a record takes when it is read and answered, and what all readings of a message take.
const (
	markWeight = 256
	mostWeight = 500 << 20
)

// Weight returns how many bytes it takes at most to read and answer a message: a line of two bytes is a refusal of three
// hundred, a record of CBOR has three bytes, and a sample of a block ten before it is compressed.
func (s *Service) Weight(m *answer.Message) int64 {
	marks := max(2*bytes.Count(m.Body, []byte{'\n'}), bytes.Count(m.Body, []byte{'<'}), bytes.Count(m.Body, []byte{'{'}))
	switch kind, _, _ := mime.ParseMediaType(m.Media); kind {
	case "application/senml+cbor":
		marks = len(m.Body) / 3
	case compact.Media:
		marks = compact.Len(m.Body)
	}
	return min(int64(marks)*markWeight, mostWeight)
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
