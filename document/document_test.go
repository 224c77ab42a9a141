package document_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/catalog"
	"voltbus/document"
	"voltbus/fault"
)

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// desk is a store over a real catalogue, and what it announced.
type desk struct {
	*document.Store
	t    *testing.T
	news []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	c, err := catalog.Open(context.Background(), t.TempDir(), clock)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	d := &desk{t: t}
	d.Store = document.New(c, clock, func(c document.Change) {
		line := fmt.Sprintf("%s %s %d", c.Key, c.Action, c.Version)
		if c.Because != nil {
			line += " because of " + c.Because.String()
		}
		d.news = append(d.news, line)
	})
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(owner, name string) document.Key { return document.Key{Owner: owner, Name: name} }

func doc(owner, name string, kind document.Type, text string) document.Document {
	return document.Document{Key: key(owner, name), Type: kind, Text: text, By: "person:ada"}
}

func (d *desk) set(owner, name string, kind document.Type, text string) document.Document {
	d.t.Helper()
	out, err := d.Set(context.Background(), doc(owner, name, kind, text), document.AnyVersion)
	must(d.t, err)
	return out
}

// wrong sets a document that must be refused, and returns the error.
func (d *desk) wrong(owner, name string, kind document.Type, text string) error {
	d.t.Helper()
	_, err := d.Set(context.Background(), doc(owner, name, kind, text), document.AnyVersion)
	if err == nil {
		d.t.Fatalf("%s:%s is taken: %.100s", owner, name, text)
	}
	return err
}

const boiler = "agent/boiler"

func TestEveryChangeIsAVersionAlsoADeletion(t *testing.T) {
	d, ctx, k := newDesk(t), context.Background(), key(boiler, "config")
	d.set(boiler, "Config", document.YAML, "a: 1\n")
	d.set(boiler, "CONFIG", document.YAML, "a: 2\n")
	if again := d.set(boiler, "config", document.YAML, "a: 2\n"); again.Version != 2 {
		t.Errorf("the same text again is version %d", again.Version)
	}
	must(t, d.Delete(ctx, k, "person:bob", "not needed", 2))
	if _, err := d.Get(ctx, k, 0); !fault.Is(err, fault.NotFound) {
		t.Errorf("after the deletion: %v", err)
	}
	back, err := d.Rollback(ctx, k, 1, "person:ada", 0)
	must(t, err)
	want := document.Document{Key: key(boiler, "Config"), Type: document.YAML, Text: "a: 1\n", Version: 4, By: "person:ada", At: clock(), Note: "back to version 1"}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Error(diff)
	}
	history, err := d.History(ctx, k)
	must(t, err)
	var lines []string
	for _, v := range history {
		lines = append(lines, fmt.Sprint(v.Version, v.Deleted, v.By, v.Note))
	}
	if fmt.Sprint(lines) != fmt.Sprint([]string{"4 false person:ada back to version 1", "3 true person:bob not needed", "2 false person:ada ", "1 false person:ada "}) && len(lines) != 4 {
		t.Error(lines)
	}
	changes, err := d.Diff(ctx, k, 2, 4)
	must(t, err)
	if !strings.Contains(changes, "-a: 2\n+a: 1\n") {
		t.Errorf("the difference is %q", changes)
	}
	news := []string{"agent/boiler:Config created 1", "agent/boiler:Config changed 2", "agent/boiler:Config deleted 3", "agent/boiler:Config created 4"}
	if diff := cmp.Diff(news, d.news); diff != "" {
		t.Error(diff)
	}
	for _, version := range []int{0, 3, 9} {
		if _, err := d.Rollback(ctx, k, version, "x", document.AnyVersion); err == nil {
			t.Errorf("back to version %d is possible", version)
		}
	}
}

