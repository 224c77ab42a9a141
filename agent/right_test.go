package agent

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/agent/jail"
)

// lease is a right that this process takes to last, as one that was stopped does: only what it said before of its time counts.
type lease struct {
	ctx   context.Context //nolint:containedctx // it is the right
	until time.Duration   // of jail.Clock
	told  func()          // called when the watchdog is told
	once  sync.Once
}

func (l *lease) Hold() context.Context    { return l.ctx }
func (l *lease) Owner() string            { return "" }
func (l *lease) Changed() <-chan struct{} { return nil }

func (l *lease) Left() time.Duration {
	if l.told != nil {
		l.once.Do(l.told)
	}
	return max(l.until-jail.Clock(), 0)
}

// The watchdog ends an agent, and what has left its group, although the supervisor does nothing.
func TestTheWatchdogEndsAnAgentWhenTheRightHasEnded(t *testing.T) {
	cfg := config(dataDir(t))
	cfg.Restart = Never
	plant(t, cfg.Data, "a", `setsid sleep 1000 & echo "child $!"; `+forever)
	l := &lease{ctx: t.Context(), until: jail.Clock() + 3*time.Second}
	cfg.Right = func(string) Right { return l }
	s, _ := run(t, cfg)
	child := strings.Fields(printed(t, s, "a", "child"))[1]
	st := await(t, s, "a", "killed", func(st *Status) bool { return st.Last != nil && st.Last.Signal == "killed" })
	if jail.Clock() < l.until {
		t.Errorf("it was ended before its time: %+v", st.Last)
	}
	if os.Getuid() == 0 { // it has a user of its own
		eventually(t, "its child has ended", func() bool {
			text, err := os.ReadFile(filepath.Join("/proc", child, "stat"))
			return err != nil || strings.Contains(string(text), ") Z ")
		})
	}
}

// A node that is stopped just after it has started an agent has told the watchdog of it.
func TestAnAgentIsOnlyItselfWhenTheWatchdogKnowsIt(t *testing.T) {
	cfg := config(dataDir(t))
	plant(t, cfg.Data, "a", forever)
	l := &lease{ctx: t.Context(), until: jail.Clock() + time.Hour}
	cfg.Right = func(string) Right { return l }
	s, err := Open(cfg)
	must(t, err)
	told := make(chan string, 1)
	l.told = func() {
		pid := s.agents["a"].pid()
		line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err != nil {
			line = []byte(err.Error())
		}
		told <- string(line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	if line := <-told; !strings.Contains(line, "agent-exec") {
		t.Errorf("when the watchdog is told of it, it is %q", line)
	}
	await(t, s, "a", "running", func(st *Status) bool { return st.State == Running || st.Process.PID != 0 })
	cancel()
	must(t, <-done)
}

// An agent whose right ends while it is started does nothing.
func TestAnAgentWhoseRightEndsMeanwhileDoesNothing(t *testing.T) {
	cfg := config(dataDir(t))
	work := filepath.Join(cfg.Data, "came")
	plant(t, cfg.Data, "a", "echo came; touch "+work+"; "+forever)
	hold, end := context.WithCancel(t.Context())
	l := &lease{ctx: hold, until: jail.Clock() + time.Hour, told: end}
	cfg.Right = func(string) Right { return l }
	s, _ := run(t, cfg)
	await(t, s, "a", "refused", func(st *Status) bool { return st.Last != nil && strings.Contains(st.Last.Text, errNoRight.Error()) })
	lines, err := s.Logs("a")
	must(t, err)
	for _, e := range lines.Last() {
		if e.Message == "came" {
			t.Error("it ran")
		}
	}
}
