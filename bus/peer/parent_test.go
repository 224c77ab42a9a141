package peer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/semaphore"

	"voltbus/bus/dispatch"
	"voltbus/wire"
)

// asked is a child's connection to its parent, without the connection: calls are started by the test.
func asked(t *testing.T) *Parent {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	return &Parent{ctx: ctx, end: end, places: make(chan struct{}, parentCalls), weight: semaphore.NewWeighted(callsWeight)}
}

// heavy is a list of objects that takes more than half of the memory for calls to be read.
func heavy(t *testing.T) []byte {
	t.Helper()
	text := []byte("[" + strings.Repeat("{},", callsWeight/2/300) + "{}]")
	if w := wire.Weight(text); w <= callsWeight/2 || w > callsWeight {
		t.Fatalf("the call weighs %d, want more than half of %d", w, callsWeight)
	}
	return text
}

// names returns the methods of the calls that were started since the last time.
func names(started <-chan string) (all []string) {
	for len(started) > 0 {
		all = append(all, <-started)
	}
	return all
}

func TestCallsOfAParentWaitForMemoryToReadThem(t *testing.T) {
	text := heavy(t)
	synctest.Test(t, func(t *testing.T) {
		p := asked(t)
		started, answer := make(chan string, 10), make(chan struct{})
		handler := func(_ context.Context, r dispatch.Request) {
			started <- r.Method
			<-answer
		}
		go func() { // as the bus delivers them: one after the other
			p.start(dispatch.Request{Method: "first", Data: text}, handler)
			p.start(dispatch.Request{Method: "second", Data: text}, handler)
			p.start(dispatch.Request{Method: "third", Data: []byte("{}")}, handler)
		}()
		synctest.Wait()
		if got := names(started); len(got) != 1 || got[0] != "first" {
			t.Errorf("%q run, want the first alone: two do not fit into memory, and what is behind them waits", got)
		}
		answer <- struct{}{}
		synctest.Wait()
		if got := names(started); len(got) != 2 {
			t.Errorf("after the first was answered %q began, want the second and the third", got)
		}
		close(answer)
		p.running.Wait()
	})
}

func TestACallThatOutweighsAllMemoryForCallsRunsAlone(t *testing.T) {
	text := heavy(t)
	synctest.Test(t, func(t *testing.T) {
		p := asked(t)
		ran := false
		p.start(dispatch.Request{Data: append(append([]byte{}, text...), text...)}, func(context.Context, dispatch.Request) { ran = true })
		p.running.Wait()
		if !ran {
			t.Error("it never ran")
		}
	})
}

func TestNoMoreCallsOfAParentRunThanThereArePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := asked(t)
		started, answer := make(chan string, parentCalls+2), make(chan struct{})
		handler := func(_ context.Context, r dispatch.Request) {
			started <- r.Method
			<-answer
		}
		go func() {
			for range parentCalls + 1 {
				p.start(dispatch.Request{Method: "call"}, handler)
			}
		}()
		synctest.Wait()
		if n := len(names(started)); n != parentCalls {
			t.Errorf("%d calls run at once, want %d", n, parentCalls)
		}
		answer <- struct{}{}
		synctest.Wait()
		if n := len(names(started)); n != 1 {
			t.Errorf("%d calls began when one was answered, want 1", n)
		}
		close(answer)
		p.running.Wait()
	})
}

func TestACallThatWaitsIsDroppedWhenTheConnectionEnds(t *testing.T) {
	text := heavy(t)
	synctest.Test(t, func(t *testing.T) {
		p := asked(t)
		answer, second := make(chan struct{}), false
		p.start(dispatch.Request{Data: text}, func(context.Context, dispatch.Request) { <-answer })
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.start(dispatch.Request{Data: text}, func(context.Context, dispatch.Request) { second = true })
		}()
		synctest.Wait()
		p.end()
		<-done
		close(answer)
		p.running.Wait()
		if second {
			t.Error("a call ran whose connection had ended")
		}
	})
}
