package soap

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/message"
)

// Action is the SOAPAction of a bulk.
const Action = Namespace + "/RecordReadings"

// RecordReadings writes the request with a bulk of readings.
func RecordReadings(v Version, list []meter.Reading) []byte {
	var b strings.Builder
	b.Grow(256 + 112*len(list))
	open(&b, v)
	b.WriteString(`<RecordReadings xmlns="` + Namespace + `">`)
	for i := range list {
		r := &list[i]
		b.WriteString(`<reading meter="`)
		escape(&b, r.Meter)
		if r.Channel != 0 {
			b.WriteString(`" channel="` + strconv.Itoa(r.Channel))
		} else {
			b.WriteString(`" readingType="` + r.Type.String())
		}
		b.WriteString(`" end="` + message.FormatTime(r.End) + `" value="` + message.FormatValue(r.Value) + `"/>`)
	}
	b.WriteString(`</RecordReadings></env:Body></env:Envelope>`)
	return []byte(b.String())
}

var errNoAnswer = errors.New("the answer is no RecordReadingsResponse or RecordEventsResponse of " + Namespace)

// reply is an answer as it is read. Elements of other services count by their local names: their schemas have other namespaces.
type reply struct {
	Body struct {
		Fault    *fault `xml:"Fault"`
		Response *taken `xml:"RecordReadingsResponse"`
		Events   *taken `xml:"RecordEventsResponse"`
	} `xml:"Body"`
}

// taken says what became of the readings or events of a bulk.
type taken struct {
	Accepted *int `xml:"accepted"`
	Refused  []struct {
		Index  *int   `xml:"index,attr"`
		Reason string `xml:"reason,attr"`
	} `xml:"refused"`
}

type fault struct {
	Code11   string `xml:"faultcode"`
	Reason11 string `xml:"faultstring"`
	Code12   string `xml:"Code>Value"`
	Reason12 string `xml:"Reason>Text"`
}

// ReadAnswer reads the answer to a bulk, of either version. A fault is returned as *Fault; any other error says that it is no answer.
func ReadAnswer(body []byte, limits xmlpull.Limits) (*message.Answer, error) {
	if err := wellFormed(body, limits); err != nil {
		return nil, err
	}
	var in reply
	if err := xml.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if f := in.Body.Fault; f != nil {
		code := f.Code11 + f.Code12
		code = code[strings.IndexByte(code, ':')+1:]
		if code == "Client" || strings.HasPrefix(code, "Client.") {
			code = "Sender"
		}
		return nil, &Fault{code, strings.TrimSpace(f.Reason11 + f.Reason12)}
	}
	r := in.Body.Response
	if r == nil {
		r = in.Body.Events
	}
	if r == nil || r.Accepted == nil {
		return nil, errNoAnswer
	}
	a := &message.Answer{Accepted: *r.Accepted}
	for _, one := range r.Refused {
		if one.Index == nil {
			return nil, errNoAnswer
		}
		a.Refused = append(a.Refused, message.Refusal{Index: *one.Index, Reason: one.Reason})
	}
	return a, nil
}

// wellFormed reads a document within its limits: no entities of its own, and not too deep.
func wellFormed(body []byte, limits xmlpull.Limits) error {
	r := xmlpull.New(bytes.NewReader(body), limits)
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
