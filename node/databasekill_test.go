package node_test

import (
	"testing"

	"voltbus/testing/link"
	"voltbus/testing/peers"
)

// oneDatabase makes a parent and its child that store in one database, joined to each other, and halts them.
func oneDatabase(t *testing.T) (parent, child *process) {
	t.Helper()
	server := peers.StartedPostgreSQL(t)
	node := func(name string) *process {
		cfg := inDatabase(t, server, name, "")
		return &process{t: t, cfg: cfg, text: database(server), grown: make(chan struct{})}
	}
	parent, child = node("campus"), node("plant")
	child.writes, parent.below = "campus/plant/p", link.New(t)
	up, down := run(t, parent.cfg), run(t, child.cfg)
	parent.below.Lead(up.BusAddr())
	below(t, up, down, parent.below.Addr(), "campus/plant")
	down.halt()
	up.halt()
	t.Cleanup(child.kill)
	t.Cleanup(parent.kill)
	return parent, child
}

// A child stores in its parent's database itself and sends its blocks too. Both are killed at random moments, always
// under load. In the end the database has every sample that the child acknowledged, once.
func TestNodesOfOneDatabaseKilledAtAnyMomentHaveEverySampleOnce(t *testing.T) {
	t.Parallel()
	again, random := pace(t)
	parent, child := oneDatabase(t)
	parent.start()
	child.start()
	kills := 0
	for ; again(kills); kills++ {
		child.more(200 + random.IntN(2000))
		p := []*process{parent, child}[kills%2]
		p.kill()
		if p == parent && random.IntN(2) == 0 {
			child.more(200 + random.IntN(1000)) // the child goes on alone
		}
		p.start()
	}
	child.more(200)
	parent.kill()
	child.kill()
	t.Logf("%d kills, %d samples acknowledged", kills, child.count())
	up, down := run(t, parent.cfg), run(t, child.cfg)
	parent.below.Lead(up.BusAddr())
	produced := of(down, "plant").Acknowledged
	if produced < uint64(child.count()) {
		t.Fatalf("the child acknowledged %d samples and knows of %d", child.count(), produced)
	}
	wantDirect(t, up, down, produced)
	has := counted(t, up.Client, string(child.writes))
	want := counts{all: has.all, different: has.all, times: has.all, first: 0, last: has.all - 1}
	if has != want || (has.all != child.count() && has.all != child.count()+treeBatch) {
		t.Errorf("the database has %+v, %d were acknowledged", has, child.count())
	}
}
