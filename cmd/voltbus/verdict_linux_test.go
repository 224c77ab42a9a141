package main

import (
	"archive/zip"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/verdict/count"
)

// told is a node that runs as a program of its own, and of which people ask on the command line.
type told struct {
	t      *testing.T
	folder string
}

// rows returns the lines of a list as maps by column.
func (v *told) rows(args ...string) (rows []map[string]string) {
	v.t.Helper()
	cmd := exec.CommandContext(v.t.Context(), "voltbus", append(args, "-f", "csv")...)
	cmd.Dir = v.folder
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("voltbus %v: %v", args, err)
	}
	list, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(list) == 0 {
		v.t.Fatalf("voltbus %v: %v in %s", args, err, out)
	}
	for _, line := range list[1:] {
		row := map[string]string{}
		for i, name := range list[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

var growing = regexp.MustCompile(`[\d,]+ samples? recorded`)

// differs says where the command line says another thing than health; "" if nowhere.
func (v *told) differs() (h answer.Health, why string) {
	v.t.Helper()
	if err := json.Unmarshal([]byte(voltbusIn(v.t, v.folder, "health", "--json")), &h); err != nil {
		v.t.Fatal(err)
	}
	still := func(text string) string { return growing.ReplaceAllString(text, "recorded") }
	text := still(voltbusIn(v.t, v.folder, "health"))
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, h.Verdict) || !strings.HasSuffix(first, ": "+still(h.Summary)) {
		return h, "health prints " + first
	}
	agents := map[string]string{}
	for _, c := range h.Concerns {
		if !strings.Contains(text, c.Sentence) {
			return h, "health does not print " + c.Sentence
		}
		if c.Part == "agents" {
			agents[c.Subject] = c.Sentence
		}
	}
	number := func(list []map[string]string, is func(map[string]string) bool) int {
		return len(slices.DeleteFunc(list, func(row map[string]string) bool { return !is(row) }))
	}
	open := number(v.rows("alarms"), func(row map[string]string) bool {
		return !slices.Contains([]string{"shelved", "suppressed", "out_of_service"}, row["state"])
	})
	pending := number(v.rows("children"), func(row map[string]string) bool { return row["state"] == "pending" })
	away := number(v.rows("nodes"), func(row map[string]string) bool { return strings.HasPrefix(row["state"], "away") })
	paused := number(v.rows("sinks", "list"), func(row map[string]string) bool { return row["state"] != "ok" })
	for _, row := range v.rows("agent", "list") {
		if want := agents[row["name"]]; want != "" && row["text"] != want {
			return h, fmt.Sprintf("agent list says %q of %s", row["text"], row["name"])
		}
		if agents[row["name"]] == "" && row["state"] != "running" {
			return h, fmt.Sprintf("agent list says that %s is %s", row["name"], row["state"])
		}
	}
	c := cmp.Or(h.Counts, new(count.Counts))
	if got, want := fmt.Sprint(open, pending, away, paused, len(agents)), fmt.Sprint(c.Alarms, c.NodesPending, c.NodesAway, c.Destinations, c.Agents); got != want {
		return h, "the lists count " + got + ", and health " + want
	}
	return h, ""
}

// is waits until the node has a verdict with words, and everything that is printed agrees.
func (v *told) is(verdict, words string) {
	v.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); ; {
		h, why := v.differs()
		if why == "" && h.Verdict == verdict && strings.Contains(h.Summary, words) {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			v.t.Fatalf("waited for %q, %q; health says %q, %q: %v; %s", verdict, words, h.Verdict, h.Summary, h.Concerns, why)
		}
	}
}

// write writes a file, and makes its folder.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := cmp.Or(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// does runs the program at the node.
func (v *told) does(args ...string) string {
	v.t.Helper()
	return voltbusIn(v.t, v.folder, args...)
}

// crashing is the SDK of an agent that ends as soon as it begins, while a file is there.
const crashing = `import json, os, sys, time
if sys.argv[1] == "describe":
    print(json.dumps({"doc": "Fails.", "wants": {}, "config_schema": None, "methods": []}))
    sys.exit()
if os.path.exists(%q):
    sys.exit("it cannot go on")
while True:
    time.sleep(60)
`

