package node_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/meter"
	"voltbus/meter/message/compact"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
	"voltbus/testing/peers"
)

// meteringNode is a node with the meters m1 and m2, and the secret of a token below a path.
func meteringNode(t *testing.T, under string) (*running, string) {
	t.Helper()
	r := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	ctx := context.Background()
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1"), smartMeter("m2")}}); err != nil {
		t.Fatal(err)
	}
	issued, err := client.Do(ctx, r.Client, tokens.Issue, tokens.Recorder{Name: "concentrator", Under: under})
	if err != nil {
		t.Fatal(err)
	}
	return r, issued.Token
}

// deliver sends a message.
func (r *running) deliver(token, path, media, body string) (status int, answer string) {
	t := r.t
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.HTTPAddr()+"/api/v1/metering/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", media)
	q.Header.Set("Authorization", "Bearer "+token)
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(b)
}

func TestAStockClientOfWebServicesRecordsReadings(t *testing.T) {
	r, token := meteringNode(t, "meters")
	start := someDay(t)
	reading := func(meter string, n int) map[string]any {
		return map[string]any{"meter": meter, "channel": 1, "end": start.Add(time.Duration(n) * 15 * time.Minute).Format(time.RFC3339), "value": 0.25}
	}
	single := reading("m1", 1)
	var calls strings.Builder
	for _, c := range []map[string]any{
		{"port": "Metering", "call": "RecordReading", "arguments": single},
		{"port": "MeteringSoap12", "call": "RecordReading", "arguments": reading("nobody", 1)},
		{"port": "Metering", "call": "RecordReadings", "arguments": map[string]any{"reading": []any{reading("m1", 2), reading("nobody", 1), reading("m2", 1)}}},
		{"port": "MeteringSoap12", "call": "RecordReadings", "arguments": map[string]any{"reading": []any{reading("m2", 2)}}},
	} {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		calls.Write(append(b, '\n'))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, peers.Python(t), "../testing/peers/zeep_peer.py", r.HTTPAddr()+"/api/v1/metering/soap?wsdl", token)
	cmd.Stdin = strings.NewReader(calls.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const unknown = `"no meter is registered with this id and channel: register it first"`
	want := `{"result": {"accepted": 1, "refused": []}}
{"result": {"accepted": 0, "refused": [{"index": 0, "reason": ` + unknown + `}]}}
{"result": {"accepted": 2, "refused": [{"index": 1, "reason": ` + unknown + `}]}}
{"result": {"accepted": 1, "refused": []}}
`
	if string(out) != want {
		t.Errorf("the client got\n%swant\n%s", out, want)
	}
	missingOf(t, r.Client, "2026-03-03", 4)
}

func TestMessagesOfOtherSystemsAreRecorded(t *testing.T) {
	r, token := meteringNode(t, "meters/m1")
	at := func(n int) string { return someDay(t).Add(time.Duration(n) * 15 * time.Minute).Format(time.RFC3339) }
	cim := `<MeterReadings xmlns="http://iec.ch/TC57/2011/MeterReadings#"><MeterReading><Meter><Names><name>m1</name></Names></Meter><IntervalBlocks>` +
		`<IntervalReadings><timeStamp>` + at(1) + `</timeStamp><value>1</value></IntervalReadings><IntervalReadings><timeStamp>` + at(2) + `</timeStamp><value>2</value></IntervalReadings>` +
		`<ReadingType ref="0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"/></IntervalBlocks></MeterReading></MeterReadings>`
	for _, tt := range []struct {
		media, body string
		status      int
		want        string
	}{
		{"application/xml", cim, 200, `{"accepted":2,"refused":[]}`},
		{"text/xml; charset=utf-8", cim, 200, `{"accepted":2,"refused":[]}`},
		{"text/csv", "meter,channel,end,value\nm2,1," + at(1) + ",1\nm1,1," + at(3) + ",1\n", 200, `{"accepted":1,"refused":[{"index":0,"reason":"this token may not record readings of this meter"}]}`},
		{"application/json", "{}", 400, "set Content-Type"},
		{"application/xml", "<a/>", 400, "line 1: element a"},
		{"application/xml", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`, 400, "document type"},
		{"text/csv", "a,b\n", 400, "column"},
	} {
		if status, got := r.deliver(token, "messages", tt.media, tt.body); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %.60s: %d %s; want %d %s", tt.media, tt.body, status, got, tt.status, tt.want)
		}
	}
	end := func(n int) int64 { return someDay(t).Add(time.Duration(n) * 15 * time.Minute).Unix() }
	block, err := compact.Append(nil, []meter.Reading{{Meter: "m1", Channel: 1, End: time.Unix(end(6), 0), Value: 6}, {Meter: "m2", Channel: 1, End: time.Unix(end(6), 0), Value: 6}})
	if err != nil {
		t.Fatal(err)
	}
	const mine = `[{"index":1,"reason":"this token may not record readings of this meter"}]`
	for _, tt := range []struct{ media, body, want string }{
		{"application/senml+json", fmt.Sprintf(`[{"bn":"m1/1","bt":%d,"v":4},{"n":"","t":0}]`, end(4)), `{"accepted":1,"refused":[{"index":1,`},
		{"application/senml+cbor", "\x82\xa3\x00\x64m1/1\x06\x1a" + string(binary.BigEndian.AppendUint32(nil, uint32(end(5)))) + "\x02\x05" +
			"\xa3\x00\x64m2/1\x06\x1a" + string(binary.BigEndian.AppendUint32(nil, uint32(end(5)))) + "\x02\x05", `{"accepted":1,"refused":` + mine + `}`},
		{"application/vnd.voltbus.block", string(block), `{"accepted":1,"refused":` + mine + `}`},
	} {
		if status, got := r.deliver(token, "messages", tt.media, tt.body); status != 200 || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %d %s; want %s", tt.media, status, got, tt.want)
		}
	}
	missingOf(t, r.Client, "2026-03-03", 6)
}

func TestAttackTheWebServiceAnswersHostileMessagesWithAFault(t *testing.T) {
	r, token := meteringNode(t, "meters/m1")
	envelope := func(body string) string {
		return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>` + body + `</s:Body></s:Envelope>`
	}
	bomb := `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">` + strings.Repeat(`<!ENTITY b "&a;&a;&a;&a;&a;&a;">`, 50) + `]>`
	other := fmt.Sprintf(`<RecordReadings xmlns="urn:voltbus:metering:1"><reading meter="m2" channel="1" end="%s" value="1"/></RecordReadings>`, someDay(t).Add(15*time.Minute).Format(time.RFC3339))
	for _, tt := range []struct {
		media, body string
		status      int
		want        string
	}{
		{"text/xml", bomb + envelope(""), 500, "document type"},
		{"text/xml", envelope(strings.Repeat("<a>", 100_000)), 500, "is not known"},
		{"text/xml", envelope(`<RecordReadings xmlns="urn:voltbus:metering:1"><reading><` + strings.Repeat("a", 1<<20)), 500, "more than 65536 bytes"},
		{"text/xml", `<s:Envelope xmlns:s="urn:x"/>`, 500, "env:VersionMismatch"},
		{"application/soap+xml", envelope(""), 400, "env:Sender"},
		{"application/json", "{}", 415, "set Content-Type"},
		{"text/xml", envelope(other), 200, `reason="this token may not record readings of this meter"`},
	} {
		if status, got := r.deliver(token, "soap", tt.media, tt.body); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %.60s: %d %s; want %d %s", tt.media, tt.body, status, got, tt.status, tt.want)
		}
	}
	if status, _ := r.deliver("no-token", "soap", "text/xml", envelope(other)); status != 401 {
		t.Errorf("without a login: %d", status)
	}
	plain := run(t, load(t, t.TempDir(), listenAnywhere+"devices: []\n"))
	issued, err := client.Do(t.Context(), plain.Client, tokens.Issue, tokens.Recorder{Name: "concentrator", Under: ""})
	if err != nil {
		t.Fatal(err)
	}
	if status, got := plain.deliver(issued.Token, "soap", "text/xml", envelope(other)); status/100 != 5 || !strings.Contains(got, "metering") {
		t.Errorf("a node that is no metering data system: %d %s", status, got)
	}
}
