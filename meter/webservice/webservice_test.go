package webservice_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/message/soap"
	"voltbus/meter/store"
	"voltbus/meter/store/memory"
	"voltbus/meter/webservice"
	"voltbus/point"
)

// site is a web service before a gate whose log is a list.
type site struct {
	*webservice.Service
	blocks int
	full   bool // the log takes nothing
}

func start(t *testing.T) *site {
	t.Helper()
	s, now := &site{}, func() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }
	meters := memory.New(memory.Options{Zone: time.UTC, Now: now})
	profile, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		t.Fatal(err)
	}
	m := meter.Meter{ID: "m1", Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}}}
	if r, err := meters.Register(t.Context(), []store.Registration{{Meter: m}}); err != nil || r.Added != 1 {
		t.Fatal(r, err)
	}
	forward := func(context.Context, *point.Block, []byte) (func(context.Context) error, error) {
		if s.full {
			return nil, errors.New("the log is full")
		}
		s.blocks++
		return func(context.Context) error { return nil }, nil
	}
	bounds := point.Bounds{Ahead: time.Hour}
	s.Service = webservice.New(gate.New(gate.Config{Origin: "test#", Registry: meters, Bounds: bounds, Now: now, Forward: forward}),
		gate.NewEvents(gate.EventConfig{Origin: "test#!", Known: meters.KnowsMeter, Bounds: bounds, Now: now, Forward: forward}), meters)
	return s
}

const (
	table = "meter,channel,end,value\nm1,1,2026-03-01T00:15:00Z,0.5\nm2,1,2026-03-01T00:15:00Z,0.5\nm1,1,2027-03-01T00:15:00Z,0.5\n"
	body  = `<soapenv:Envelope xmlns:soapenv="%s"><soapenv:Body>` +
		`<m:RecordReadings xmlns:m="urn:voltbus:metering:1"><m:reading meter="m1" channel="1" end="2026-03-01T00:15:00Z" value="0.5"/></m:RecordReadings></soapenv:Body></soapenv:Envelope>`
	v11 = "http://schemas.xmlsoap.org/soap/envelope/"
	v12 = "http://www.w3.org/2003/05/soap-envelope"
)

func TestATableIsAnsweredReadingByReading(t *testing.T) {
	s := start(t)
	r, err := s.Record(t.Context(), &answer.Message{Sender: "c", Media: "text/csv; charset=utf-8", Body: []byte(table)})
	if err != nil || r.Status != http.StatusOK || r.Media != "application/json" || r.Readings != 3 || s.blocks != 1 {
		t.Fatalf("%d %s, %d readings, %d blocks, %v", r.Status, r.Media, r.Readings, s.blocks, err)
	}
	text := string(r.Body)
	for _, want := range []string{`"accepted":1`, `"index":1,"reason":"no meter is registered`, `"index":2,"reason":"end: 2027-03-01T00:15:00Z lies in the future`} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %s: %s", want, text)
		}
	}
}

func TestATokenForOneMeterRecordsNoOther(t *testing.T) {
	s := start(t)
	r, err := s.Record(t.Context(), &answer.Message{Sender: "c", Under: "meters/m2", Media: "text/csv", Body: []byte(table)})
	if err != nil || !strings.Contains(string(r.Body), `"index":0,"reason":"this token may not record readings of this meter"`) || s.blocks != 0 {
		t.Errorf("%s, %d blocks, %v", r.Body, s.blocks, err)
	}
}