// wheel writes a wheel of one package; entry is what it offers as an agent, "" for nothing.
func wheel(t *testing.T, folder, name, entry string, files map[string]string) string {
	t.Helper()
	info := name + "-1.0.dist-info/"
	files[info+"METADATA"] = "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"
	files[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	if entry != "" {
		files[info+"entry_points.txt"] = "[voltbus.agent]\n" + entry + "\n"
	}
	record := info + "RECORD,,\n"
	for file := range files {
		record += file + ",,\n"
	}
	files[info+"RECORD"] = record
	path := filepath.Join(folder, name+"-1.0-py3-none-any.whl")
	out, err := os.Create(path) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	zw := zip.NewWriter(out)
	for file, text := range files {
		w, err := zw.Create(file)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(zw.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// An operator who only has the command line hears the same as all others, in each scene and after it: of alarms, of a rule that cannot be
// judged, of a destination, of an agent whose process ends again and again, and of a node that waits, is there, and is away.
func TestTheCommandLineSaysInEachSceneWhatHealthSays(t *testing.T) {
	var full atomic.Bool
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if full.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer outside.Close()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	sdk := wheel(t, dir, "voltbus", "", map[string]string{"voltbus/__init__.py": "", "voltbus/__main__.py": fmt.Sprintf(crashing, broken)})
	program := wheel(t, dir, "frail", "frail = frail:Frail", map[string]string{"frail.py": "class Frail:\n    pass\n"})
	v := &told{t, filepath.Join(dir, "hall")}
	write(t, filepath.Join(v.folder, "voltbus.yaml"), fmt.Sprintf(`
node: {name: hall}
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
agents: {isolation: 'off', uv: %s, sdk: %s}
sinks: [{name: outside, kind: influxdb, url: %q, into: b, points: ["b/**"]}]
devices:
  - {path: site/zone1, driver: sim, interval: 1s, config: {model: zone}}
`, cmp.Or(uvHere(t), "'off'"), sdk, outside.URL))
	background(t, v.folder, "node runs", "run")
	reads := func(value int) {
		t.Helper()
		file := filepath.Join(dir, "reading.csv")
		write(t, file, fmt.Sprintf("point,time,value\nb/temp,%s,%d\n", time.Now().UTC().Format(time.RFC3339Nano), value))
		v.does("import", file)
	}
	well := func() { t.Helper(); v.is("All is well", "The only device answers; ") }
	well()

	v.does("call", "alarm.put-rule", "name=hot", "points=b/temp", "check=high", "limit=80", "priority=low")
	v.is("Worth a look", "1 alarm rule cannot be judged")
	reads(85)
	v.is("Worth a look", "1 alarm is open (1 low)")
	v.does("alarms", "shelve", "hot@b/temp", "--for", "8h")
	well()
	v.does("alarms", "unshelve", "hot@b/temp")
	reads(20)
	v.is("Worth a look", "1 alarm is open (1 low)")
	v.does("alarms", "acknowledge", "hot@b/temp")
	well()

	full.Store(true)
	reads(21)
	v.is("Worth a look", "1 destination is behind or refuses readings")
	full.Store(false)
	well()

	write(t, broken, "")
	v.does("agent", "install", program, "--grant", "--start")
	v.is("Worth a look", "1 agent does not work")
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	v.does("agent", "restart", "frail")
	well()

	far := &told{t, filepath.Join(dir, "far")}
	write(t, filepath.Join(far.folder, "voltbus.yaml"), "node: {name: far}\nlisten: {http: 127.0.0.1:0, bus: off}\n")
	halt := background(t, far.folder, "node runs", "run")
	far.does("join", strings.TrimSpace(v.does("invite", "-q")))
	v.is("Worth a look", "1 node waits for approval")
	v.does("children", "approve", "far")
	v.is("All is well", "1 of 1 descendant is connected")
	halt()
	v.is("Worth a look", "0 of 1 descendant is connected")
	background(t, far.folder, "node runs", "run")
	v.is("All is well", "1 of 1 descendant is connected")
}
