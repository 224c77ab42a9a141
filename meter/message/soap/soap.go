// Package soap is the web service of a metering data system: SOAP 1.1 and 1.2, document/literal, with a WSDL that stock
// clients read. Sources: W3C SOAP 1.1 note, W3C SOAP 1.2 part 1 (second edition), WSDL 1.1, WS-I Basic Profile 1.1.
package soap

import (
	"bytes"
	"errors"
	"io"

	"voltbus/internal/xmlpull"
	"voltbus/meter/message"
)

// Namespace is that of the service's own elements.
const Namespace = "urn:voltbus:metering:1"

// Version is that of the protocol.
type Version uint8

// The versions.
const (
	V11 Version = iota
	V12
)

const (
	envelope11 = "http://schemas.xmlsoap.org/soap/envelope/"
	envelope12 = "http://www.w3.org/2003/05/soap-envelope"
)

func (v Version) envelope() string {
	if v == V12 {
		return envelope12
	}
	return envelope11
}

// Media returns the Content-Type of messages.
func (v Version) Media() string {
	if v == V12 {
		return "application/soap+xml; charset=utf-8"
	}
	return "text/xml; charset=utf-8"
}

// Request is a message of a client.
type Request struct {
	Version   Version
	Operation string // RecordReading, RecordReadings or RecordEvents
	message.List
}

// Fault is why a message as a whole is not taken. Codes are those of SOAP 1.2.
type Fault struct {
	Code   string // Sender, Receiver, VersionMismatch or MustUnderstand
	Reason string
}

// Error implements error.
func (f *Fault) Error() string { return f.Reason }

func sender(err error) error {
	if _, is := errors.AsType[*Fault](err); is {
		return err
	}
	return &Fault{"Sender", err.Error()}
}

// Read reads a message. The version of what it returns is that of the message as far as it is known, also with an error,
// which is a *Fault.
func Read(in io.Reader, limits xmlpull.Limits) (*Request, error) {
	d := &decoder{xml: xmlpull.New(in, limits)}
	if err := d.envelope(); err != nil {
		return &d.out, sender(err)
	}
	return &d.out, nil
}

type decoder struct {
	xml  *xmlpull.Reader
	out  Request
	text []byte
	room [5][]byte // memory of the fields of one reading
}

// start reads on to the start of an element; end is true at the end of the one around it.
func (d *decoder) start() (end bool, err error) {
	for {
		switch k, err := d.xml.Next(); {
		case err != nil:
			return false, err
		case k == xmlpull.Start:
			return false, nil
		case k == xmlpull.End:
			return true, nil
		case len(bytes.TrimSpace(d.xml.Text())) > 0:
			return false, d.xml.Problem("text %.40q where an element is expected", bytes.TrimSpace(d.xml.Text()))
		}
	}
}

