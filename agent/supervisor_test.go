package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/agent/claim"
	"voltbus/agent/guard"
	"voltbus/agent/jail"
	"voltbus/agent/journal"
	"voltbus/agent/place"
	"voltbus/agent/process"
	"voltbus/fault"
)

// The test program plays the process that becomes an agent, and a node that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent-exec" {
		var s jail.Spec
		if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, s.Exec(os.Environ()))
		os.Exit(125)
	}
	if data := os.Getenv("PLAY_NODE"); data != "" {
		s, err := Open(config(data))
		if err == nil {
			err = s.Run(context.Background())
		}
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// data returns a data directory that agents' users can reach.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "voltbus-agent-") //nolint:usetesting // others may not enter the test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.Chmod(dir, 0o711), os.Mkdir(data, 0o700)); err != nil {
		t.Fatal(err)
	}
	return data
}

func config(data string) Config {
	return Config{
		Data: data, Exec: []string{os.Args[0], "agent-exec"}, Isolation: Auto, Users: claim.Range{First: 730000, Count: 1000},
		Grace: 2 * time.Second, Restart: Always, Hang: true, Files: 256, Log: slog.New(slog.DiscardHandler),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plant puts an agent in place that is a script of the shell.
func plant(t *testing.T, data, name, script string, change ...func(*Record)) {
	t.Helper()
	plantArgs(t, data, name, []string{"/bin/sh", "-c", script}, change...)
}

func plantArgs(t *testing.T, data, name string, args []string, change ...func(*Record)) {
	t.Helper()
	p := place.Place(filepath.Join(data, place.Agents, name))
	must(t, os.MkdirAll(p.Version(1), 0o755))
	must(t, os.WriteFile(p.In(place.Key), []byte("key of "+name), 0o600))
	r := Record{Name: name, Version: 1, Priority: DefaultPriority, Wanted: true, Program: Program{Args: args}}
	if os.Getuid() == 0 {
		r.UID = 730000 + len(name)*10 + int(name[len(name)-1]%10)
		must(t, os.Chown(p.In(place.Key), r.UID, r.UID))
	}
	for _, f := range change {
		f(&r)
	}
	must(t, save(p, r))
}

// run opens and runs a supervisor until stop is called, or the test ends.
func run(t *testing.T, cfg Config) (s *Supervisor, stop func()) {
	t.Helper()
	s, err := Open(cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			must(t, <-done)
		}
	}
	t.Cleanup(stop)
	eventually(t, "the supervisor runs", s.serving)
	return s, stop
}

// await waits until an agent is as wanted.
func await(t *testing.T, s *Supervisor, name, what string, ready func(*Status) bool) Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	st, err := s.settle(ctx, name, ready)
	if err != nil {
		lines, _ := s.agents[name].journal.Search(journal.Filter{})
		t.Fatalf("%s is never %s: %+v\n%v", name, what, st, lines)
	}
	return st
}

// printed waits until an agent has printed a line that holds a text, and returns it.
func printed(t *testing.T, s *Supervisor, name, text string) string {
	t.Helper()
	j, err := s.Logs(name)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	line := ""
	_ = j.Follow(ctx, journal.Filter{Text: text}, func(e journal.Entry) error {
		if e.Stream == journal.Node {
			return nil
		}
		line = e.Message
		return io.EOF
	})
	if line == "" {
		all, _ := j.Search(journal.Filter{})
		t.Fatalf("%s never prints %q: %v", name, text, all)
	}
	return line
}

const forever = "exec sleep 1000"

