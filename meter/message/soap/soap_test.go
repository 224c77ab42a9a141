package soap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"voltbus/internal/xmlpull"
	"voltbus/meter/message"
	"voltbus/meter/message/soap"
)

const (
	space11 = "http://schemas.xmlsoap.org/soap/envelope/"
	space12 = "http://www.w3.org/2003/05/soap-envelope"
)

// envelope is a message around a body.
func envelope(space, header, body string) string {
	return `<s:Envelope xmlns:s="` + space + `" xmlns="` + soap.Namespace + `"><s:Header>` + header + `</s:Header><s:Body>` + body + `</s:Body></s:Envelope>`
}

func TestBothOperationsAreReadInBothVersions(t *testing.T) {
	for _, tt := range []struct {
		space, body, operation string
		version                soap.Version
		readings, refused      int
	}{
		{space11, `<RecordReading><meter> E1 </meter><channel>1</channel><end>2026-03-01T00:15:00Z</end><value>1.5</value></RecordReading>`, "RecordReading", soap.V11, 1, 0},
		{space12, `<RecordReading><meter>E1</meter><readingType>0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0</readingType><end>2026-03-01T00:15:00Z</end><value>1</value></RecordReading>`, "RecordReading", soap.V12, 1, 0},
		{space11, `<RecordReading><meter>E1</meter></RecordReading>`, "RecordReading", soap.V11, 0, 1},
		{space12, `<RecordReadings><reading meter="E1" channel="1" end="2026-03-01T00:15:00Z" value="1"/>
			<reading meter="E2" channel="0" end="2026-03-01T00:15:00Z" value="1"/><reading meter="E3" channel="1" end="2026-03-01T00:15:00Z" value="2"></reading></RecordReadings>`, "RecordReadings", soap.V12, 2, 1},
		{space11, `<RecordReadings/>`, "RecordReadings", soap.V11, 0, 0},
	} {
		r, err := soap.Read(strings.NewReader(envelope(tt.space, `<x xmlns="urn:x" s:mustUnderstand="0"><y/></x>`, tt.body)), xmlpull.Limits{})
		if err != nil || r.Version != tt.version || r.Operation != tt.operation || len(r.Readings) != tt.readings || len(r.Refused) != tt.refused {
			t.Errorf("%s: %+v, %v", tt.body, r, err)
			continue
		}
		for _, reading := range r.Readings {
			if strings.ContainsAny(reading.Meter, " ") || reading.End.IsZero() || reading.Value == 0 {
				t.Errorf("%s: %+v", tt.body, reading)
			}
		}
	}
}