func (d *decoder) envelope() error {
	if _, err := d.start(); err != nil {
		return err
	}
	name := d.xml.Name()
	switch {
	case name == (xmlpull.Name{Space: envelope11, Local: "Envelope"}):
	case name == (xmlpull.Name{Space: envelope12, Local: "Envelope"}):
		d.out.Version = V12
	case name.Local == "Envelope":
		return &Fault{"VersionMismatch", "the namespace of the envelope is neither that of SOAP 1.1 nor that of SOAP 1.2"}
	default:
		return d.xml.Problem("element %s where a SOAP Envelope is expected", name.Local)
	}
	space, body := d.out.Version.envelope(), false
	for {
		end, err := d.start()
		if err != nil {
			return err
		}
		if end {
			break
		}
		switch name := d.xml.Name(); {
		case name == (xmlpull.Name{Space: space, Local: "Header"}) && !body:
			err = d.header()
		case name == (xmlpull.Name{Space: space, Local: "Body"}) && !body:
			body, err = true, d.body()
		default:
			err = d.xml.Problem("element %s does not belong in the envelope", name.Local)
		}
		if err != nil {
			return err
		}
	}
	if !body {
		return d.xml.Problem("the envelope has no Body")
	}
	if _, err := d.xml.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// header leaves its blocks aside, unless one must be understood.
func (d *decoder) header() error {
	for {
		end, err := d.start()
		if end || err != nil {
			return err
		}
		for _, a := range d.xml.Attrs() {
			must := string(a.Value) == "1" || string(a.Value) == "true"
			if must && a.Name.Local == "mustUnderstand" && a.Name.Space == d.out.Version.envelope() {
				return &Fault{"MustUnderstand", "header " + d.xml.Name().Local + " is not understood here"}
			}
		}
		if err := d.xml.Skip(); err != nil {
			return err
		}
	}
}

func (d *decoder) body() error {
	end, err := d.start()
	if err != nil {
		return err
	}
	if end {
		return d.xml.Problem("the Body is empty: it holds RecordReading, RecordReadings or RecordEvents")
	}
	name := d.xml.Name()
	switch name {
	case xmlpull.Name{Space: Namespace, Local: "RecordReading"}:
		err = d.single()
	case xmlpull.Name{Space: Namespace, Local: "RecordReadings"}:
		err = d.bulk()
	case xmlpull.Name{Space: Namespace, Local: "RecordEvents"}:
		err = d.events()
	default:
		return d.xml.Problem("operation %s of namespace %q is not known: there are RecordReading, RecordReadings and RecordEvents of %s", name.Local, name.Space, Namespace)
	}
	if err != nil {
		return err
	}
	d.out.Operation = name.Local
	if end, err = d.start(); err == nil && !end {
		err = d.xml.Problem("a second element in the Body")
	}
	return err
}

// field returns where a field of a reading belongs.
func (d *decoder) field(t *message.Text, name string) (*[]byte, *[]byte) {
	switch name {
	case "meter":
		return &t.Meter, &d.room[0]
	case "channel":
		return &t.Channel, &d.room[1]
	case "readingType":
		return &t.Type, &d.room[2]
	case "end":
		return &t.End, &d.room[3]
	case "value":
		return &t.Value, &d.room[4]
	}
	return nil, nil
}

// single reads one reading, whose fields are elements.
func (d *decoder) single() error {
	var t message.Text
	for {
		end, err := d.start()
		if err != nil {
			return err
		}
		if end {
			break
		}
		name := d.xml.Name()
		to, room := d.field(&t, name.Local)
		if to == nil || name.Space != Namespace {
			return d.xml.Problem("element %s does not belong in a reading: it has meter, channel or readingType, end and value", name.Local)
		}
		if *to != nil {
			return d.xml.Problem("element %s stands twice", name.Local)
		}
		if *room, err = d.xml.Content((*room)[:0]); err != nil {
			return err
		}
		*to = bytes.TrimSpace(*room)
	}
	d.add(&t)
	return nil
}

// bulk reads readings whose fields are attributes.
func (d *decoder) bulk() error {
	for {
		end, err := d.start()
		if end || err != nil {
			return err
		}
		if name := d.xml.Name(); name != (xmlpull.Name{Space: Namespace, Local: "reading"}) {
			return d.xml.Problem("element %s where reading is expected", name.Local)
		}
		var t message.Text
		for _, a := range d.xml.Attrs() {
			to, _ := d.field(&t, a.Name.Local)
			if to == nil || a.Name.Space != "" {
				return d.xml.Problem("attribute %s does not belong to a reading: it has meter, channel or readingType, end and value", a.Name.Local)
			}
			*to = bytes.TrimSpace(a.Value)
		}
		if d.out.Len() >= message.MaxReadings {
			return d.xml.Problem("more than %d readings: send them in several messages", message.MaxReadings)
		}
		d.add(&t)
		if d.text, err = d.xml.Content(d.text[:0]); err != nil {
			return err
		}
	}
}

func (d *decoder) add(t *message.Text) {
	r, problem := t.Reading()
	d.out.Add(&r, problem)
}