func TestAnAgentRunsAndStops(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", `echo "I am $VOLTBUS_AGENT at $VOLTBUS_BUS in $PWD, $(cat "$VOLTBUS_KEY")"; `+forever)
	cfg := config(data)
	cfg.Bus = func() string { return "127.0.0.1:4222" }
	s, _ := run(t, cfg)
	work := filepath.Join(data, place.Agents, "a", place.Work)
	if got, want := printed(t, s, "a", "I am"), "I am a at 127.0.0.1:4222 in "+work+", key of a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	st, err := s.Stop(t.Context(), "a", "person:ada")
	if err != nil || st.State != Stopped || st.Last.Reason != "stopped" || st.Last.Signal != "terminated" || st.Process.PID != 0 {
		t.Errorf("%+v %v", st, err)
	}
	if len(st.Crashes) != 0 {
		t.Errorf("a stop leaves %v", st.Crashes)
	}
	st, err = s.Start(t.Context(), "a", "person:ada")
	if err != nil || st.State != Starting || st.Process.PID == 0 {
		t.Errorf("%+v %v", st, err)
	}
	s.Heard("a", 0)
	st = await(t, s, "a", "running", func(st *Status) bool { return st.State == Running })
	again, err := s.Restart(t.Context(), "a", "person:ada")
	if err != nil || again.Process.PID == st.Process.PID || again.Failures != 0 {
		t.Errorf("%+v %v", again, err)
	}
}

func TestACrashLoopIsShownAndNeverGivenUp(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", "echo last words; exit 7")
	s, _ := run(t, config(data))
	st := await(t, s, "a", "in a loop", func(st *Status) bool { return st.Failures >= 3 && st.State == BackingOff })
	if st.Next == nil || !strings.Contains(st.Text, "again and again, 3 times") || !strings.Contains(st.Text, "exit code 7") {
		t.Errorf("%+v", st)
	}
	if len(st.Crashes) != 3 {
		t.Fatalf("crash reports: %v", st.Crashes)
	}
	c, err := s.Crash("a", st.Crashes[0])
	if err != nil || c.Code != 7 || c.Reason != "exited" || !slices.ContainsFunc(c.Lines, func(e journal.Entry) bool { return e.Message == "last words" }) {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := s.Crash("a", "../agent.json"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a file that is no report: %v", err)
	}
}

func TestAProcessThatIgnoresTheRequestIsKilledWithItsChildren(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", `trap "" TERM; sleep 1000 & echo "child $!"; while true; do sleep 1000; done`)
	cfg := config(data)
	cfg.Grace = 100 * time.Millisecond
	s, _ := run(t, cfg)
	child, err := strconv.Atoi(strings.Fields(printed(t, s, "a", "child"))[1])
	must(t, err)
	st, err := s.Stop(t.Context(), "a", "x")
	if err != nil || st.Last.Signal != "killed" {
		t.Errorf("%+v %v", st.Last, err)
	}
	gone(t, child)
}

func TestAProcessThatLeftItsGroupEndsToo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only an agent with a user of its own is found everywhere")
	}
	data := dataDir(t)
	plant(t, data, "a", `setsid sleep 1000 & echo "child $!"; `+forever)
	s, _ := run(t, config(data))
	child, err := strconv.Atoi(strings.Fields(printed(t, s, "a", "child"))[1])
	must(t, err)
	_, err = s.Stop(t.Context(), "a", "x")
	must(t, err)
	gone(t, child)
}

