package jail

import (
	"bufio"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// watching is a watch with virtual time.
type watching struct {
	t      *testing.T
	began  time.Time
	to     io.WriteCloser
	answer *bufio.Reader
	ended  sync.WaitGroup

	mu     sync.Mutex
	killed []Watched
}

func watchOver(t *testing.T) *watching {
	from, to := io.Pipe()
	answers, answer := io.Pipe()
	o := &watching{t: t, began: time.Now(), to: to, answer: bufio.NewReader(answers)}
	w := watch{from: from, to: answer, now: func() time.Duration { return time.Since(o.began) }, kill: func(g Watched) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.killed = append(o.killed, g)
	}}
	o.ended.Go(w.run)
	return o
}

// tells hands groups to the watch, and waits for its answer.
func (o *watching) tells(groups ...Watched) {
	o.t.Helper()
	if _, err := io.WriteString(o.to, Line(groups)); err != nil {
		o.t.Fatal(err)
	}
	if line, err := o.answer.ReadString('\n'); line != "\n" {
		o.t.Fatalf("the answer is %q %v", line, err)
	}
}

// has fails unless exactly these groups were killed since it was asked last.
func (o *watching) has(want ...Watched) {
	o.t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.killed, want) {
		o.t.Errorf("killed are %v, not %v", o.killed, want)
	}
	o.killed = nil
}

func TestGroupsEndWhenTheirTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := watchOver(t)
		short, long := Watched{Group: 20, Until: time.Second}, Watched{Group: 30, UID: 7, Until: 2 * time.Second}
		o.tells(short, long)
		<-time.After(time.Second - time.Millisecond) // virtual
		o.has()
		<-time.After(time.Millisecond + lookEvery)
		o.has(short)
		long.Until = 3 * time.Second
		o.tells(long)
		<-time.After(time.Second)
		o.has()
		<-time.After(time.Second)
		o.has(long)
		<-time.After(time.Hour)
		o.has()
		_ = o.to.Close()
		o.ended.Wait()
	})
}

func TestGroupsEndAtOnceWhenTheyMayNotRunOrTheInputEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := watchOver(t)
		barred, other := Watched{Group: 50}, Watched{Group: 40, Until: time.Hour}
		o.tells(barred, other)
		o.has(barred)
		_ = o.to.Close()
		o.ended.Wait()
		o.has(other)
	})
}

func TestALineThatIsNoneEndsNobody(t *testing.T) {
	got := parseLine("x 0:0:0 1:0:0 -5:0:0 20: 30:1:2 :")
	if want := []Watched{{30, 1, 2}}; !slices.Equal(got, want) {
		t.Errorf("read %v", got)
	}
}
