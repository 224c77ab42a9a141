package study_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/study"
	"voltbus/store/duckdb/statement"
	"voltbus/testing/peers"
)

// partEnv makes the test binary play a part of an experiment in a process of its own.
const partEnv = "VOLTBUS_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(partEnv) != "" || os.Getenv(statement.Env) != "" { // a statement in SQL has an environment of its own
		if err := study.Serve(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv(partEnv, "1") // for the children
	goleak.VerifyTestMain(m)
}

// tiny are the settings with which an experiment of that name runs in a test.
func tiny() map[string]map[string]string {
	scan := map[string]string{"most-devices": "50", "scrapes": "1", "interval": "200ms"}
	return map[string]map[string]string{
		"pnnl-fy17-table2":        scan,
		"pnnl-30858-table2":       scan,
		"sustainable":             scan,
		"pnnl-30858-interpreters": {"most-devices": "50", "scrapes": "1", "interval": "200ms", "pythons": filepath.Join(peers.Root(), ".venv", "bin", "python")},
		"pnnl-30858-table4":       {"scrapes": "1", "interval": "200ms", "most-listeners": "5", "listener-processes": "true"},
		"cloud-scale":             {"buildings": "1,2", "devices": "3", "interval": "200ms", "warm-up": "100ms", "window": "600ms"},
		"chain":                   {"devices": "3", "interval": "200ms", "warm-up": "100ms", "window": "600ms"},
		"catch-up":                {"samples": "3000", "devices": "10", "batch": "5", "others": "1", "other-devices": "2", "interval": "200ms", "warm-up": "100ms", "window": "300ms"},
		"many-children":           {"children": "5", "points": "2", "interval": "200ms", "warm-up": "100ms", "window": "300ms"},
		"historian-backlog":       {"first-devices": "20", "most-devices": "40", "interval": "200ms", "warm-up": "300ms", "window": "1s"},
		"ingest-line-protocol":    {"first-rate": "2000", "most-rate": "2000", "batch": "100", "window": "600ms", "warm-up": "200ms"},
		"recorder-kill":           {"kills": "2", "answers": "30"},
		"regulation":              {"units": "50", "length": "70m", "losses": "0,5"},
		"regulation-50":           {"length": "70m"},
		"packet-loss":             {"nodes": "5", "units": "50", "length": "70m", "losses": "5"},
		"leader-kill":             {"nodes": "5", "units": "50", "length": "70m"},
		"campuses":                {"units": "20,40", "nodes": "5", "length": "70m"},
		"thousand-nodes":          {"nodes": "3,9", "length": "20m"},
		"testbed-4":               {"length": "1h", "python": "none"},
		"fans":                    {"length": "40m", "mismatches": "30", "python": filepath.Join(peers.Root(), ".venv", "bin", "python"), "agent": filepath.Join(peers.Root(), "agents", "regulation", "src")},
		"sink-catch-up":           {"destinations": "sqlite,mariadb,rabbitmq,influxdb", "samples": "3000", "devices": "10", "batch": "5"},
		"bacnet-collection":       {"devices": "5", "points": "2", "rates": "1000", "interval": "400ms", "changing": "300", "timeout": "200ms"},
		"dnp3-sessions":           {"sessions": "1,3", "workers": "1000", "values": "1,100", "window": "100ms", "warm-up": "10ms"},
		"ami-1a":                  {"bulks": "2,10", "requests": "5", "meters": "50"},
		"ami-1b":                  {"concentrators": "1,3", "rate": "100", "bulk": "5", "requests": "2", "meters": "50"},
		"ami-1c":                  {"periods": "20", "concentrators": "2", "bulk": "5", "time": "60ms", "meters": "50"},
		"ami-cluster":             {"members": "1,2", "bulk": "5", "concentrators": "2", "meters": "50", "warm-up": "50ms", "window": "300ms"},
		"ami-2":                   {"bulks": "3", "first-rate": "20", "most-rate": "80", "halvings": "0", "period": "250ms", "age": "50ms", "warm-up": "250ms", "window": "1500ms"},
		"ami-dehems":              {"scale": "0.0003", "concentrators": "1"},
		"ami-itron":               {"scale": "0.0005", "concentrators": "1"},
		"ami-tables":              {"bulk": "5", "concentrators": "2", "day-meters": "1000", "first-rate": "20", "most-rate": "40", "halvings": "0", "period": "100ms", "age": "50ms", "meters": "50", "warm-up": "50ms", "window": "300ms"},
		"ami-3b":                  {"periods": "100", "first-bulk": "2", "most-bulk": "8", "bulks": "3", "warm-up": "200ms", "window": "2s"},
		"ami-4":                   {"concentrators": "2,4", "bulk": "5", "period": "50ms", "warm-up": "50ms", "window": "300ms"},
		"ami-bulk":                {"bulks": "1,5", "at-once": "3", "warm-up": "50ms", "window": "300ms"},
		"ami-parallel":            {"parallel": "1,3", "bulk": "5", "meters": "50", "warm-up": "50ms", "window": "300ms"},
		"ami-links":               {"links": "none,mobile", "bulks": "5", "meters": "50", "warm-up": "50ms", "window": "500ms"},
		"ami-redundancy":          {"meters": "20", "members": "2", "requests": "20", "period": "10ms", "bulk": "5"},
		"ami-payload":             {"forms": "soap,block", "bulk": "5", "concentrators": "2", "meters": "50", "warm-up": "50ms", "window": "200ms"},
		"ami-3a":                  {"bulks": "1,10", "concentrators": "2", "meters": "50", "warm-up": "50ms", "window": "300ms"},
		"mqtt-clients":            {"clients": "5", "http": "2", "speed": "50", "rest": "1ms", "warm-up": "100ms", "window": "300ms"},
		"mqtt-fleet":              {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms", "machines": "false", "experiments": "1,3"},
		"mqtt-fleet-1":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms"},
		"mqtt-fleet-2":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms"},
		"mqtt-fleet-3":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms"},
		"mqtt-fleet-4":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms", "tls": "false"},
		"mqtt-fleet-5":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms", "qos": "1"},
		"mqtt-fleet-6":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms", "machines": machines()},
		"mqtt-fleet-7":            {"first": "2", "most": "3", "speed": "50", "bound": "false", "window": "300ms", "machines": machines()},
		"mqtt-storm":              {"clients": "10", "live": "2", "window": "200ms"},
		"mqtt-failover":           {"clients": "5", "speed": "50", "window": "200ms"},
		"mqtt-p2p":                {"publishers": "3", "warm-up": "50ms", "window": "300ms"},
		"mqtt-fan-in":             {"publishers": "3", "subscribers": "2", "warm-up": "50ms", "window": "300ms"},
		"mqtt-fan-out":            {"publishers": "2", "subscribers": "3", "warm-up": "50ms", "window": "300ms"},
		"large-messages":          {"most-devices": "2", "scrapes": "1", "interval": "200ms"},
	}
}

// machines says whether this user may make network namespaces.
func machines() string {
	n, err := machine.NewNetwork(1)
	if err == nil {
		err = n.Remove()
	}
	return strconv.FormatBool(err == nil)
}

// longest is how long an experiment of seconds may take where others use the machine, too.
const longest = 4 * time.Minute

func TestEveryExperimentRunsInATinySize(t *testing.T) {
	for _, e := range study.List() {
		t.Run(e.Name, func(t *testing.T) {
			set, ok := tiny()[e.Name]
			if !ok {
				t.Fatal("add the experiment's smallest settings to this test")
			}
			if e.Name == "fans" {
				t.Setenv("PYTHONPATH", filepath.Join(peers.Root(), "python", "src"))
				if err := exec.Command(set["python"], "-c", "import highspy").Run(); err != nil {
					t.Skip("the environment for Python has no highspy; run make sdk")
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), longest)
			defer cancel()
			r, err := experiment.Execute(ctx, e, experiment.Options{
				Quick: true, Seed: 1, Set: set, Dir: t.TempDir(), Program: []string{os.Args[0]},
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Cases) == 0 {
				t.Fatal("it measured nothing")
			}
			for _, m := range r.Cases {
				if m.Median <= 0 || len(m.Values) != 1 {
					t.Errorf("%s: %+v", m.Case.Name, m)
				}
				if e.Name == "chain" && !slices.ContainsFunc(m.Also, func(x experiment.Extra) bool { return x.Name == "live p99" && x.Values[0] > 0 }) {
					t.Errorf("%s: nothing was heard live: %+v", m.Case.Name, m.Also)
				}
				if m.Account != nil && !m.Account.Balanced() {
					t.Errorf("%s: %s", m.Case.Name, m.Account.Words())
				}
			}
		})
	}
}

func TestAFleetOfWhichNobodyIsServedInTimeIsAResult(t *testing.T) {
	e, err := study.Find("mqtt-fleet-1")
	if err != nil {
		t.Fatal(err)
	}
	set := tiny()[e.Name]
	set["limit"] = "1ns"
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	r, err := experiment.Execute(ctx, e, experiment.Options{Quick: true, Seed: 1, Set: set, Dir: t.TempDir(), Program: []string{os.Args[0]}})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Cases[0]
	none := slices.ContainsFunc(m.Also, func(x experiment.Extra) bool { return x.Name == "clients served" && x.Values[0] == 0 })
	if !none || m.Median <= 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "2 clients, those of the first step, are not served within 1ns") {
		t.Errorf("%+v; %q", m, r.Notes)
	}
}

func TestEveryExperimentIsDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, e := range study.List() {
		if names[e.Name] || e.Title == "" || !strings.HasSuffix(e.Question, "?") || len(e.Method) == 0 || len(e.Limits) == 0 ||
			e.Metric.Name == "" || e.Metric.Unit == "" || e.Metric.Axis == "" || e.Run == nil {
			t.Errorf("%q is not described: %+v", e.Name, e)
		}
		names[e.Name] = true
		for _, s := range e.Settings {
			if s.Doc == "" || s.Default == "" {
				t.Errorf("%s: setting %q needs a default and a line about it", e.Name, s.Name)
			}
		}
		if len(e.Published) > 0 && e.Source == "" {
			t.Errorf("%s: say where the figures are published", e.Name)
		}
	}
}

func TestAnUnknownExperimentIsNotFound(t *testing.T) {
	if _, err := study.Find("none"); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "pnnl-30858-table4") {
		t.Error(err)
	}
	if e, err := study.Find("large-messages"); err != nil || e.Name != "large-messages" {
		t.Error(e.Name, err)
	}
}
