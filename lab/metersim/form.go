// Package metersim simulates the senders of a metering system, many meters and concentrators in one process, and runs a node with valves
// that measure it.
package metersim

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/message/compact"
	"voltbus/meter/message/soap"
)

// The forms of messages.
const (
	SOAP   = "soap"   // SOAP 1.1
	SOAP12 = "soap12" // SOAP 1.2
	JSON   = "json"
	CSV    = "csv"
	CIM    = "cim"   // MeterReadings of IEC 61968-9
	SenML  = "senml" // RFC 8428, as CBOR
	Block  = "block" // binary, as in docs/formats/block.md
)

// Forms names them.
func Forms() []string { return []string{SOAP, SOAP12, JSON, CSV, CIM, SenML, Block} }

// form is how readings are written.
type form struct {
	path, media string
	write       func(dst []byte, list []reading) []byte
}

// reading is one, as texts and as numbers.
type reading struct {
	meter, end, value []byte
	at                time.Time // the end
	number            float64   // the value
}

// payload is how many bytes say something: meter, channel, end and value; as binary numbers where they have no texts.
func (r *reading) payload() int {
	if len(r.end) == 0 {
		return len(r.meter) + 1 + 8 + 8
	}
	return len(r.meter) + len(channel) + len(r.end) + len(r.value)
}

const (
	channel   = "1"
	ofMinutes = "0.0.3.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"
	service   = "/api/v1/metering/"
)

func forms(readingType string) map[string]form {
	return map[string]form{
		SOAP: {service + "soap", soap.V11.Media(), func(dst []byte, list []reading) []byte {
			return writeSOAP(dst, "http://schemas.xmlsoap.org/soap/envelope/", list)
		}},
		SOAP12: {service + "soap", soap.V12.Media(), func(dst []byte, list []reading) []byte {
			return writeSOAP(dst, "http://www.w3.org/2003/05/soap-envelope", list)
		}},
		JSON:  {service + "readings", "application/json", writeJSON},
		CSV:   {service + "messages", "text/csv", writeCSV},
		CIM:   {service + "messages", "application/xml", func(dst []byte, list []reading) []byte { return writeCIM(dst, list, readingType) }},
		SenML: {service + "messages", "application/senml+cbor", writeSenML},
		Block: {service + "messages", compact.Media, writeBlock},
	}
}

func formOf(name, readingType string) (form, error) {
	f, ok := forms(readingType)[name]
	if !ok {
		return f, fault.E("metersim", fault.Invalid, name, fmt.Errorf("is no form of messages; write %s", strings.Join(Forms(), ", ")))
	}
	return f, nil
}

// add appends texts.
func add(dst []byte, texts ...string) []byte {
	for _, t := range texts {
		dst = append(dst, t...)
	}
	return dst
}

// writeSOAP writes one reading as operation RecordReading, with elements, and more as RecordReadings, with attributes.
func writeSOAP(dst []byte, envelope string, list []reading) []byte {
	dst = add(dst, `<?xml version="1.0" encoding="UTF-8"?>`, "\n", `<env:Envelope xmlns:env="`, envelope, `"><env:Body>`)
	if len(list) == 1 {
		r := &list[0]
		dst = append(add(dst, `<RecordReading xmlns="`, soap.Namespace, `"><meter>`), r.meter...)
		dst = append(add(dst, `</meter><channel>`, channel, `</channel><end>`), r.end...)
		dst = append(add(dst, `</end><value>`), r.value...)
		return add(dst, `</value></RecordReading></env:Body></env:Envelope>`)
	}
	dst = add(dst, `<RecordReadings xmlns="`, soap.Namespace, `">`)
	for i := range list {
		r := &list[i]
		dst = append(add(dst, `<reading meter="`), r.meter...)
		dst = append(add(dst, `" channel="`, channel, `" end="`), r.end...)
		dst = append(add(dst, `" value="`), r.value...)
		dst = add(dst, `"/>`)
	}
	return add(dst, `</RecordReadings></env:Body></env:Envelope>`)
}

