package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/monitor"
	"voltbus/analysis"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/alarms"
	ops "voltbus/operation/analysis"
	"voltbus/point"
	"voltbus/testing/peers"
)

func TestAnnotationsAndViewsAreKeptAndAudited(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	viewer, _ := r.person("ada", identity.Viewer)
	operator, _ := r.person("ben", identity.Operator)
	note := ops.Annotation{From: "2026-03-01T10:00:00Z", To: "2026-03-01T12:00:00Z", Text: "filter changed", Points: []string{"b/fan"}}
	if _, err := client.Do(wait(t), viewer, ops.Annotate, note); !fault.Is(err, fault.Refused) {
		t.Errorf("a viewer annotates: %v", err)
	}
	written, err := client.Do(wait(t), operator, ops.Annotate, note)
	if err != nil || written.ID == "" || written.By != "person:ben" {
		t.Fatalf("%+v, %v", written, err)
	}
	note.ID, note.Text = written.ID, "filters changed"
	if _, err := client.Do(wait(t), operator, ops.Annotate, note); err != nil {
		t.Fatal(err)
	}
	note.ID = "none"
	if _, err := client.Do(wait(t), operator, ops.Annotate, note); !fault.Is(err, fault.NotFound) {
		t.Errorf("an annotation that is not there is changed: %v", err)
	}
	view := ops.View{View: analysis.View{Name: "Night", Link: "/explore?point=b/fan", Note: "the fan"}}
	if err := client.Tell(wait(t), operator, ops.SaveView, view); err != nil {
		t.Fatal(err)
	}
	r.halt()

	r = run(t, cfg)
	shown := func(from, to, about string) string {
		list, err := client.Do(wait(t), r.Client, ops.ListAnnotations, ops.Time{From: operation.Time(from), To: operation.Time(to), Point: []string{about}})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, a := range list.Annotations {
			texts = append(texts, fmt.Sprintf("%s by %s, version %d", a.Text, a.By, a.Version))
		}
		return strings.Join(texts, "; ")
	}
	if got := shown("2026-03-01T11:00:00Z", "2026-03-02T00:00:00Z", "b/fan"); got != "filters changed by person:ben, version 2" {
		t.Errorf("after a restart there is %q", got)
	}
	if got := shown("2026-03-01T11:00:00Z", "2026-03-02T00:00:00Z", "b/other") + shown("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "b/fan"); got != "" {
		t.Errorf("of another point and another time there is %q", got)
	}
	if list, err := client.Do(wait(t), r.Client, ops.ListViews, struct{}{}); err != nil || len(list.Views) != 1 || list.Views[0].Name != "Night" || list.Views[0].Link != "/explore?point=b/fan" {
		t.Errorf("%+v, %v", list, err)
	}
	if got := strings.Join(r.told(client.AuditFilter{}), "\n"); !strings.Contains(got, "annotation.put") || !strings.Contains(got, "view.put") {
		t.Errorf("the audit log lacks them: %s", got)
	}
	if err := client.Tell(wait(t), r.Client, ops.DeleteAnnotation, ops.ID{ID: written.ID}); err != nil {
		t.Fatal(err)
	}
	if got := shown("2026-03-01T11:00:00Z", "2026-03-02T00:00:00Z", "b/fan"); got != "" {
		t.Errorf("a deleted one is still there: %q", got)
	}
	if err := client.Tell(wait(t), r.Client, ops.DeleteView, ops.ViewName{View: "../alarms/x"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a document of another kind is deleted: %v", err)
	}
}

func TestAReportIsMadeOfHistoryAndAlarms(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	cfg.Node.TimeZone = "Europe/Berlin"
	r := run(t, cfg)
	if _, err := client.Do(wait(t), r.Client, alarms.Put, alarms.NewRule{Rule: alarm.Rule{Name: "hot", Points: []string{"b/power"}, Check: alarm.High, Limit: new(80.0)}}); err != nil {
		t.Fatal(err)
	}
	start := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	var samples []point.Sample
	for i := range 60 {
		samples = append(samples, point.Sample{Point: "b/power", Time: start.Add(time.Duration(i) * time.Minute), Value: point.FloatOf(float64(i))})
	}
	r.record(samples)
	r.reads("b/power", 85)
	eventually(t, "the alarm is open", func() bool { return strings.Contains(r.alarmed(), "hot@b/power") })
	eventually(t, "all is stored", func() bool { return r.stored("b/power") == 61 })
	if err := client.Tell(wait(t), r.Client, ops.SaveReport, ops.Report{Report: analysis.Report{Name: "plant", Title: "Power of the plant", Points: []string{"b/power", "b/gone"}}}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	ask := ops.Printed{Report: "plant", From: operation.Time(start.Format(time.RFC3339)), To: operation.Time(start.Add(2 * time.Hour).Format(time.RFC3339))}
	if _, err := client.Copy(wait(t), r.Client, ops.Print, ask, &file); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text := peers.PDF(t, name)
	for _, want := range []string{"Power of the plant", "times in Europe/Berlin", "does not know the point b/gone", "30.41", "85.00", "61 samples", "Alarms: 1 opened", "b/power is above 80"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	for _, bad := range []ops.Printed{{}, {Report: "none"}, {Report: "plant", Point: []string{"b/power"}}, {Report: "plant", From: "now", To: "-1h"}, {Point: []string{"b/power"}, From: "-400d", To: "now"}} {
		if _, err := client.Copy(wait(t), r.Client, ops.Print, bad, new(bytes.Buffer)); err == nil {
			t.Errorf("%+v gives a report", bad)
		}
	}
}

// TestAReportIsSentByEMail has a node send the report of the last week to a mail server of others, when an operator asks for it.
func TestAReportIsSentByEMail(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	cfg.Node.TimeZone = "Europe/Berlin"
	r := run(t, cfg)
	server := peers.Mail(t)
	ca, err := os.ReadFile(server.CA)
	if err != nil {
		t.Fatal(err)
	}
	secrets := filepath.Join(r.data(), monitor.Secrets)
	if err := os.MkdirAll(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"ca.pem": ca, "mail": []byte(server.Password)} {
		if err := os.WriteFile(filepath.Join(secrets, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.tells(fmt.Sprintf(`{"contacts": [{"name": "ada", "by": "email", "to": "ada@example.org", "from": "plant@example.org", "server": %q, "user": %q, "secret": "mail", "ca": "ca.pem"}]}`,
		server.Addr, server.User))
	if err := client.Tell(wait(t), r.Client, ops.SaveView, ops.View{View: analysis.View{Name: "Night", Link: "/explore?point=b/power&formula=1"}}); err != nil {
		t.Fatal(err)
	}
	what := ops.Report{Report: analysis.Report{Name: "plant", Title: "Power of the plant", View: "Night", Contacts: []string{"ada", "gone"}, Weekday: "friday", At: "15:30"}}
	if err := client.Tell(wait(t), r.Client, ops.SaveReport, what); err != nil {
		t.Fatal(err)
	}
	none := 0
	if what.Expect = &none; !fault.Is(client.Tell(wait(t), r.Client, ops.SaveReport, what), fault.Conflict) {
		t.Error("a new report takes the place of another one")
	}
	what.Name, what.View = "other", "none"
	if err := client.Tell(wait(t), r.Client, ops.SaveReport, what); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "is no saved view") {
		t.Errorf("a report of a view that is not there: %v", err)
	}
	viewer, _ := r.person("ada", identity.Viewer)
	if _, err := client.Do(wait(t), viewer, ops.SendReport, ops.ReportName{Report: "plant"}); !fault.Is(err, fault.Refused) {
		t.Errorf("a viewer sends a report: %v", err)
	}
	operator, _ := r.person("ben", identity.Operator)
	last, err := client.Do(wait(t), operator, ops.SendReport, ops.ReportName{Report: "plant"})
	if err != nil || strings.Join(last.Sent, "") != "ada" || !strings.Contains(last.Error, `"gone" is no contact`) || last.By != "person:ben" {
		t.Errorf("%+v, %v", last, err)
	}
	var got struct {
		Content string
		To      []string
	}
	if err := json.Unmarshal([]byte(server.Await(t, "letter")), &got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Content, "Power of the plant, week from") || !strings.Contains(got.Content, "application/pdf") || got.To[0] != "ada@example.org" {
		t.Errorf("the letter is %.500s", got.Content)
	}
	list, err := client.Do(wait(t), r.Client, ops.ListReports, struct{}{})
	if err != nil || !list.Sends || list.Zone != "Europe/Berlin" {
		t.Fatalf("%+v, %v", list, err)
	}
	berlin, err := time.LoadLocation(list.Zone)
	if err != nil {
		t.Fatal(err)
	}
	if next := list.Reports[0].Next; list.Reports[0].Last.Sent[0] != "ada" || !next.After(time.Now()) || next.In(berlin).Format("Mon 15:04") != "Fri 15:30" {
		t.Errorf("%+v", list.Reports[0])
	}
}