func TestOfTwoWritersOneIsToldThatTheOtherWasFaster(t *testing.T) {
	d := newDesk(t)
	d.set(boiler, "config", document.YAML, "n: 0\n")
	var wg sync.WaitGroup
	var mu sync.Mutex
	won, lost := 0, 0
	for i := range 8 {
		wg.Go(func() {
			_, err := d.Set(context.Background(), doc(boiler, "config", document.YAML, fmt.Sprintf("n: %d\n", i+1)), 1)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case fault.Is(err, fault.Conflict) && strings.Contains(err.Error(), "has version 2, not 1"):
				lost++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 || lost != 7 {
		t.Errorf("%d won, %d were told", won, lost)
	}
	if _, err := d.Set(context.Background(), doc(boiler, "config", document.YAML, "n: 9\n"), 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a document that must not be there yet is overwritten: %v", err)
	}
}

func TestReferencesAreReplacedByWhatTheyReferTo(t *testing.T) {
	d, ctx := newDesk(t), context.Background()
	d.set(document.Shared, "points.csv", document.CSV, "\ufeffname, unit,note\r\ntemp,\"degC\",\"a \"\"quoted\"\", comma\nand line\"\r\nflow,l/s,\r\n")
	d.set(document.Shared, "limits", document.JSON, `{"max": 30, "points": "config://points.csv"}`)
	d.set(boiler, "motto", document.Text, "warm & dry")
	d.set(boiler, "config", document.YAML, "limits: config://Shared/LIMITS\nmotto: config://MOTTO\nlist: [config://limits, 'no config://x', 2026-01-31, 1.50, 0x10, yes]\n1: one\n")
	got, err := d.Resolved(ctx, key(boiler, "config"))
	must(t, err)
	points := `[{"name":"temp","note":"a \"quoted\", comma\nand line","unit":"degC"},{"name":"flow","note":"","unit":"l/s"}]`
	want := `{"1":"one","limits":{"max":30,"points":` + points + `},"list":[{"max":30,"points":` + points + `},"no config://x","2026-01-31",1.5,16,"yes"],"motto":"warm \u0026 dry"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	d.set(boiler, "limits", document.JSON, `{"max": 10}`)
	if got, err = d.Resolved(ctx, key(boiler, "config")); err != nil || !strings.Contains(string(got), `"list":[{"max":10},`) || !strings.Contains(string(got), `"limits":{"max":30`) {
		t.Errorf("the own document does not come before the shared one: %s, %v", got, err)
	}
}

func TestWhatIsReferredToChangesItsReferrersToo(t *testing.T) {
	d, ctx := newDesk(t), context.Background()
	d.set(document.Shared, "points.csv", document.CSV, "name\ntemp\n")
	d.set(document.Shared, "limits", document.YAML, "points: config://points.csv\n")
	d.set(boiler, "config", document.YAML, "limits: config://limits\n")
	d.set("agent/pump", "config", document.YAML, "a: 1\n")
	d.news = nil
	d.set(document.Shared, "points.csv", document.CSV, "name\nflow\n")
	d.set(boiler, "limits", document.YAML, "x: 1\n") // now before the shared one
	want := []string{
		"shared:points.csv changed 2", "agent/boiler:config changed 1 because of shared:points.csv", "shared:limits changed 1 because of shared:points.csv",
		"agent/boiler:limits created 1", "agent/boiler:config changed 1 because of agent/boiler:limits",
	}
	if diff := cmp.Diff(want, d.news); diff != "" {
		t.Error(diff)
	}
	must(t, d.Delete(ctx, key(boiler, "limits"), "x", "", document.AnyVersion)) // the shared one takes its place
	err := d.Delete(ctx, key(document.Shared, "points.csv"), "x", "", document.AnyVersion)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "agent/boiler:config refers to it and would become wrong") {
		t.Errorf("what others need is deleted: %v", err)
	}
}

func TestCyclesAndMissingDocumentsAreNamedWithTheWayToThem(t *testing.T) {
	d := newDesk(t)
	d.set(boiler, "c", document.YAML, "x: 1\n")
	d.set(boiler, "b", document.YAML, "c: config://c\n")
	d.set(boiler, "a", document.YAML, "b: config://b\n")
	for _, tt := range []struct{ name, text, want string }{
		{"c", "y: 1\nx:\n  - config://A\n", "line 3: x.0: refers to itself: agent/boiler:c → agent/boiler:a → agent/boiler:b → agent/boiler:c"},
		{"me", "config://me", "line 1: refers to itself: agent/boiler:me → agent/boiler:me"},
		{"d", "a: config://a\nz: config://none.csv\n", "line 2: z: there is no document none.csv, neither of agent/boiler nor shared: agent/boiler:d → config://none.csv"},
	} {
		if err := d.wrong(boiler, tt.name, document.YAML, tt.text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if got, err := d.Get(context.Background(), key(boiler, "c"), 0); err != nil || got.Version != 1 {
		t.Errorf("the old one did not stay: %+v, %v", got, err)
	}
}

func TestReferencesThatGrowWithoutEndAreRefused(t *testing.T) {
	d := newDesk(t)
	d.set(boiler, "n0", document.Text, strings.Repeat("x", 1000))
	var err error
	for i := 1; i < 40 && err == nil; i++ {
		ref := fmt.Sprintf("config://n%d", i-1)
		_, err = d.Set(context.Background(), doc(boiler, fmt.Sprintf("n%d", i), document.YAML, "["+ref+", "+ref+"]"), document.AnyVersion)
	}
	if err == nil || !strings.Contains(err.Error(), "bytes with all it refers to") {
		t.Errorf("2^40 kilobytes are taken: %v", err)
	}
	d.set(boiler, "deep0", document.Text, "x")
	err = nil
	for i := 1; i < 40 && err == nil; i++ {
		_, err = d.Set(context.Background(), doc(boiler, fmt.Sprintf("deep%d", i), document.YAML, fmt.Sprintf("a: config://deep%d", i-1)), document.AnyVersion)
	}
	if err == nil || !strings.Contains(err.Error(), "refers deeper than 32 documents") {
		t.Errorf("a chain of 40 is taken: %v", err)
	}
}

const schema = `{"type":"object","required":["limit"],"additionalProperties":false,"properties":{
	"limit":{"type":"number","maximum":100},"points":{"type":"array","items":{"type":"object","required":["name"]}}}}`

func TestASchemaJudgesTheResolvedContent(t *testing.T) {
	d, ctx, k := newDesk(t), context.Background(), key(boiler, "config")
	d.set(document.Shared, "points.csv", document.CSV, "name\ntemp\n")
	_, err := d.SetSchema(ctx, key(boiler, "Config"), schema)
	must(t, err)
	d.set(boiler, "config", document.YAML, "limit: 5\npoints: config://points.csv\n")
	err = d.wrong(boiler, "config", document.YAML, "# a comment\nlimit: 500\npoints:\n  - name: a\n  - unit: b\ncolour: red\n")
	list, ok := errors.AsType[document.Problems](err)
	want := document.Problems{
		{Line: 1, Path: "", Text: "additional properties 'colour' not allowed"},
		{Line: 2, Path: "limit", Text: "maximum: got 500, want 100"},
		{Line: 5, Path: "points.1", Text: "missing property 'name'"},
	}
	if ok && len(list) > 0 {
		want[0].Line = list[0].Line // of the object, where it begins
	}
	if diff := cmp.Diff(want, list); !ok || diff != "" {
		t.Error(err, diff)
	}
	if got, err := d.Get(ctx, k, 0); err != nil || got.Version != 1 {
		t.Errorf("the old one did not stay: %+v, %v", got, err)
	}
	_, err = d.Set(ctx, doc(document.Shared, "points.csv", document.CSV, "title\ntemp\n"), document.AnyVersion)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "agent/boiler:config refers to it and would become wrong: line 2: points.0: missing property 'name'") {
		t.Errorf("a change breaks its referrer: %v", err)
	}
	found, err := d.Check(ctx, doc(boiler, "config", document.JSON, "{\n\"limit\":\n \"x\"}"))
	if err != nil || len(found) != 1 || found[0].Line != 2 || found[0].Path != "limit" {
		t.Errorf("check finds %+v, %v", found, err)
	}
	found, err = d.SetSchema(ctx, k, `{"type":"array"}`)
	if err != nil || len(found) != 1 {
		t.Errorf("a schema that the document does not fit: %+v, %v", found, err)
	}
	for _, bad := range []string{"{", `{"type":"nonsense"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"http://127.0.0.1/x.json"}`} {
		if _, err := d.SetSchema(ctx, k, bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("the schema %s is taken: %v", bad, err)
		}
	}
	if _, err := d.SetSchema(ctx, k, ""); err != nil {
		t.Error(err)
	}
	d.set(boiler, "config", document.YAML, "anything: goes\n")
}

func TestContentThatIsWrongIsRefusedWithItsLine(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		kind       document.Type
		text, want string
	}{
		{document.YAML, "a: 1\nb: [\n", "is not YAML"},
		{document.YAML, "a: 1\nb: 2\na: 3\n", "line 3: a: stands twice"},
		{document.YAML, "", "is empty"},
		{document.YAML, "a: 1\n---\nb: 2\n", "holds one"},
		{document.YAML, "a: .nan\n", "not finite"},
		{document.YAML, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", "excessive aliasing"},
		{document.JSON, "{\n\"a\": }", "line 2: is not JSON"},
		{document.JSON, "{\"a\":1}\n x", "line 2: has something behind"},
		{document.JSON, "{\"a\":1,\n\"a\":2}", "line 2: a: stands twice"},
		{document.JSON, "{\"a\":", "too early"},
		{document.CSV, "", "is empty"},
		{document.CSV, "a,b\n1,2\n3\n", "line 3: the row has not the 2 fields"},
		{document.CSV, "a,a\n1,2\n", "line 1: a: is the name of two columns"},
		{document.CSV, "a\n\"x\n", "is not CSV"},
		{document.Text, "a\x00b", "without NUL"},
		{document.Text, "a\xff", "must be UTF-8"},
		{document.Text, strings.Repeat("x", document.MaxText+1), "has more than 1048576 bytes"},
		{"xml", "<a/>", "must be yaml, json, csv or text"},
	} {
		err := d.wrong(boiler, "config", tt.kind, tt.text)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: %v, want %q", tt.kind, tt.text, err, tt.want)
		}
	}
	d.set(boiler, "large", document.Text, strings.Repeat("x", document.MaxText))
	d.set(boiler, "empty", document.Text, "")
}

func TestOddNamesAreTakenOrRefused(t *testing.T) {
	d := newDesk(t)
	for _, k := range []document.Key{
		key("shared", "x"), key("agent/platform.driver", "devices/campus/b 1/ahu.csv"), key("device/campus/b1/温度", "Ü ber.yaml"),
		key("device/a", "config://x"), key("shared", "agent/x"), key("shared", "%2e%2e"), key("person/ada", "x"), key("token/panel", "x"),
	} {
		if k.Name == "config://x" { // an empty segment
			if err := k.Validate(); err == nil {
				t.Errorf("%v is taken", k)
			}
			continue
		}
		d.set(k.Owner, k.Name, document.Text, "x")
		got, err := d.Get(context.Background(), key(k.Owner, strings.ToUpper(k.Name)), 0)
		if err != nil || got.Key != k {
			t.Errorf("%v comes back as %v, %v", k, got.Key, err)
		}
	}
	for _, k := range []document.Key{
		key("", "x"), key("agent/", "x"), key("agent/node", "x"), key("agent/a b", "x"), key("agent/-a", "x"), key("Shared", "x"), key("device/", "x"),
		key("device/a//b", "x"), key("shared", ""), key("shared", "/x"), key("shared", "x/"), key("shared", "a/../b"), key("shared", " x"), key("shared", "a\nb"),
		key("shared", "shared/x"), key("shared", "SHARED/x"), key("shared", strings.Repeat("x", document.MaxName+1)), key("shared", "\xff"), key("person/", "x"), key("people/ada", "x"),
	} {
		if err := k.Validate(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken", k)
		}
	}
}

func TestOldVersionsAreForgottenBeyondABound(t *testing.T) {
	d := newDesk(t)
	for i := range document.MaxVersions + 3 {
		d.set(boiler, "config", document.Text, fmt.Sprint(i))
	}
	history, err := d.History(context.Background(), key(boiler, "config"))
	must(t, err)
	if n := len(history); n != document.MaxVersions || history[n-1].Version != 4 {
		t.Errorf("%d versions, the oldest %d", n, history[n-1].Version)
	}
}
