package node_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	dataquality "voltbus/operation/judge"
	"voltbus/point"
	"voltbus/testing/link"
)

// A rule withholds readings from the parent. A person releases them while the parent is cut off, the node starts again, and the parent has each once, with
// its own time. The ledgers of both nodes add up all the while.
func TestReadingsWithheldFromTheParentWaitForAPerson(t *testing.T) {
	t.Parallel()
	up := nodeOf(t, t.TempDir(), "campus", listenAnywhere)
	down := nodeOf(t, t.TempDir(), "plant", `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
judge:
  - {name: warm, check: range, points: ["*/temp"], high: 90, to: [parent]}
  - {name: flow, check: range, points: ["*/flow"], high: 90, to: [parent], verdict: mark}
`)
	way := link.New(t)
	parent := run(t, up)
	way.Lead(parent.BusAddr())
	child := run(t, down)
	below(t, parent, child, way.Addr(), "campus/plant")
	begun := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	recorded := 0
	record := func(path point.Path, values ...float64) {
		for _, v := range values {
			s := point.Sample{Point: path, Time: begun.Add(time.Duration(recorded) * time.Millisecond), Value: point.FloatOf(v)}
			if err := child.Record(wait(t), []point.Sample{s}); err != nil {
				t.Fatal(err)
			}
			recorded++
		}
	}
	kept := func() dataquality.HeldState {
		all, err := client.Do(wait(t), child.Client, dataquality.List, struct{}{})
		if err != nil || len(all.Rules) != 2 || len(all.Kept) != 1 || all.Kept[0].Sink != "parent" {
			t.Fatal(all, err)
		}
		return all.Kept[0]
	}
	arrived := func(left, stored uint64) bool {
		own, released := originsOf(parent, "plant~")
		return own.Left == left && own.Stored+left == uint64(recorded) && own.Balanced && released.Stored == stored && (stored == 0 || released.Balanced)
	}
	record("a/temp", 20, 500, 21, 501, 22)
	record("a/flow", 20, 500)
	eventually(t, "the parent has what is not withheld", func() bool { return arrived(2, 0) && kept().Kept == 2 })
	held, err := client.Do(wait(t), child.Client, dataquality.Withheld, dataquality.Page{Sink: "parent", Limit: 10})
	if err != nil || len(held.Readings) != 2 || held.Readings[0].Value != "500" || held.Readings[0].Rule != "warm" {
		t.Errorf("withheld are %+v, %v", held, err)
	}
	if got := parent.qualities("campus/plant/a/flow"); !slices.Equal(got, []string{"good", "uncertain(range)"}) {
		t.Errorf("the parent has the qualities %v", got)
	}
	eventually(t, "the child itself has all of them", func() bool { return len(child.values("a/temp")) == 5 })

	way.Lead("")
	way.Cut()
	record("a/temp", 502, 23)
	eventually(t, "another is withheld", func() bool { return kept().Kept == 3 })
	done, err := client.Do(wait(t), child.Client, dataquality.Release, dataquality.Held{Sink: "parent", Rule: "warm"})
	if err != nil || done.Readings != 3 || done.Kept != 0 || kept().Sending != 3 {
		t.Errorf("released are %+v, %v: %+v", done, err, kept())
	}
	child.halt()
	child = run(t, down)
	way.Lead(parent.BusAddr())
	eventually(t, "the parent has what was released", func() bool { return arrived(3, 3) && kept().Released == 3 && kept().Sending == 0 })
	if got := parent.values("campus/plant/a/temp"); !slices.Equal(got, []string{"20", "500", "21", "501", "22", "502", "23"}) {
		t.Errorf("the parent has %v", got)
	}
	if l := parent.ledger(); !strings.Contains(l.Sentence, "Nothing was lost of 12 samples") || !strings.Contains(l.Sentence, "3 samples were left out on the way, because nobody selected them or a rule withheld them") {
		t.Errorf("the parent's ledger says %q", l.Sentence)
	}
	if _, err := client.Do(wait(t), parent.Client, dataquality.Release, dataquality.Held{Sink: "parent"}); err == nil || !strings.Contains(err.Error(), "no rule holds for the parent") {
		t.Errorf("a node without a rule: %v", err)
	}
}

// originsOf returns the accounts of an origin that begins with a text, and of what was released of it.
func originsOf(r *running, start string) (own, released answer.Origin) {
	for _, o := range r.ledger().Origins {
		switch {
		case !strings.HasPrefix(o.Origin, start) || strings.HasSuffix(o.Origin, "!"):
		case strings.Contains(o.Origin, "+"):
			released = o
		default:
			own = o
		}
	}
	return own, released
}
