package webservice

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/meter"
	"voltbus/meter/message/compact"
	"voltbus/meter/message/greenbutton"
)

// BenchmarkRead reads bulks of 1,000 readings in each form.
func BenchmarkRead(b *testing.B) {
	const count = 1000
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var list []meter.Reading
	var cim, csv, senml strings.Builder
	cim.WriteString(`<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#"><MeterReading><Meter><mRID>E1</mRID></Meter><IntervalBlocks>`)
	csv.WriteString("meter,channel,end,value\n")
	fmt.Fprintf(&senml, `[{"bn":"E1/1","bt":%d}`, start.Unix())
	for i := range count {
		end, value := start.Add(time.Duration(i)*15*time.Minute), float64(i)/1000
		list = append(list, meter.Reading{Meter: "E1", Channel: 1, End: end, Value: value})
		fmt.Fprintf(&cim, "<IntervalReadings><timeStamp>%s</timeStamp><value>%g</value></IntervalReadings>", end.Format(time.RFC3339), value)
		fmt.Fprintf(&csv, "E1,1,%s,%g\n", end.Format(time.RFC3339), value)
		fmt.Fprintf(&senml, `,{"t":%d,"v":%g}`, i*900, value)
	}
	cim.WriteString(`<ReadingType ref="0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"/></IntervalBlocks></MeterReading></MeterReadings>`)
	block, err := compact.Append(nil, list)
	if err != nil {
		b.Fatal(err)
	}
	kind, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		b.Fatal(err)
	}
	var feed strings.Builder
	m := &meter.Meter{ID: "E1", Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: kind, Interval: 15 * time.Minute, Multiplier: 1}}}
	button := greenbutton.NewWriter(&feed, greenbutton.Head{Meter: m, From: start, To: start.Add(count * 15 * time.Minute), Zone: time.UTC, Updated: start})
	var scale greenbutton.Scale
	scale.Add(0.001)
	button.Channel(&m.Channels[0], &scale)
	for _, r := range list {
		button.Readings([]meter.Version{{End: r.End.Add(15 * time.Minute), Value: r.Value}})
	}
	if err := button.Close(); err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct{ media, body string }{
		{greenbutton.Media, feed.String()},
		{"application/xml", cim.String()},
		{"text/csv", csv.String()},
		{"application/senml+json", senml.String() + "]"},
		{compact.Media, string(block)},
	} {
		b.Run(tt.media, func(b *testing.B) {
			s, m := &Service{}, &answer.Message{Media: tt.media, Body: []byte(tt.body)}
			for b.Loop() {
				if l, err := s.read(b.Context(), m); err != nil || len(l.Readings) != count {
					b.Fatal(l, err)
				}
			}
			b.ReportMetric(float64(len(tt.body))/count, "bytes/reading")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/count, "ns/reading")
		})
	}
}