func TestAttackMessagesThatAreNoneGetAFault(t *testing.T) {
	deep := strings.Repeat("<a>", 100)
	for _, tt := range []struct{ in, code, want string }{
		{`no XML`, "Sender", "text outside"},
		{`<a/>`, "Sender", "Envelope is expected"},
		{`<s:Envelope xmlns:s="urn:x"/>`, "VersionMismatch", "neither"},
		{`<s:Envelope xmlns:s="` + space11 + `"/>`, "Sender", "no Body"},
		{envelope(space11, "", ""), "Sender", "Body is empty"},
		{envelope(space11, "", `<RecordReading xmlns="urn:other"/>`), "Sender", "is not known"},
		{envelope(space11, "", `<Delete/>`), "Sender", "operation Delete"},
		{envelope(space11, "", `<RecordReadings/><RecordReadings/>`), "Sender", "second element"},
		{envelope(space11, "", `<RecordReadings><reading colour="1"/></RecordReadings>`), "Sender", "attribute colour"},
		{envelope(space11, "", `<RecordReadings><reading xmlns:a="urn:a" a:meter="1"/></RecordReadings>`), "Sender", "attribute meter does not belong"},
		{envelope(space11, "", `<RecordReadings><reading><a/></reading></RecordReadings>`), "Sender", "where text is expected"},
		{envelope(space11, "", `<RecordReadings>x</RecordReadings>`), "Sender", "text \"x\""},
		{envelope(space11, "", `<RecordReading><meter>1</meter><meter>2</meter></RecordReading>`), "Sender", "stands twice"},
		{envelope(space11, "", `<RecordReading><meter xmlns="urn:x">1</meter></RecordReading>`), "Sender", "does not belong"},
		{envelope(space12, `<x xmlns="urn:x" s:mustUnderstand="true"/>`, `<RecordReadings/>`), "MustUnderstand", "header x"},
		{envelope(space11, `<x xmlns="urn:x" s:mustUnderstand="1"/>`, `<RecordReadings/>`), "MustUnderstand", "header x"},
		{`<!DOCTYPE lolz [<!ENTITY lol "lol">]>` + envelope(space11, "", `<RecordReadings/>`), "Sender", "document type"},
		{envelope(space11, "", deep), "Sender", "is not known"},
		{envelope(space11, deep, ""), "Sender", "deep"},
		{envelope(space11, "", `<RecordReadings/>`) + "<a/>", "Sender", "second root"},
		{strings.TrimSuffix(envelope(space11, "", `<RecordReadings/>`), "</s:Envelope>"), "Sender", "ends within"},
	} {
		_, err := soap.Read(strings.NewReader(tt.in), xmlpull.Limits{Depth: 16})
		f, is := errors.AsType[*soap.Fault](err)
		if !is || f.Code != tt.code || !strings.Contains(f.Reason, tt.want) {
			t.Errorf("%.150s\n%v; want %s: %s", tt.in, err, tt.code, tt.want)
			continue
		}
		for _, v := range []soap.Version{soap.V11, soap.V12} {
			wellFormed(t, f.Message(v))
		}
	}
}

func TestFaultsAreThoseOfTheirVersion(t *testing.T) {
	f := &soap.Fault{Code: "Sender", Reason: "a < b"}
	if got := string(f.Message(soap.V11)); !strings.Contains(got, "<faultcode>env:Client</faultcode><faultstring>a &lt; b</faultstring>") || f.Status(soap.V11) != 500 {
		t.Error(got)
	}
	if got := string(f.Message(soap.V12)); !strings.Contains(got, "<env:Value>env:Sender</env:Value>") || f.Status(soap.V12) != 400 {
		t.Error(got)
	}
}

func TestAnAnswerAndTheDescriptionAreWellFormed(t *testing.T) {
	r := &soap.Request{Version: soap.V12, Operation: "RecordReadings"}
	got := r.Answer(&message.Answer{Accepted: 2, Refused: []message.Refusal{{Index: 1, Reason: `"<&`}}})
	wellFormed(t, got)
	if !strings.Contains(string(got), `<accepted>2</accepted><refused index="1" reason="&#34;&lt;&amp;"/></RecordReadingsResponse>`) {
		t.Errorf("%s", got)
	}
	wellFormed(t, soap.WSDL(`http://h/?a&b"`))
}

func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", doc, err)
			return
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(envelope(space11, "", `<RecordReadings><reading meter="E1" channel="1" end="2026-03-01T00:15:00Z" value="1"/></RecordReadings>`)))
	f.Add([]byte(envelope(space12, "<x/>", `<RecordReading><meter>E1</meter><channel>1</channel></RecordReading>`)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := soap.Read(bytes.NewReader(doc), xmlpull.Limits{Depth: 16})
		if _, is := errors.AsType[*soap.Fault](err); err != nil && !is {
			t.Fatalf("%v is no fault", err)
		}
		if r.Len() != len(r.Readings)+len(r.Refused) {
			t.Fatal("readings are lost")
		}
	})
}

func BenchmarkABulkOf100(b *testing.B) {
	var body strings.Builder
	for i := range 100 {
		fmt.Fprintf(&body, `<reading meter="E%07d" channel="1" end="2026-03-01T00:15:00Z" value="%d.25"/>`, i, i)
	}
	doc := []byte(envelope(space11, "", `<RecordReadings>`+body.String()+`</RecordReadings>`))
	b.ReportAllocs()
	for b.Loop() {
		if r, err := soap.Read(bytes.NewReader(doc), xmlpull.Limits{}); err != nil || len(r.Readings) != 100 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/reading")
}
