package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/runs"
)

// programEnv makes the test binary be the program that the keeper starts.
const programEnv = "VOLTBUS_TEST_LAB"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(program(os.Args[1:]))
	}
	_ = os.Setenv(programEnv, "1") // for the children
	goleak.VerifyTestMain(m)
}

// program is "lab run", or a process that an experiment started.
func program(args []string) int {
	if args[0] == "grandchild" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	name := args[1]
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	out, id := fs.String("out", "", ""), fs.String("id", "", "")
	fs.Bool("progress", true, "")
	fs.Bool("quick", false, "")
	fs.Int64("seed", 0, "")
	repeats := fs.Int("repeats", 0, "")
	fs.Func("set", "", func(string) error { return nil })
	if err := fs.Parse(args[2:]); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	enc := json.NewEncoder(os.Stdout)
	for _, e := range experiments() {
		if e.Name != name {
			continue
		}
		_, _, err := runs.Execute(ctx, *out, *id, e, experiment.Options{
			Repeats: *repeats, Quick: true, Progress: func(p experiment.Progress) { _ = enc.Encode(p) },
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// wait starts a process, reports its number, and waits for the end of ctx, or for ever.
func wait(stubborn bool) func(context.Context, *experiment.Bench) error {
	return func(ctx context.Context, b *experiment.Bench) error {
		return b.Measure(ctx, experiment.Case{Name: "one"}, func(ctx context.Context, t *experiment.Trial) error {
			child := exec.Command(os.Args[0], "grandchild")
			in, err := child.StdinPipe()
			if err != nil {
				return err
			}
			defer in.Close()
			if err := child.Start(); err != nil {
				return err
			}
			t.Report(experiment.Progress{Message: fmt.Sprint(child.Process.Pid)})
			if stubborn {
				select {}
			}
			<-ctx.Done()
			_ = in.Close()
			return errors.Join(ctx.Err(), child.Wait())
		})
	}
}

func experiments() []experiment.Experiment {
	return []experiment.Experiment{
		{Name: "short", Title: "Short", Settings: []experiment.Setting{{Name: "n", Default: "1"}}, Run: func(ctx context.Context, b *experiment.Bench) error {
			return b.Measure(ctx, experiment.Case{Name: "one", X: 1}, func(_ context.Context, t *experiment.Trial) error {
				t.Value(1)
				return nil
			})
		}},
		{Name: "broken", Run: func(context.Context, *experiment.Bench) error { return errors.New("the port is taken") }},
		{Name: "endless", Run: wait(false)},
		{Name: "stubborn", Run: wait(true)},
	}
}

func open(t *testing.T, dir string) *runs.Keeper {
	t.Helper()
	k, err := runs.Open(runs.Options{
		Dir: dir, Program: []string{os.Args[0]}, Experiments: experiments(), Grace: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func start(t *testing.T, k *runs.Keeper, name string) answer.LabRun {
	t.Helper()
	run, err := k.Start(t.Context(), answer.LabOrder{Experiment: name, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	if run.State != "running" || run.Experiment != name || run.ID == "" {
		t.Fatalf("started %+v", run)
	}
	return run
}

// end follows a run to its end and returns its last state.
func end(t *testing.T, k *runs.Keeper, id string) answer.LabRun {
	t.Helper()
	var run answer.LabRun
	err := k.Follow(t.Context(), id, func(event string, data json.RawMessage) error {
		if event == "end" {
			return json.Unmarshal(data, &run)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

var errEnough = errors.New("enough")

// grandchild waits until the run says which process it started.
func grandchild(t *testing.T, k *runs.Keeper, id string) (pid int) {
	t.Helper()
	err := k.Follow(t.Context(), id, func(_ string, data json.RawMessage) error {
		var p experiment.Progress
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		if _, err := fmt.Sscan(p.Message, &pid); err == nil {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal("the run started no process:", err)
	}
	return pid
}

func TestARunThatFinishesIsKeptWithItsReport(t *testing.T) {
	k := open(t, t.TempDir())
	run := start(t, k, "short")
	if got := end(t, k, run.ID); got.State != "finished" || got.Finished == nil {
		t.Fatalf("ended %+v", got)
	}
	result, err := k.Result(t.Context(), run.ID)
	if err != nil || !json.Valid(result.Result) || result.State != "finished" {
		t.Error(result, err)
	}
	page, policy, err := k.Report(t.Context(), run.ID)
	if err != nil || !strings.HasPrefix(string(page), "<!doctype html>") || !strings.Contains(policy, "default-src 'none'") {
		t.Error(policy, err)
	}
	list, err := k.Runs(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != run.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if err := k.Stop(t.Context(), run.ID); err != nil {
		t.Error("remove it:", err)
	}
	if _, err := k.Result(t.Context(), run.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("removed, and still there: %v", err)
	}
}

func TestARunThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir)
	run := start(t, k, "broken")
	if got := end(t, k, run.ID); got.State != "failed" || !strings.Contains(got.Error, "the port is taken") {
		t.Errorf("ended %+v", got)
	}
	if _, _, err := k.Report(t.Context(), run.ID); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	nothing(t, dir, 0)
}

// nothing checks that the directory is empty and the process, if there was one, ends.
func nothing(t *testing.T, dir string, pid int) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		t.Error("left over:", left, err)
	}
	if pid == 0 {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	// It is readable when the process has ended, also while nobody has waited for that. Who is killed may run for a moment.
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000); n != 1 { //nolint:gosec // a file descriptor
		t.Errorf("process %d still runs: %v", pid, err)
	}
}

func TestAStoppedRunLeavesNoProcessAndNoHalfReport(t *testing.T) {
	for _, name := range []string{"endless", "stubborn"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := open(t, dir)
			run := start(t, k, name)
			pid := grandchild(t, k, run.ID)
			if err := k.Stop(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
			if got := end(t, k, run.ID); got.State != "stopped" {
				t.Errorf("ended %+v", got)
			}
			nothing(t, dir, pid)
		})
	}
}

func TestAKilledRunLeavesNoProcessAndNoHalfReport(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir)
	run := start(t, k, "endless")
	pid := grandchild(t, k, run.ID)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var parent int
	if _, err := fmt.Sscan(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1], &parent); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := end(t, k, run.ID); got.State != "failed" || !strings.Contains(got.Error, "killed") {
		t.Errorf("ended %+v", got)
	}
	nothing(t, dir, pid)
}

func TestClosingStopsTheRunThatIsUnderWay(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir)
	run := start(t, k, "endless")
	pid := grandchild(t, k, run.ID)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	nothing(t, dir, pid)
	if _, err := k.Start(t.Context(), answer.LabOrder{Experiment: "short"}); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

func TestOnlyOneRunAtATime(t *testing.T) {
	k := open(t, t.TempDir())
	run := start(t, k, "endless")
	grandchild(t, k, run.ID)
	if _, err := k.Start(t.Context(), answer.LabOrder{Experiment: "short"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("error %v, want conflict", err)
	}
	if _, _, err := k.Report(t.Context(), run.ID); fault.KindOf(err) != fault.Conflict {
		t.Errorf("error %v, want conflict", err)
	}
}

func TestOpenRemovesWhatAKilledKeeperLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "20260101-000000-x-abcdef.part", "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	nothing(t, dir, 0)
}

func TestWrongOrdersAreRefused(t *testing.T) {
	k := open(t, t.TempDir())
	for name, tt := range map[string]struct {
		order answer.LabOrder
		kind  fault.Kind
	}{
		"no experiment":      {answer.LabOrder{}, fault.NotFound},
		"unknown experiment": {answer.LabOrder{Experiment: "../x"}, fault.NotFound},
		"unknown setting":    {answer.LabOrder{Experiment: "short", Settings: map[string]string{"m": "1"}}, fault.Invalid},
		"wrong setting":      {answer.LabOrder{Experiment: "short", Settings: map[string]string{"n": "--out=/"}}, fault.Invalid},
		"too many repeats":   {answer.LabOrder{Experiment: "short", Repeats: 1e6}, fault.Invalid},
	} {
		if _, err := k.Start(t.Context(), tt.order); fault.KindOf(err) != tt.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"", "..", "../x", "a/b", "x.part", strings.Repeat("x", 200), "none"} {
		if _, err := k.Result(t.Context(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("result of %q: %v", id, err)
		}
		if _, _, err := k.Report(t.Context(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("report of %q: %v", id, err)
		}
		if err := k.Stop(t.Context(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("stop %q: %v", id, err)
		}
	}
}

func TestExperimentsAreDescribed(t *testing.T) {
	list := open(t, t.TempDir()).Experiments(t.Context())
	if len(list) != 4 || list[0].Name != "short" || list[0].Settings[0].Name != "n" {
		t.Errorf("%+v", list)
	}
}

func TestCapacityIsWhatTheFileHolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capacity.json")
	k, err := runs.Open(runs.Options{Dir: t.TempDir(), Capacity: file})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Capacity(t.Context()); fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v, want not found", err)
	}
	if err := os.WriteFile(file, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Capacity(t.Context()); err != nil || string(got) != `{"a":1}` {
		t.Error(string(got), err)
	}
}
