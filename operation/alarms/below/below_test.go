package below_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/operation/alarms"
	"voltbus/operation/alarms/below"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestADescendantThatIsCutOffIsNotKnownAndNeverClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := []below.Node{{Name: "Plant"}, {Name: "depot", Away: time.Now()}}
		var mu sync.Mutex // guards what follows and nodes
		var asked, left int
		var problem error
		set := func(do func()) { mu.Lock(); do(); mu.Unlock() }
		b := below.New(below.Options{
			Now: time.Now, Nodes: func() []below.Node { mu.Lock(); defer mu.Unlock(); return nodes },
			Ask: func(_ context.Context, node, known string) (alarms.Alarms, error) {
				mu.Lock()
				defer mu.Unlock()
				asked++
				if known == "1" {
					left++
				}
				one := []alarms.Alarm{{ID: "hot@" + node, State: "unacknowledged"}}
				return alarms.Alarms{Alarms: one, All: 1, Open: 1, Version: "1", Same: known == "1"}, problem
			},
		})
		says := func(when, want string) {
			t.Helper()
			list, about := b.Alarms()
			got := ""
			for i := range about {
				got += fmt.Sprint(about[i].Node, " ", about[i].Known, " ", about[i].Open, " ", about[i].At != nil, " ", about[i].Reason, "; ")
			}
			for i := range list {
				got += fmt.Sprint(list[i].ID, " of ", list[i].Node, " ", list[i].Known)
			}
			if got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx) }()
		synctest.Wait()
		says("at first", "Plant true 1 true ; depot false 0 false it is cut off; hot@Plant of Plant true")
		pass(11 * time.Second)
		if asked != 3 || left != 2 {
			t.Errorf("it was asked %d times, %d times the list was left out", asked, left)
		}
		b.Again("plant")
		synctest.Wait()
		if asked != 4 {
			t.Errorf("after an act it was asked %d times", asked)
		}
		set(func() { problem = errors.New("no way there") })
		pass(10 * time.Second)
		says("it does not answer", "Plant false 1 true no way there; depot false 0 false it is cut off; hot@Plant of Plant false")
		set(func() { nodes = nodes[1:] })
		pass(2 * time.Second)
		says("it was removed", "depot false 0 false it is cut off; ")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}
