package jail

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/agent/process"
)

// lookEvery is how often a watch looks at its clock: so much later than it should a group may end.
const lookEvery = 50 * time.Millisecond

// Watched is a process group that may run until a time of Clock; 0 if it may not run any more.
type Watched struct {
	Group int           // its id, which is that of its first process
	UID   int           // a user whose processes all end with it; 0 for none
	Until time.Duration // of Clock
}

// Line writes what a watch reads: all groups that there are.
func Line(groups []Watched) string {
	words := make([]string, len(groups))
	for i, g := range groups {
		words[i] = fmt.Sprintf("%d:%d:%d", g.Group, g.UID, g.Until)
	}
	return strings.Join(words, " ") + "\n"
}

// parseLine reads a line; the groups 0 and 1 would be others than the agents'.
func parseLine(line string) (groups []Watched) {
	for word := range strings.FieldsSeq(line) {
		var g Watched
		if _, err := fmt.Sscanf(word, "%d:%d:%d", &g.Group, &g.UID, &g.Until); err == nil && g.Group > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}

// Clock returns the time since this machine started. It is the same for all of its processes, and goes on while they are stopped or the
// machine is suspended.
func Clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil { // no Linux since 2.6.39
		return 0
	}
	return time.Duration(t.Nano())
}

// watch reads lines with the process groups that may run, and until when. It answers each with an empty one, and kills a group when its time
// is over, unless a line that has come meanwhile prolongs it. So groups end in time whatever happens to the process that started them. When the
// input ends, all do.
type watch struct {
	from io.Reader
	to   io.Writer
	now  func() time.Duration
	kill func(Watched)

	groups []Watched
}

func (w *watch) run() {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(w.from)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case line, open := <-lines:
			if !open {
				w.end(func(Watched) bool { return true })
				return
			}
			w.groups = parseLine(line)
			w.endLate()
			_, _ = io.WriteString(w.to, "\n") // who reads it no more ends the input too
		case <-tick.C:
			w.endLate()
		}
	}
}

func (w *watch) endLate() {
	now := w.now()
	w.end(func(g Watched) bool { return g.Until <= now })
}

// end kills some of the groups, and forgets them.
func (w *watch) end(which func(Watched) bool) {
	left := w.groups[:0]
	for _, g := range w.groups {
		if which(g) {
			w.kill(g)
		} else {
			left = append(left, g)
		}
	}
	w.groups = left
}

// watchInput is a watch over the standard input; it ends the process.
func watchInput() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -10) // who may not is as punctual as others
	w := watch{from: os.Stdin, to: os.Stdout, now: Clock, kill: func(g Watched) {
		_ = syscall.Kill(-g.Group, syscall.SIGKILL) // it may have ended
		process.EndUser(g.UID)
	}}
	w.run()
	os.Exit(0)
}
