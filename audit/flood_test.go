package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/audit"
)

// total is how many times an entry says that something happened.
func total(t *testing.T, e *audit.Entry) uint64 {
	t.Helper()
	sum := struct{ Count uint64 }{1}
	if len(e.Detail) > 0 {
		must(t, json.Unmarshal(e.Detail, &sum))
	}
	return max(sum.Count, 1)
}

// An agent offers a hundred thousand entries of 4 KiB, 20 MB a second and more, in several minutes; others go on.
func TestAttackAnAgentFloodsTheLog(t *testing.T) {
	const minutes, each = 5, 20_000
	dir := t.TempDir()
	var ahead atomic.Int64
	l, err := audit.Open(context.Background(), dir, func() time.Time { return clock().Add(time.Duration(ahead.Load())) })
	must(t, err)
	defer func() { must(t, l.Close()) }()
	args := json.RawMessage(`{"args":"` + strings.Repeat("x", 4000) + `"}`)
	for minute := range minutes {
		ahead.Store(int64(minute) * int64(time.Minute))
		for i := range each {
			l.Offer(audit.Entry{Actor: "agent:evil", Action: "refused", Subject: fmt.Sprint("s", i), Outcome: "no", Detail: args})
		}
		for _, who := range []string{"person:ada", "node", "agent:good"} {
			l.Offer(audit.Entry{Actor: who, Action: "did", Subject: fmt.Sprint(minute), Outcome: "ok"})
		}
		must(t, l.Append(t.Context(), entry(minute)))
	}
	ahead.Store(minutes * int64(time.Minute))
	l.Ripe()
	must(t, l.Append(t.Context(), entry(0)))
	var evil, told uint64
	others := map[string]int{}
	must(t, l.Export(t.Context(), audit.Filter{}, func(e *audit.Entry) error {
		if e.Actor == "agent:evil" {
			evil++
			told += total(t, e)
		} else if e.Action == "did" {
			others[e.Actor]++
		}
		return nil
	}))
	if told != minutes*each || evil > audit.Burst+minutes*70 {
		t.Errorf("%d entries tell of %d refusals, want %d refusals in few entries", evil, told, minutes*each)
	}
	for _, who := range []string{"person:ada", "node", "agent:good"} {
		if others[who] != minutes {
			t.Errorf("of what %s did %d entries are there, want %d", who, others[who], minutes)
		}
	}
	if s := l.Status(); s.Lost > 0 {
		t.Errorf("%d entries are lost", s.Lost)
	}
	for _, name := range []string{audit.File, audit.File + "-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > 4<<20 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Ten thousand names at once: each is counted, nothing is put on somebody who did not do it, and a person finds room.
func TestAttackManyActorsFloodTheLogAtOnce(t *testing.T) {
	const actors, each = 10_000, 3
	l := open(t, t.TempDir())
	for range each {
		for i := range actors {
			l.Offer(audit.Entry{Actor: fmt.Sprint("agent:", i), Action: "refused", Outcome: "no"})
		}
	}
	l.Offer(audit.Entry{Actor: "person:ada", Action: "did", Outcome: "ok"})
	l.Offer(audit.Entry{Actor: "node", Action: "did", Outcome: "ok"})
	ctx, stop := context.WithCancel(context.Background())
	stop()
	must(t, l.Run(ctx))
	var told uint64
	by := map[string]uint64{}
	must(t, l.Export(t.Context(), audit.Filter{}, func(e *audit.Entry) error {
		by[e.Actor] += total(t, e)
		if e.Action == "refused" {
			told += total(t, e)
		}
		return nil
	}))
	if told != actors*each || by["person:ada"] != 1 || by["node"] != 1 {
		t.Errorf("the log tells of %d refusals, want %d; of ada %d, of the node %d", told, actors*each, by["person:ada"], by["node"])
	}
	for actor, n := range by {
		if n > each && actor != "several" {
			t.Errorf("%s did %d times what was done %d times", actor, n, each)
		}
	}
	if s := l.Status(); s.Lost > 0 {
		t.Errorf("%d entries are lost", s.Lost)
	}
}
