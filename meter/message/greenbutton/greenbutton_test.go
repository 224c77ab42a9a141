package greenbutton_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/message"
	"voltbus/meter/message/greenbutton"
	"voltbus/testing/peers"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// smart is a meter with a load profile in kWh, another one of what is fed in, and a register.
func smart(t testing.TB) *meter.Meter {
	t.Helper()
	kind := must[meter.ReadingType](t)
	return &meter.Meter{ID: "1EMH/1 & 2", Commodity: meter.Electricity, Channels: []meter.Channel{
		{Number: 1, ReadingType: kind(meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")), Interval: 15 * time.Minute, Multiplier: 1},
		{Number: 2, ReadingType: kind(meter.ParseReadingType("0.0.2.4.19.1.12.0.0.0.0.0.0.0.0.3.72.0")), Interval: 15 * time.Minute, Multiplier: 40},
		{Number: 3, ReadingType: kind(meter.ParseReadingType("0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0")), Multiplier: 1},
	}}
}

func berlin(t testing.TB) *time.Location {
	t.Helper()
	return must[*time.Location](t)(time.LoadLocation("Europe/Berlin"))
}

// file writes readings of channels of a meter, from 1 March 2026 on.
func file(t testing.TB, m *meter.Meter, hours time.Duration, of map[int][]meter.Version) string {
	t.Helper()
	zone := berlin(t)
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, zone)
	var out strings.Builder
	w := greenbutton.NewWriter(&out, greenbutton.Head{Meter: m, From: from, To: from.Add(hours), Zone: zone, Updated: time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)})
	for i := range m.Channels {
		c := &m.Channels[i]
		var s greenbutton.Scale
		for _, v := range of[c.Number] {
			s.Add(v.Value * c.Multiplier)
		}
		if len(of[c.Number]) > 0 {
			w.Channel(c, &s)
			w.Readings(of[c.Number])
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// at returns the end of the nth quarter of an hour of 1 March 2026 in Berlin.
func at(n int) time.Time {
	return time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC).Add(time.Duration(n) * 15 * time.Minute)
}

func read(t testing.TB, m *meter.Meter, text string) *message.List {
	t.Helper()
	return must[*message.List](t)(greenbutton.Read(strings.NewReader(text), xmlpull.Limits{Depth: 16}, func(id string, kind meter.ReadingType, length time.Duration) (greenbutton.Target, error) {
		if id != m.ID {
			return greenbutton.Target{}, fmt.Errorf("no meter %q", id)
		}
		return greenbutton.Fit(m, kind, length)
	}))
}

// listed writes readings and refusals, one a line.
func listed(l *message.List) string {
	var out []string
	for i, r := range l.Readings {
		out = append(out, fmt.Sprintf("%d: %s %d %s %v", l.Place(i), r.Meter, r.Channel, r.End.UTC().Format(time.RFC3339), r.Value))
	}
	for _, r := range l.Refused {
		out = append(out, fmt.Sprintf("%d: refused: %s", r.Index, r.Reason))
	}
	return strings.Join(out, "\n")
}

// The literal file testdata/hour.xml has, in this order: the feed with its id, author and time (RFC 4287, 4.1.1, 4.2.6, 4.2.1, 4.2.15); entries
// (4.1.2) with links self, up and related (4.2.7.2) and XML as content (4.1.3.3); names of resources (RFC 9562, 5.8). Of the schema of NAESB
// REQ.21 the types UsagePoint, TimeConfiguration with DstRuleType, MeterReading, ReadingType with UnitMultiplierKind and TimeAttributeKind,
// IntervalBlock, IntervalReading with Int48 and QualityOfReading (14 raw, 9 linear, 7 edited), and UsageSummary.
func TestAFileSaysTheQualityOfEachReadingAndItsSum(t *testing.T) {
	m := smart(t)
	m.ID = "E1"
	got := file(t, m, time.Hour, map[int][]meter.Version{1: {
		{End: at(1), Value: 0.123, Stage: meter.Validated},
		{End: at(2), Value: 0.1235, Stage: meter.Raw},
		{End: at(3), Value: 0.124, Stage: meter.Estimated, Origin: meter.Origin{Rule: "linear,scaled"}},
		{End: at(4), Value: 0.2, Stage: meter.Edited},
	}})
	if want := string(must[[]byte](t)(os.ReadFile(filepath.Join("testdata", "hour.xml")))); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

func TestReadingsOfAMeterComeBackAsTheyWere(t *testing.T) {
	m := smart(t)
	var used, fed []meter.Version
	for n := 1; n <= 200; n++ { // three local days
		used = append(used, meter.Version{End: at(n), Value: float64(n%17) / 1000, Stage: meter.Validated})
		fed = append(fed, meter.Version{End: at(n), Value: float64(n) / 100, Stage: meter.Raw})
	}
	text := file(t, m, 72*time.Hour, map[int][]meter.Version{1: used, 2: fed, 3: {{End: at(0), Value: 123456.789}, {End: at(96), Value: 123457.5}}})
	l := read(t, m, text)
	if len(l.Refused) != 0 || len(l.Readings) != 402 {
		t.Fatalf("%d readings, refused %v", len(l.Readings), l.Refused)
	}
	for i, r := range l.Readings {
		want := meter.Reading{Meter: m.ID}
		switch {
		case i < 200:
			want.Channel, want.End, want.Value = 1, used[i].End, used[i].Value
		case i < 400:
			want.Channel, want.End, want.Value = 2, fed[i-200].End, fed[i-200].Value
		default:
			want.Channel, want.End, want.Value = 3, at(96*(i-400)), []float64{123456.789, 123457.5}[i-400]
		}
		if r != want {
			t.Fatalf("reading %d: %+v, want %+v", i, r, want)
		}
	}
	if n := strings.Count(text, "<IntervalBlock "); n != 3+3+2 {
		t.Errorf("%d blocks, want one a local day", n)
	}
	if strings.Contains(text, "<UsageSummary ") {
		t.Error("a sum of what lacks intervals")
	}
}

// foreign is a file as another system writes it: other prefixes and addresses, a ReadingType behind its readings that leaves things out,
// readings without a time of their own, several blocks in an entry.
const foreign = `<?xml version="1.0"?>
<a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns:e="http://naesb.org/espi">
 <a:id>urn:uuid:1</a:id>
 <a:entry><a:content><e:IntervalBlock><e:interval><e:duration>1800</e:duration><e:start>1772319600</e:start></e:interval>
   <e:IntervalReading><e:cost>974</e:cost><e:value>282</e:value></e:IntervalReading>
   <e:IntervalReading><e:value>-3</e:value></e:IntervalReading></e:IntervalBlock>
   <e:IntervalBlock><e:IntervalReading><e:ReadingQuality><e:quality>17</e:quality></e:ReadingQuality><e:timePeriod><e:duration>900</e:duration><e:start>1772321400</e:start></e:timePeriod><e:value>7</e:value></e:IntervalReading>
   <e:IntervalReading><e:ReadingQuality><e:quality>8</e:quality></e:ReadingQuality><e:timePeriod><e:duration>900</e:duration><e:start>1772322300</e:start></e:timePeriod><e:value>7</e:value></e:IntervalReading>
   <e:IntervalReading><e:timePeriod><e:duration>3600</e:duration><e:start>1772323200</e:start></e:timePeriod><e:value>7</e:value></e:IntervalReading>
   <e:IntervalReading><e:timePeriod><e:duration>900</e:duration><e:start>yesterday</e:start></e:timePeriod><e:value>7</e:value></e:IntervalReading>
   <e:IntervalReading><e:timePeriod><e:duration>900</e:duration><e:start>1772324100</e:start></e:timePeriod><e:value>0.5</e:value></e:IntervalReading>
   <e:IntervalReading><e:timePeriod><e:duration>900</e:duration><e:start>1772324100</e:start></e:timePeriod></e:IntervalReading></e:IntervalBlock></a:content>
   <a:link rel="up" href="RetailCustomer/9/UsagePoint/1EMH%2F1%20&amp;%202/MeterReading/01/IntervalBlock"/></a:entry>
 <a:entry><a:link rel="self" href="RetailCustomer/9/UsagePoint/1EMH%2F1%20&amp;%202/MeterReading/01"/><a:link rel="up" href="RetailCustomer/9/UsagePoint/1EMH%2F1%20&amp;%202/MeterReading"/>
   <a:link rel="related" href="RetailCustomer/9/UsagePoint/1EMH%2F1%20&amp;%202/MeterReading/01/IntervalBlock"/><a:link rel="related" href="ReadingType/07"/><a:content><e:MeterReading/></a:content></a:entry>
 <a:entry><a:link rel="self" href="ReadingType/07"/><a:content><e:ReadingType><e:accumulationBehaviour>4</e:accumulationBehaviour><e:commodity>1</e:commodity><e:currency>840</e:currency>
   <e:dataQualifier>12</e:dataQualifier><e:flowDirection>1</e:flowDirection><e:intervalLength>900</e:intervalLength><e:kind>12</e:kind><e:phase>769</e:phase><e:powerOfTenMultiplier>0</e:powerOfTenMultiplier>
   <e:timeAttribute>2</e:timeAttribute><e:uom>72</e:uom><e:argument><e:numerator>1</e:numerator><e:denominator>2</e:denominator></e:argument></e:ReadingType></a:content></a:entry>
 <a:entry><a:link rel="self" href="RetailCustomer/9/UsagePoint/1EMH%2F1%20&amp;%202"/><a:content><e:UsagePoint><e:ServiceCategory><e:kind>0</e:kind></e:ServiceCategory></e:UsagePoint></a:content></a:entry>
</a:feed>`

func TestAForeignFileIsReadIntoTheUnitOfTheChannel(t *testing.T) {
	want := `0: 1EMH/1 & 2 1 2026-02-28T23:15:00Z 0.282
1: 1EMH/1 & 2 1 2026-02-28T23:30:00Z -0.003
2: 1EMH/1 & 2 1 2026-02-28T23:45:00Z 0.007
3: refused: quality 8 or 9: it was estimated, and readings are what meters measured: this node estimates what is missing
4: refused: duration: 3600 s, where the channel has intervals of 900 s
5: refused: start: "yesterday": write a whole number from 0 to 68719476736
6: refused: value: "0.5": write a whole number from -140737488355328 to 140737488355328
7: refused: value: missing`
	if got := listed(read(t, smart(t), foreign)); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

func TestAFileWithoutRegisteredMetersKeepsItsReadingTypes(t *testing.T) {
	l := must[*message.List](t)(greenbutton.Read(strings.NewReader(foreign), xmlpull.Limits{}, nil))
	if len(l.Readings) != 3 || l.Readings[0].Type.String() != "0.12.2.4.1.1.12.0.0.1.2.0.0.0.769.0.72.840" || l.Readings[0].Value != 282 {
		t.Errorf("%+v", l.Readings)
	}
}

func TestReadingsThatBelongNowhereAreRefused(t *testing.T) {
	m := smart(t)
	const reading = `<e:IntervalBlock><e:IntervalReading><e:timePeriod><e:duration>900</e:duration><e:start>0</e:start></e:timePeriod><e:value>1</e:value></e:IntervalReading></e:IntervalBlock>`
	entry := func(content string, links ...string) string {
		out := "<entry>"
		for i := 0; i < len(links); i += 2 {
			out += `<link rel="` + links[i] + `" href="` + links[i+1] + `"/>`
		}
		return out + "<content>" + content + "</content></entry>"
	}
	block := entry(reading, "self", "b/1", "up", "b")
	of := entry("<e:MeterReading/>", "self", "m", "up", "ms", "related", "b", "related", "t")
	kind := func(text string) string { return entry("<e:ReadingType>"+text+"</e:ReadingType>", "self", "t") }
	point := func(id string) string { return entry("<e:UsagePoint/>", "self", "p/"+id, "related", "ms") }
	for _, tt := range []struct{ body, want string }{
		{block, "belongs to no MeterReading"},
		{block + of + entry("<e:MeterReading/>", "self", "n", "related", "b"), "belongs to no MeterReading, or to several"},
		{block + of, "no ReadingType"},
		{block + of + kind("<e:uom>kWh</e:uom>"), `ReadingType: uom: "kWh"`},
		{block + of + kind("<e:powerOfTenMultiplier>300</e:powerOfTenMultiplier>"), "powerOfTenMultiplier: write a number from -12 to 12"},
		{block + of + kind(""), "belongs to no UsagePoint"},
		{block + of + kind("") + point("other"), `no meter "other"`},
		{block + of + kind("") + point(""), "meter: missing"},
		{block + of + kind("") + point(strings.Repeat("x", 65)), "meter: more than 64 bytes"},
		{block + of + kind("<e:uom>42</e:uom>") + point("m"), "the meter has no channel for reading type 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.42.0"},
		{block + of + kind("<e:intervalLength>900</e:intervalLength>") + point("m"), "channels 1, 2 of the meter fit reading type"},
	} {
		m.ID = "m"
		l := read(t, m, `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:e="http://naesb.org/espi">`+tt.body+`</feed>`)
		if len(l.Readings) != 0 || len(l.Refused) != 1 || !strings.Contains(l.Refused[0].Reason, tt.want) {
			t.Errorf("%s\nread %+v, refused %v; want %s", tt.body, l.Readings, l.Refused, tt.want)
		}
	}
}

func TestAttackDocumentsThatAreNoFeedsAreRefused(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`<feed/>`, "is expected"},
		{`<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#"/>`, "is expected"},
		{`<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><feed xmlns="http://www.w3.org/2005/Atom"/>`, "document type"},
		{`<feed xmlns="http://www.w3.org/2005/Atom">` + strings.Repeat(`<entry>`, 1000), "deep"},
		{`<feed xmlns="http://www.w3.org/2005/Atom">`, "the document ends within element feed"},
		{`<feed xmlns="http://www.w3.org/2005/Atom"/><a/>`, "second root"},
		{`<feed xmlns="http://www.w3.org/2005/Atom"><entry><content><IntervalBlock xmlns="http://naesb.org/espi">` + strings.Repeat(`<IntervalReading/>`, message.MaxReadings+1), "send them in several messages"},
	} {
		if l, err := greenbutton.Read(strings.NewReader(tt.in), xmlpull.Limits{Depth: 16}, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80q: %v, %v; want %s", tt.in, l, err, tt.want)
		}
	}
}

func TestTheRuleOfDaylightSavingTimeIsThatOfTheZone(t *testing.T) {
	for _, tt := range []struct{ zone, want string }{
		{"America/New_York", "<dstEndRule>B40E2000</dstEndRule><dstOffset>3600</dstOffset><dstStartRule>360E2000</dstStartRule><tzOffset>-18000</tzOffset>"},
		{"Europe/Berlin", "<dstEndRule>AE0E3000</dstEndRule><dstOffset>3600</dstOffset><dstStartRule>3E0E2000</dstStartRule><tzOffset>3600</tzOffset>"},
		{"Australia/Lord_Howe", "<dstEndRule>440E2000</dstEndRule><dstOffset>1800</dstOffset><dstStartRule>A40E2000</dstStartRule><tzOffset>37800</tzOffset>"},
		{"Asia/Kolkata", "<dstEndRule>FFFFFFFF</dstEndRule><dstOffset>0</dstOffset><dstStartRule>FFFFFFFF</dstStartRule><tzOffset>19800</tzOffset>"},
		{"Asia/Jerusalem", "<dstEndRule>AE0E2000</dstEndRule><dstOffset>3600</dstOffset><dstStartRule>337A2000</dstStartRule>"},
		{"UTC", "<dstEndRule>FFFFFFFF</dstEndRule>"},
	} {
		zone := must[*time.Location](t)(time.LoadLocation(tt.zone))
		var out strings.Builder
		w := greenbutton.NewWriter(&out, greenbutton.Head{Meter: smart(t), From: at(0), To: at(96), Zone: zone})
		if err := w.Close(); err != nil || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %v\n%s", tt.zone, err, out.String())
		}
	}
}

func TestAForeignParserReadsAFile(t *testing.T) {
	m := smart(t)
	m.ID = "E1"
	name := filepath.Join(t.TempDir(), "file.xml")
	text := file(t, m, time.Hour, map[int][]meter.Version{
		1: {{End: at(1), Value: 0.123, Stage: meter.Validated}, {End: at(2), Value: 0.124, Stage: meter.Raw}, {End: at(3), Value: 0.125, Stage: meter.Estimated, Origin: meter.Origin{Rule: "like-day"}}},
		2: {{End: at(1), Value: 0.25, Stage: meter.Edited}},
		3: {{End: at(0), Value: 1234.5}},
	})
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), peers.Python(t), filepath.Join("..", "..", "..", "testing", "peers", "greenbutton_peer.py"), name).CombinedOutput()
	want := `usage point E1 electricity
Channel 1 wattHours forward deltaData 900
2026-02-28T23:00:00+00:00 0:15:00 123 valid
2026-02-28T23:15:00+00:00 0:15:00 124 raw
2026-02-28T23:30:00+00:00 0:15:00 125 estimatedUsingReferenceDay
Channel 2 wattHours reverse deltaData 900
2026-02-28T23:00:00+00:00 0:15:00 10000 manuallyEdited
Channel 3 wattHours forward bulkQuantity None
2026-02-28T23:00:00+00:00 0:00:00 1234500 raw
`
	if err != nil || string(got) != want {
		t.Errorf("%v: the parser read\n%s\nwant\n%s", err, got, want)
	}
}

func FuzzRead(f *testing.F) {
	m := smart(f)
	f.Add(foreign)
	f.Add(file(f, m, time.Hour, map[int][]meter.Version{1: {{End: at(1), Value: 0.123}}, 3: {{End: at(0), Value: 5}}}))
	f.Fuzz(func(t *testing.T, text string) {
		l, err := greenbutton.Read(strings.NewReader(text), xmlpull.Limits{Depth: 16}, func(_ string, kind meter.ReadingType, length time.Duration) (greenbutton.Target, error) {
			return greenbutton.Fit(m, kind, length)
		})
		if err != nil {
			return
		}
		if l.Len() != len(l.Readings)+len(l.Refused) {
			t.Errorf("%d readings in the file, %d were read and %d refused", l.Len(), len(l.Readings), len(l.Refused))
		}
		for _, r := range l.Readings {
			if r.Meter == "" || r.Channel < 1 || r.Channel > 3 || r.End.IsZero() {
				t.Errorf("%+v", r)
			}
		}
	})
}