func writeJSON(dst []byte, list []reading) []byte {
	dst = add(dst, `{"readings":[`)
	for i := range list {
		r := &list[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(add(dst, `{"meter":"`), r.meter...)
		dst = append(add(dst, `","channel":`, channel, `,"end":"`), r.end...)
		dst = append(add(dst, `","value":`), r.value...)
		dst = append(dst, '}')
	}
	return add(dst, `]}`)
}

func writeCSV(dst []byte, list []reading) []byte {
	dst = add(dst, "meter,channel,end,value\n")
	for i := range list {
		r := &list[i]
		dst = append(dst, r.meter...)
		dst = append(add(dst, ",", channel, ","), r.end...)
		dst = append(append(append(dst, ','), r.value...), '\n')
	}
	return dst
}

func writeCIM(dst []byte, list []reading, readingType string) []byte {
	dst = add(dst, `<?xml version="1.0" encoding="UTF-8"?>`, "\n", `<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#">`)
	for i := range list {
		r := &list[i]
		dst = append(add(dst, `<MeterReading><IntervalBlocks><IntervalReadings><timeStamp>`), r.end...)
		dst = append(add(dst, `</timeStamp><value>`), r.value...)
		dst = append(add(dst, `</value></IntervalReadings><ReadingType ref="`, readingType, `"/></IntervalBlocks><Meter><mRID>`), r.meter...)
		dst = add(dst, `</mRID></Meter></MeterReading>`)
	}
	return add(dst, `</MeterReadings>`)
}

// writeSenML writes a pack with a record for each reading: name (label 0), time (6) and value (2), in the shortest usual types of CBOR
// (RFC 8949, section 3).
func writeSenML(dst []byte, list []reading) []byte {
	const array, record, text, uint32Follows, doubleFollows = 0x99, 0xa3, 0x60, 0x1a, 0xfb
	dst = binary.BigEndian.AppendUint16(append(dst, array), uint16(len(list)))
	for i := range list {
		r := &list[i]
		dst = append(dst, record, 0, text|byte(len(r.meter)+len("/"+channel))) // shorter than 24, as all names here are
		dst = add(append(dst, r.meter...), "/", channel)
		dst = binary.BigEndian.AppendUint32(append(dst, 6, uint32Follows), uint32(r.at.Unix()))
		dst = binary.BigEndian.AppendUint64(append(dst, 2, doubleFollows), math.Float64bits(r.number))
	}
	return dst
}

// Nth is reading number n, from 0, of a simulated concentrator with meters of one-minute intervals.
func Nth(from time.Time, concentrator, n, meters int) (id string, end time.Time, value float64) {
	return MeterID(concentrator*meters + n%meters), from.Add(time.Duration(n/meters+1) * Minute), float64(100+n*7%900) / 1000
}

// writeBlock writes readings that are right, as all of simulated meters are.
func writeBlock(dst []byte, list []reading) []byte {
	l := lists.Get().(*[]meter.Reading)
	defer lists.Put(l)
	readings := slices.Grow((*l)[:0], len(list))
	for i := range list {
		r := &list[i]
		readings = append(readings, meter.Reading{Meter: string(r.meter), Channel: 1, End: r.at, Value: r.number})
	}
	*l = readings
	dst, _ = compact.Append(dst, readings) // it fails only for a reading without a meter or channel
	return dst
}

// lists are used again: a simulator must take little of the machine that it measures.
var lists = sync.Pool{New: func() any { return new([]meter.Reading) }} //nolint:gochecknoglobals // a pool serves all senders

// MeterID is the name of a simulated meter, of which there are less than 100 million.
func MeterID(n int) string { return string(appendID(nil, n)) }

// appendID appends 1LAB and eight digits.
func appendID(dst []byte, n int) []byte {
	dst = append(dst, "1LAB"...)
	for unit := 10_000_000; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+n/unit%10))
	}
	return dst
}

// Minute and Quarter are the lengths of intervals that simulated meters may have.
const (
	Minute  = time.Minute
	Quarter = 15 * time.Minute
)

// PerDay is how many intervals of a length a day has.
func PerDay(interval time.Duration) int { return int(24 * time.Hour / interval) }

// ReadingType is that of the channel of a simulated meter: energy delivered in an interval, in kWh.
func ReadingType(interval time.Duration) string {
	if interval == Quarter {
		return "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"
	}
	return ofMinutes
}

// fill writes reading n of a member whose first meter is first.
func (r *reading) fill(f *Fleet, first int, n int64) {
	m, slot := n%int64(f.Meters), n/int64(f.Meters)
	r.meter = appendID(r.meter[:0], first+int(m))
	r.at, r.number = f.From.Add(time.Duration(slot+1)*f.Interval), float64(100+(n*7)%900)/1000
	if f.Form == Block || f.Form == SenML {
		r.end, r.value = r.end[:0], r.value[:0]
		return
	}
	r.end = r.at.AppendFormat(r.end[:0], "2006-01-02T15:04:05Z")
	r.value = strconv.AppendFloat(r.value[:0], r.number, 'f', 3, 64)
}

// packed compresses a body.
type packed struct {
	buf bytes.Buffer
	z   *gzip.Writer
}

func (p *packed) pack(body []byte) ([]byte, error) {
	p.buf.Reset()
	if p.z == nil {
		p.z = gzip.NewWriter(&p.buf)
	} else {
		p.z.Reset(&p.buf)
	}
	if _, err := p.z.Write(body); err != nil {
		return nil, fmt.Errorf("compress a message: %w", err)
	}
	if err := p.z.Close(); err != nil {
		return nil, fmt.Errorf("compress a message: %w", err)
	}
	return p.buf.Bytes(), nil
}