func TestNodesOfOneMachineDoNotEndEachOthersAgents(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives agents users of their own")
	}
	first, second := dataDir(t), dataDir(t)
	plant(t, first, "a", forever)
	plant(t, second, "a", forever)
	one, _ := run(t, config(first))
	stays := await(t, one, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	other, stop := run(t, config(second))
	st := await(t, other, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	if st.UID == stays.UID {
		t.Errorf("both run as %d", st.UID)
	}
	stop()
	if p, err := process.Read(stays.Process.PID); err != nil || p.Zombie {
		t.Errorf("the other node's agent was ended: %+v %v", p, err)
	}
	again, err := Open(config(second))
	must(t, err)
	if kept := again.List()[0].UID; kept != st.UID {
		t.Errorf("has the user %d after a restart; had %d", kept, st.UID)
	}
	must(t, again.Close())
}

func TestAttackTooMuchMemoryEndsAnAgent(t *testing.T) {
	data := dataDir(t)
	script := "import time\nx = bytearray(b'x') * (150 << 20)\nprint('big', flush=True)\ntime.sleep(1000)"
	plantArgs(t, data, "a", []string{"/usr/bin/python3", "-c", script}, func(r *Record) { r.Memory = 64 << 20 })
	s, _ := run(t, config(data))
	st := await(t, s, "a", "ended", func(st *Status) bool { return st.Last != nil })
	if st.Last.Reason != "memory" || st.Last.Signal != "killed" || !strings.Contains(st.Last.Text, "may use 64 MiB") {
		t.Errorf("%+v", st.Last)
	}
	c, err := s.Crash("a", st.Crashes[0])
	if err != nil || c.Memory != 64<<20 || c.Usage.MaxMemory < 150<<20 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestASilentAgentIsStartedAgain(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", forever)
	s, _ := run(t, config(data))
	first := await(t, s, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	s.Heard("a", 10*time.Millisecond)
	st := await(t, s, "a", "ended", func(st *Status) bool { return st.Last != nil })
	if st.Last.Reason != "hung" || !strings.Contains(st.Last.Text, "three times 10ms") {
		t.Errorf("%+v", st.Last)
	}
	await(t, s, "a", "started again", func(st *Status) bool { return st.Process.PID != 0 && st.Process.PID != first.Process.PID })
}

func TestARestartOfTheNodeRestoresWhatRan(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "ran", forever)
	plant(t, data, "stopped", forever)
	plant(t, data, "enabled", forever, func(r *Record) { r.Wanted = false })
	plant(t, data, "disabled", forever)
	s, stop := run(t, config(data))
	for _, name := range []string{"ran", "stopped", "disabled"} {
		await(t, s, name, "started", func(st *Status) bool { return st.Process.PID != 0 })
	}
	_, err := s.Stop(t.Context(), "stopped", "x")
	must(t, err)
	_, err = s.Enable(t.Context(), "enabled", "x", Enabled)
	must(t, err)
	_, err = s.Enable(t.Context(), "disabled", "x", Disabled)
	must(t, err)
	stop()
	if _, err := s.Start(t.Context(), "ran", "x"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a start when the node has stopped gives %v", err)
	}
	s, _ = run(t, config(data))
	await(t, s, "ran", "started", func(st *Status) bool { return st.Process.PID != 0 })
	await(t, s, "enabled", "started", func(st *Status) bool { return st.Process.PID != 0 })
	for _, name := range []string{"stopped", "disabled"} {
		if st, err := s.Get(name); err != nil || st.State != Stopped {
			t.Errorf("%s is %s, %v", name, st.State, err)
		}
	}
}

func TestAgentsAreStartedByPriority(t *testing.T) {
	data := dataDir(t)
	for i, name := range []string{"c", "a", "b"} {
		plant(t, data, name, forever, func(r *Record) { r.Priority = 10 * i })
	}
	s, _ := run(t, config(data))
	var began []time.Time // numbers of processes begin anew one day
	for _, name := range []string{"c", "a", "b"} {
		await(t, s, name, "started", func(st *Status) bool { return st.Process.PID != 0 })
		r := s.agents[name]
		must(t, r.ask(t.Context(), func() { began = append(began, r.proc.Began) }))
	}
	if !slices.IsSortedFunc(began, time.Time.Compare) {
		t.Errorf("started in the order %v", began)
	}
}

// A node that is killed takes its agents with it; what they left is ended by the next.
func TestAgentsOfAKilledNodeAreEnded(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", `sleep 1000 & echo "child $!"; wait`)
	node := exec.Command(os.Args[0])
	node.Env = append(os.Environ(), "PLAY_NODE="+data)
	must(t, node.Start())
	t.Cleanup(func() { _ = node.Process.Kill() })
	p := place.Place(filepath.Join(data, place.Agents, "a"))
	child := 0
	eventually(t, "the agent prints its child", func() bool {
		b, _ := os.ReadFile(p.In(place.Log, "agent.jsonl"))
		_, after, ok := strings.Cut(string(b), "child ")
		if !ok {
			return false
		}
		number, _, _ := strings.Cut(after, `"`)
		child, _ = strconv.Atoi(number)
		return child != 0
	})
	rec, err := load(p)
	must(t, err)
	must(t, node.Process.Signal(syscall.SIGKILL))
	_ = node.Wait()
	eventually(t, "the agent ends with its node", func() bool {
		_, err := process.Read(rec.Process.PID)
		return err != nil
	})
	if _, err := process.Read(child); err != nil {
		t.Fatal("its child ended too, so that this shows nothing")
	}
	s, _ := run(t, config(data))
	st := await(t, s, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	gone(t, child)
	if st.Process.PID == rec.Process.PID {
		t.Error("it is the same process")
	}
}

// gone waits until a process that was killed has ended: it may run for a moment.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "process "+strconv.Itoa(pid)+" ends", func() bool {
		p, err := process.Read(pid)
		return err != nil || p.Zombie
	})
}