func TestABodyThatIsNoMessageIsRefused(t *testing.T) {
	for name, m := range map[string]answer.Message{
		"no media type":      {Body: []byte(table)},
		"an unknown one":     {Media: "text/plain", Body: []byte(table)},
		"XML that is none":   {Media: "application/xml", Body: []byte("<a>")},
		"a table of another": {Media: "text/csv", Body: []byte("a,b\n1,2\n")},
		"an entity":          {Media: "text/xml", Body: []byte(`<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`)},
	} {
		s := start(t)
		if _, err := s.Record(t.Context(), &m); !fault.Is(err, fault.Invalid) || s.blocks != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALogThatTakesNothingIsAnError(t *testing.T) {
	s := start(t)
	s.full = true
	if _, err := s.Record(t.Context(), &answer.Message{Media: "text/csv", Body: []byte(table)}); err == nil {
		t.Error("it is accepted")
	}
	r := s.SOAP(t.Context(), &answer.Message{Media: "text/xml", Body: []byte(strings.Replace(body, "%s", v11, 1))})
	if r.Status != http.StatusInternalServerError || !strings.Contains(string(r.Body), "Server") || !strings.Contains(string(r.Body), "send it again") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

func TestEachVersionOfSOAPIsAnsweredInItsOwnForm(t *testing.T) {
	for media, namespace := range map[string]string{"text/xml": v11, "application/soap+xml": v12} {
		s := start(t)
		r := s.SOAP(t.Context(), &answer.Message{Sender: "c", Media: media, Body: []byte(strings.Replace(body, "%s", namespace, 1))})
		if r.Status != http.StatusOK || !strings.HasPrefix(r.Media, media) || !strings.Contains(string(r.Body), namespace) || r.Readings != 1 || s.blocks != 1 {
			t.Errorf("%s: %d %s, %d readings, %d blocks: %s", media, r.Status, r.Media, r.Readings, s.blocks, r.Body)
		}
	}
	s := start(t)
	r := s.SOAP(t.Context(), &answer.Message{Media: "text/xml", Body: []byte(strings.Replace(body, "%s", v12, 1))})
	if r.Status == http.StatusOK || !strings.Contains(string(r.Body), "VersionMismatch") || s.blocks != 0 {
		t.Errorf("an envelope of the other version: %d %s", r.Status, r.Body)
	}
	r = s.SOAP(t.Context(), &answer.Message{Media: "text/xml", Body: []byte("no XML")})
	if r.Status != http.StatusInternalServerError || !strings.Contains(string(r.Body), "Client") {
		t.Errorf("no XML: %d %s", r.Status, r.Body)
	}
}

func TestTheDescriptionNamesTheAddress(t *testing.T) {
	r := start(t).Description("https://mds.example/api/v1/metering/soap")
	if r.Status != http.StatusOK || !strings.Contains(string(r.Body), `location="https://mds.example/api/v1/metering/soap"`) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

func TestADocumentWithReadingsAndEventsIsAnsweredInItsOrder(t *testing.T) {
	const readings = `<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#"><MeterReading>` +
		`<EndDeviceEvents><createdDateTime>2026-03-01T00:01:00Z</createdDateTime><EndDeviceEventType ref="3.26.0.85"/></EndDeviceEvents>` +
		`<EndDeviceEvents><createdDateTime>2027-03-01T00:01:00Z</createdDateTime><EndDeviceEventType ref="3.26.0.216"/></EndDeviceEvents>` +
		`<Meter><Names><name>m1</name></Names></Meter>` +
		`<Readings><timeStamp>2026-03-01T00:15:00Z</timeStamp><value>1</value><ReadingType ref="1.0"/></Readings></MeterReading></MeterReadings>`
	const events = `<EndDeviceEvents xmlns="http://iec.ch/TC57/2011/EndDeviceEvents#">` +
		`<EndDeviceEvent><createdDateTime>2026-03-01T00:01:00Z</createdDateTime><Assets><mRID>m1</mRID></Assets><EndDeviceEventType ref="3.26.0.85"/><severity>major</severity></EndDeviceEvent>` +
		`<EndDeviceEvent><createdDateTime>2026-03-01T00:01:00Z</createdDateTime><Assets><mRID>m9</mRID></Assets><EndDeviceEventType ref="3.26.0.85"/></EndDeviceEvent>` +
		`<EndDeviceEvent><createdDateTime>noon</createdDateTime><Assets><mRID>m1</mRID></Assets><EndDeviceEventType ref="3.26.0.85"/></EndDeviceEvent>` +
		`<EndDeviceEvent><createdDateTime>2026-03-01T00:01:00Z</createdDateTime><Assets><mRID>m1</mRID></Assets></EndDeviceEvent></EndDeviceEvents>`
	for _, tt := range []struct{ document, want string }{
		{readings, `{"accepted":1,"refused":[{"index":1,"reason":"at: 2027-03-01T00:01:00Z lies in the future: check the clock of the meter"},{"index":2,"reason":"readingType: `},
		{events, `{"accepted":1,"refused":[{"index":1,"reason":"no meter is registered with this id: register it first"},` +
			`{"index":2,"reason":"at: \"noon\": write such as 2026-03-01T00:15:00Z, with the zone"},{"index":3,"reason":"EndDeviceEventType: missing"}]}`},
	} {
		r, err := start(t).Record(t.Context(), &answer.Message{Sender: "c", Media: "application/xml", Body: []byte(tt.document)})
		if err != nil || !strings.HasPrefix(string(r.Body), tt.want) {
			t.Errorf("%v\n got %s\nwant %s", err, r.Body, tt.want)
		}
	}
}

func TestEventsComeBySOAP(t *testing.T) {
	e := meter.Event{Meter: "m1", At: time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC), Kind: meter.LastGasp, Severity: meter.Critical, Detail: `"<phase>" & more`}
	other := e
	other.Meter = "m9"
	for _, v := range []soap.Version{soap.V11, soap.V12} {
		s := start(t)
		got := s.SOAP(t.Context(), &answer.Message{Sender: "c", Media: v.Media(), Body: soap.RecordEvents(v, []meter.Event{e, other})})
		a, err := soap.ReadAnswer(got.Body, xmlpull.Limits{Depth: 16})
		if err != nil || a.Accepted != 1 || len(a.Refused) != 1 || a.Refused[0].Index != 1 || s.blocks != 1 {
			t.Errorf("%s: %+v, %v", got.Body, a, err)
		}
		bad := s.SOAP(t.Context(), &answer.Message{Sender: "c", Media: v.Media(), Body: []byte(strings.Replace(string(soap.RecordEvents(v, []meter.Event{e})), "severity=", "colour=", 1))})
		if _, err := soap.ReadAnswer(bad.Body, xmlpull.Limits{Depth: 16}); err == nil || !strings.Contains(err.Error(), "attribute colour does not belong to an event") {
			t.Errorf("an attribute that is none: %v", err)
		}
	}
}
