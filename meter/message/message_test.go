package message_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/internal/xmlpull"
	"voltbus/meter/message"
)

// profile is the reading type of a load profile of 15 minutes.
const profile = "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"

// document is a MeterReadings document around meter readings.
func document(readings string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><m:MeterReadings xmlns:m="http://iec.ch/TC57/2011/MeterReadings#">` + readings + `</m:MeterReadings>`
}

func TestMeterReadingsOfTheStandardAreRead(t *testing.T) {
	l, err := message.ReadCIM(strings.NewReader(document(`
	<m:MeterReading>
	  <m:IntervalBlocks>
	    <m:IntervalReadings><m:timeStamp>2026-03-01T00:15:00+01:00</m:timeStamp><m:value>0.25</m:value><m:ReadingQualities><m:ReadingQualityType ref="1.0.0"/></m:ReadingQualities></m:IntervalReadings>
	    <m:IntervalReadings><m:timeStamp>2026-03-01T00:30:00+01:00</m:timeStamp><m:value> 0.5 </m:value></m:IntervalReadings>
	    <m:ReadingType ref="`+profile+`"/>
	  </m:IntervalBlocks>
	  <m:Meter><m:Names><m:name>E1</m:name><m:NameType><m:name>serial</m:name></m:NameType></m:Names></m:Meter>
	  <m:Readings><m:timeStamp>2026-03-01T00:00:00+01:00</m:timeStamp><m:value>1234.5</m:value><m:ReadingType ref="0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0"/></m:Readings>
	  <m:UsagePoint><m:mRID>sp</m:mRID></m:UsagePoint>
	</m:MeterReading>
	<m:MeterReading>
	  <m:Meter><m:Names><m:name>other</m:name></m:Names><m:mRID>E2</m:mRID></m:Meter>
	  <m:Readings><m:timeStamp>2026-03-01T00:00:00Z</m:timeStamp><m:value>abc</m:value><m:ReadingType ref="`+profile+`"/></m:Readings>
	  <m:Readings><m:timeStamp>2026-03-01T00:00:00</m:timeStamp><m:value>1</m:value><m:ReadingType ref="`+profile+`"/></m:Readings>
	  <m:Readings><m:timeStamp>2026-03-01T00:00:00Z</m:timeStamp><m:value>7</m:value><m:ReadingType ref="`+profile+`"/></m:Readings>
	</m:MeterReading>`)), xmlpull.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range l.Readings {
		got = append(got, fmt.Sprintf("%d %s %s %s %v", l.Place(i), r.Meter, r.Type, r.End.UTC().Format(time.RFC3339), r.Value))
	}
	want := []string{
		"0 E1 " + profile + " 2026-02-28T23:15:00Z 0.25", "1 E1 " + profile + " 2026-02-28T23:30:00Z 0.5",
		"2 E1 0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0 2026-02-28T23:00:00Z 1234.5", "5 E2 " + profile + " 2026-03-01T00:00:00Z 7",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := fmt.Sprint(l.Refused); l.Len() != 6 || !strings.Contains(s, `{3 value: "abc" is no number}`) || !strings.Contains(s, "{4 end: ") {
		t.Errorf("of %d refused %s", l.Len(), s)
	}
}

func TestAttackDocumentsThatAreNoMeterReadingsAreRefused(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`<MeterReadings/>`, "is expected"},
		{`<x:MeterReadings xmlns:x="urn:x"/>`, "is expected"},
		{`<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><MeterReadings/>`, "document type"},
		{`<!DOCTYPE a SYSTEM "file:///etc/passwd"><MeterReadings/>`, "document type"},
		{document(`<m:MeterReading>` + strings.Repeat(`<m:x>`, 1000)), "deep"},
		{document(`<m:MeterReading><m:Meter><m:mRID>E1<m:x/></m:mRID></m:Meter></m:MeterReading>`), "where text is expected"},
		{document(`<m:MeterReading>`), "does not end what is open"},
		{document(``) + `<a/>`, "second root"},
	} {
		if l, err := message.ReadCIM(strings.NewReader(tt.in), xmlpull.Limits{Depth: 16}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80q: %v, %v; want %s", tt.in, l, err, tt.want)
		}
	}
}

func TestATableOfReadingsIsRead(t *testing.T) {
	l, err := message.ReadCSV(strings.NewReader("\uFEFFvalue, meter,end,channel\r\n0.25,E1,2026-03-01T00:15:00Z,1\n\"1,5\",E1,2026-03-01T00:30:00Z,1\n1,E1\n3e-1,\"E 2\",2026-03-01T00:45:00+01:00,2\nNaN,E1,2026-03-01T01:00:00Z,1\n1,E1,2026-03-01T01:00:00Z,\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Readings) != 2 || l.Place(1) != 3 || l.Readings[1].Meter != "E 2" || l.Readings[1].Value != 0.3 || l.Readings[1].Channel != 2 {
		t.Errorf("readings %+v", l.Readings)
	}
	if s := fmt.Sprint(l.Refused); l.Len() != 6 || !strings.Contains(s, `{1 value: "1,5" is no number}`) || !strings.Contains(s, "{2 2 fields where the header has 4}") || !strings.Contains(s, "{4 value:") || !strings.Contains(s, "{5 channel: missing") {
		t.Errorf("of %d refused %s", l.Len(), s)
	}
	for in, want := range map[string]string{
		"":                            "no header line",
		"meter,end\n":                 "a column is missing",
		"meter,end,value,meter\n":     `column "meter" is not known, or stands twice`,
		"meter,end,value,colour\n":    `column "colour" is not known`,
		"meter,end,value\n\"E1,x,1\n": "quote",
	} {
		if _, err := message.ReadCSV(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func TestAnAnswerIsInTheOrderOfTheMessage(t *testing.T) {
	a := message.Answer{Accepted: 1, Refused: []message.Refusal{{3, "b"}, {0, "a \"<"}}}
	a.Sort()
	got, err := a.JSON()
	if want := `{"accepted":1,"refused":[{"index":0,"reason":"a \"\u003c"},{"index":3,"reason":"b"}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestAttackAMessageOfMoreReadingsThanThereMayBe(t *testing.T) {
	const row = "E1,1,2026-03-01T00:15:00Z,1\n"
	for _, n := range []int{message.MaxReadings, message.MaxReadings + 1} {
		l, err := message.ReadCSV(strings.NewReader("meter,channel,end,value\n" + strings.Repeat(row, n)))
		if n <= message.MaxReadings && (err != nil || len(l.Readings) != n) {
			t.Errorf("%d readings: %v", n, err)
		}
		if n > message.MaxReadings && (err == nil || !strings.Contains(err.Error(), "send them in several messages")) {
			t.Errorf("%d readings: %v", n, err)
		}
	}
	const reading = "<m:Readings><m:timeStamp>x</m:timeStamp></m:Readings>"
	many := document("<m:MeterReading>" + strings.Repeat(reading, message.MaxReadings+1) + "</m:MeterReading>")
	if _, err := message.ReadCIM(strings.NewReader(many), xmlpull.Limits{}); err == nil || !strings.Contains(err.Error(), "send them in several messages") {
		t.Errorf("a document of more readings: %v", err)
	}
}

func TestAttackATableOfRecordsWithoutReadingsIsBounded(t *testing.T) {
	l, err := message.ReadCSV(strings.NewReader("meter,channel,end,value\n" + strings.Repeat("a\n", message.MaxReadings+1)))
	if err == nil || !strings.Contains(err.Error(), "send them in several messages") {
		t.Errorf("%v; %d refusals", err, l.Len())
	}
}

// A name or a type stands once in a document, for a million readings.
func TestAttackALongNameOfADocumentIsNotRepeatedForEachReading(t *testing.T) {
	long := strings.Repeat("9", 60_000)
	const readings = `<m:IntervalReadings><m:timeStamp>2026-03-01T00:15:00Z</m:timeStamp><m:value>1</m:value></m:IntervalReadings>`
	for _, tt := range []struct{ meter, kind string }{
		{long, "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"},
		{"E1", "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72." + long},
		{"E1", long},
	} {
		l, err := message.ReadCIM(strings.NewReader(document("<m:MeterReading><m:Meter><m:mRID>"+tt.meter+"</m:mRID></m:Meter><m:IntervalBlocks>"+
			strings.Repeat(readings, 3)+`<m:ReadingType ref="`+tt.kind+`"/></m:IntervalBlocks></m:MeterReading>`)), xmlpull.Limits{})
		if err != nil || len(l.Readings) != 0 || len(l.Refused) != 3 {
			t.Fatalf("%.20s, %.20s: %v", tt.meter, tt.kind, err)
		}
		for _, r := range l.Refused {
			if len(r.Reason) > 1000 {
				t.Errorf("%.20s, %.20s: a reason of %d bytes", tt.meter, tt.kind, len(r.Reason))
			}
		}
	}
}