// eventually looks at what another process does, which gives no event.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-deadline:
			t.Fatalf("it never happens that %s", what)
		case <-tick.C:
		}
	}
}

func TestTwentyAgentsStart(t *testing.T) {
	data := dataDir(t)
	for i := range 20 {
		plant(t, data, fmt.Sprintf("a%02d", i), "echo ready; "+forever, func(r *Record) {
			if r.UID != 0 {
				r.UID = 730100 + i
			}
		})
	}
	s, _ := run(t, config(data))
	for i := range 20 {
		printed(t, s, fmt.Sprintf("a%02d", i), "ready")
	}
	if n := len(s.List()); n != 20 {
		t.Errorf("%d are listed", n)
	}
}

func TestAFolderThatIsNoAgentIsShown(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "good", forever)
	must(t, os.MkdirAll(filepath.Join(data, place.Agents, "bad"), 0o700))
	must(t, os.WriteFile(filepath.Join(data, place.Agents, "bad", place.Record), []byte(`{"name":`), 0o600))
	s, _ := run(t, config(data))
	await(t, s, "good", "started", func(st *Status) bool { return st.Process.PID != 0 })
	list := s.List()
	if len(list) != 2 || list[0].State != Failed || !strings.Contains(list[0].Text, "restore it from a copy") {
		t.Errorf("%+v", list)
	}
	if _, err := s.Start(t.Context(), "bad", "x"); !fault.Is(err, fault.Corrupt) {
		t.Error(err)
	}
	if _, err := s.Start(t.Context(), "absent", "x"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func TestRemovalLeavesNothing(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", forever)
	s, _ := run(t, config(data))
	st := await(t, s, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	must(t, s.Remove(t.Context(), Removal{Name: "a", By: "x"}))
	if p, err := process.Read(st.Process.PID); err == nil && !p.Zombie {
		t.Error("its process lives")
	}
	if left, err := os.ReadDir(filepath.Join(data, place.Agents)); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	if _, err := s.Get("a"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func TestNamesOfAgents(t *testing.T) {
	for _, good := range []string{"a", "platform.actuator", "A-b_c.9", strings.Repeat("x", 64)} {
		if err := CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".a", "-a", "a/b", "a b", "é", "node", strings.Repeat("x", 65), "a\n"} {
		if err := CheckName(bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAnInterpreterMayReadTheEnvironmentThatItBelongsTo(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no Python")
	}
	environment := filepath.Join(t.TempDir(), "venv")
	bin := filepath.Join(environment, "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.Symlink(python, filepath.Join(bin, "python3")),
		os.WriteFile(filepath.Join(environment, "pyvenv.cfg"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := guard.Interpreter(filepath.Join(bin, "python3")); !slices.Contains(got, environment) {
		t.Errorf("it may read %q, want %q among them", got, environment)
	}
}
