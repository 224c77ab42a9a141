package capacity

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
	"voltbus/store/duckdb/statement"
)

const partEnv = "VOLTBUS_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(partEnv) != "" || os.Getenv(statement.Env) != "" { // a statement in SQL has an environment of its own
		if err := rig.Serve(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv(partEnv, "1") // for the children
	goleak.VerifyTestMain(m)
}

// costs are figures of a machine on which 1,000 devices a second use a tenth of a core.
func costs() Found {
	return Found{
		Machine: machine.Description{Cores: 2, Memory: 8 << 30},
		Figures: Figures{
			CPUPerSample: 5e-6, CPUPerDelivery: 10e-6, LogPerSample: 7, Flush: 0.001, Written: 60e6,
			MemoryBase: 100 << 20, MemoryPerDevice: 4 << 10, MemoryPerPoint: 500, MemoryPerClient: 50 << 10,
		},
	}
}

func TestWhatBindsFirstIsWhatIsUsedUpFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Figures)
		want   string
	}{
		"all as it is":        {func(*Figures) {}, "processor"},
		"large devices":       {func(f *Figures) { f.MemoryPerDevice = 10 << 20 }, "memory"},
		"a slow disk":         {func(f *Figures) { f.Written = 100e3 }, "disk"},
		"no measurable costs": {func(f *Figures) { f.CPUPerSample, f.LogPerSample = 0, 0 }, "memory"},
	} {
		f := costs()
		tt.change(&f.Figures)
		f.judge()
		if f.BindsFirst != tt.want {
			t.Errorf("%s: the %s binds, want the %s", name, f.BindsFirst, tt.want)
		}
	}
}

func TestTheSentencesHoldTheFigures(t *testing.T) {
	f := costs()
	f.judge()
	// 1.2 cores / (18 × 5 µs) devices a second.
	if f.Carries[0].Number != 13333 || !strings.Contains(f.Words[0], "13,000 devices of 18 points") {
		t.Errorf("%+v\n%s", f.Carries, f.Words[0])
	}
	if len(f.Words) != 4 || len(f.Carries) != 4 {
		t.Errorf("%+v", f)
	}
}

func TestNumbersAreRoundedDownForPeople(t *testing.T) {
	for v, want := range map[float64]string{0: "no", 7.9: "7", 99: "99", 1234: "1,200", 13333: "13,000", 1234567: "1.2 million"} {
		if got := about(v); got != want {
			t.Errorf("about(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestTheMachineIsMeasuredAndKept(t *testing.T) {
	dir := t.TempDir()
	f, err := Measure(t.Context(), Options{Dir: dir, Program: []string{os.Args[0]}, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m := &f.Figures
	if m.CPUPerSample <= 0 || m.LogPerSample <= 0 || m.Flush <= 0 || m.Written <= 0 || m.MemoryBase == 0 || f.BindsFirst == "" {
		t.Errorf("%+v", f)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error("left over:", left, err)
	}
	file := filepath.Join(t.TempDir(), "data", "capacity.json")
	if err := f.Keep(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !json.Valid(data) {
		t.Error(string(data), err)
	}
}

func TestAnInterruptedMeasurementSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, Options{Dir: t.TempDir()}); fault.KindOf(err) != fault.Canceled {
		t.Error(err)
	}
}
