package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/audit"
)

// entries lists all of an action, the oldest first.
func entries(t *testing.T, l *audit.Log, action string) (list []audit.Entry) {
	t.Helper()
	must(t, l.Export(context.Background(), audit.Filter{}, func(e *audit.Entry) error {
		if e.Action == action {
			list = append(list, *e)
		}
		return nil
	}))
	return list
}

func TestWhatComesAgainAndAgainIsOneEntryAMinuteWithACountAndAnExample(t *testing.T) {
	var ahead atomic.Int64
	l, err := audit.Open(context.Background(), t.TempDir(), func() time.Time { return clock().Add(time.Duration(ahead.Load())) })
	must(t, err)
	defer func() { must(t, l.Close()) }()
	refused := func(child string, n int) {
		l.Gather(audit.Entry{
			Actor: child, Action: "refused", Subject: fmt.Sprint("origin", n), Outcome: "no", Detail: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)),
		})
	}
	for i := range 1000 {
		refused("child:north", i)
	}
	refused("child:south", 7)
	l.Ripe()
	must(t, l.Append(context.Background(), entry(0))) // writes what waits, too
	list := entries(t, l, "refused")
	if len(list) != 2 || list[0].Subject != "origin0" || list[1].Subject != "origin7" {
		t.Fatalf("at once: %+v", list)
	}
	ahead.Store(int64(time.Minute))
	l.Ripe()
	for i := range 3 {
		refused("child:north", 2000+i)
	}
	refused("child:south", 8) // it was quiet: told at once
	l.Ripe()
	must(t, l.Append(context.Background(), entry(0)))
	list = entries(t, l, "refused")[2:]
	if len(list) != 2 || list[0].Subject != "origin999" || list[1].Subject != "origin8" {
		t.Fatalf("after a minute: %+v", list)
	}
	var sum struct {
		Count   int
		Since   time.Time
		Example struct{ N int }
	}
	must(t, json.Unmarshal(list[0].Detail, &sum))
	if sum.Count != 999 || sum.Example.N != 999 || !sum.Since.Equal(clock()) {
		t.Errorf("the sum says %s", list[0].Detail)
	}
}

func TestWhatWasGatheredIsToldWhenTheLogEnds(t *testing.T) {
	l := open(t, t.TempDir())
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	for range 5 {
		l.Gather(audit.Entry{Actor: "child:north", Action: "refused", Outcome: "no"})
	}
	stop()
	must(t, <-done)
	if list := entries(t, l, "refused"); len(list) != 2 {
		t.Errorf("there are %d entries for five refusals", len(list))
	}
}
