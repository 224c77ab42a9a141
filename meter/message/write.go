package message

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/meter"
)

// FormatTime writes the end of an interval, as all messages have it.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z07:00") }

// FormatValue writes a value so that the same is read again.
func FormatValue(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// JSON writes readings as operation meter.record takes them.
func JSON(list []meter.Reading) []byte {
	b := make([]byte, 0, 32+96*len(list))
	b = append(b, `{"readings":[`...)
	for i := range list {
		r := &list[i]
		if i > 0 {
			b = append(b, ',')
		}
		id, _ := json.Marshal(r.Meter) // a text always becomes one
		b = append(append(b, `{"meter":`...), id...)
		if r.Channel != 0 {
			b = strconv.AppendInt(append(b, `,"channel":`...), int64(r.Channel), 10)
		} else {
			b = append(append(append(b, `,"readingType":"`...), r.Type.String()...), '"')
		}
		b = append(append(append(b, `,"end":"`...), FormatTime(r.End)...), `","value":`...)
		b = append(append(b, FormatValue(r.Value)...), '}')
	}
	return append(b, `]}`...)
}

// CSV writes readings as a table, see ReadCSV.
func CSV(list []meter.Reading) []byte {
	var out strings.Builder
	w := csv.NewWriter(&out)
	name := "channel"
	typed := slices.ContainsFunc(list, func(r meter.Reading) bool { return r.Channel == 0 })
	header := []string{"meter", name, "end", "value"}
	if typed {
		header = []string{"meter", "channel", "readingType", "end", "value"}
	}
	_ = w.Write(header) // a builder takes everything
	for i := range list {
		r := &list[i]
		channel, kind := strconv.Itoa(r.Channel), ""
		if r.Channel == 0 {
			channel, kind = "", r.Type.String()
		}
		row := []string{r.Meter, channel, FormatTime(r.End), FormatValue(r.Value)}
		if typed {
			row = []string{r.Meter, channel, kind, FormatTime(r.End), FormatValue(r.Value)}
		}
		_ = w.Write(row)
	}
	w.Flush()
	return []byte(out.String())
}

var errNoType = errors.New("a MeterReadings document names channels by their reading type, and this reading has none")

// CIM writes readings as a MeterReadings document of IEC 61968-9. All must have a reading type.
func CIM(list []meter.Reading) ([]byte, error) {
	var b strings.Builder
	b.Grow(256 + 160*len(list))
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#">`)
	for i := range list {
		r := &list[i]
		if r.Type == (meter.ReadingType{}) {
			return nil, errNoType
		}
		if i == 0 || r.Meter != list[i-1].Meter {
			if i > 0 {
				b.WriteString(`</MeterReading>`)
			}
			b.WriteString(`<MeterReading><Meter><Names><name>`)
			_ = xml.EscapeText(&b, []byte(r.Meter))
			b.WriteString(`</name></Names></Meter>`)
		}
		b.WriteString(`<Readings><timeStamp>` + FormatTime(r.End) + `</timeStamp><value>` + FormatValue(r.Value) + `</value><ReadingType ref="` + r.Type.String() + `"/></Readings>`)
	}
	if len(list) > 0 {
		b.WriteString(`</MeterReading>`)
	}
	b.WriteString(`</MeterReadings>`)
	return []byte(b.String()), nil
}

// ReadAnswer reads an answer as JSON writes it.
func ReadAnswer(body []byte) (*Answer, error) {
	var in struct {
		Accepted *int `json:"accepted"`
		Refused  []struct {
			Index  *int   `json:"index"`
			Reason string `json:"reason"`
		} `json:"refused"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if in.Accepted == nil {
		return nil, errors.New("the answer does not say how many readings were accepted")
	}
	a := &Answer{Accepted: *in.Accepted}
	for _, r := range in.Refused {
		if r.Index == nil {
			return nil, errors.New("the answer does not say which reading was refused")
		}
		a.Refused = append(a.Refused, Refusal{*r.Index, r.Reason})
	}
	return a, nil
}

// Check returns what is wrong with an answer to so many readings.
func (a *Answer) Check(readings int) error {
	a.Sort()
	if a.Accepted < 0 || a.Accepted+len(a.Refused) != readings {
		return fmt.Errorf("the answer is of %d readings that were accepted and %d that were refused, and %d were sent", a.Accepted, len(a.Refused), readings)
	}
	for i, r := range a.Refused {
		if r.Index < 0 || r.Index >= readings || i > 0 && r.Index == a.Refused[i-1].Index {
			return fmt.Errorf("the answer refuses reading %d, of %d", r.Index, readings)
		}
	}
	return nil
}
