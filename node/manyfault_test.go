package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/children"
	"voltbus/operation/nodes"
	parentop "voltbus/operation/parent"
	"voltbus/point"
)

// data returns the data directory of a node.
func (r *running) data() string { return r.Config().Node.Data }

// again runs a node that was halted, behind the same link.
func (p *pair) again(parent *running) {
	p.t.Helper()
	p.parent = run(p.t, parent.Config())
	p.way.Lead(p.parent.BusAddr())
}

// keep copies the data directory of a node that is halted.
func keep(t *testing.T, r *running) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(r.data())); err != nil {
		t.Fatal(err)
	}
	private(t, dir)
	return dir
}

// private lets nobody else into a copy: a node refuses keys that others can read.
func private(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// putBack replaces the data directory of a node that is halted by a copy.
func putBack(t *testing.T, r *running, from string) {
	t.Helper()
	if err := os.RemoveAll(r.data()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.data(), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	private(t, r.data())
}

// of returns the account of the origin of a name at a node.
func of(r *running, name string) answer.Origin {
	r.t.Helper()
	for _, o := range r.ledger().Origins {
		if strings.HasPrefix(o.Origin, name+"~") {
			return o
		}
	}
	return answer.Origin{}
}

// settled waits until the parent's ledger says that so many of the child's samples are stored, and returns that.
func (p *pair) settled(n uint64) answer.Origin {
	p.t.Helper()
	eventually(p.t, "the parent's ledger has what is stored", func() bool { return of(p.parent, "plant").Stored >= n })
	o := of(p.parent, "plant")
	if o.Stored != n {
		p.t.Errorf("the ledger: %+v, want %d stored", o, n)
	}
	return o
}

// says waits until the child says why nothing of it is taken, in words that hold the text.
func says(t *testing.T, child *running, text string) {
	t.Helper()
	eventually(t, "the child says: "+text, func() bool {
		a, err := client.Do(wait(t), child.Client, parentop.Get, struct{}{})
		if err != nil || a.Uplink == nil {
			return false
		}
		all := a.Why + " " + a.Uplink.Reason
		for _, o := range a.Uplink.Origins {
			all += " " + o.Reason
		}
		return strings.Contains(all, text)
	})
}

func TestAChildThatSendsOutsideItsPrefixWaitsUntilItIsGranted(t *testing.T) {
	p := newPair(t, "uplink: {rename: [{from: p, to: other/p}]}\n")
	p.record(10)
	says(t, p.child, "record other/p")
	if c, err := client.Do(wait(t), p.parent.Client, children.Get, children.Node{Name: "plant"}); err != nil || !strings.Contains(c.Refusal, "record other/p") {
		t.Errorf("the parent shows %+v, %v", c, err)
	}
	eventually(t, "the parent's audit log has it", func() bool {
		told := p.parent.told(client.AuditFilter{Action: "refused"})
		return len(told) == 1 && strings.HasPrefix(told[0], "child:plant") && strings.Contains(told[0], "record other/p")
	})
	p.record(10)
	if o := of(p.parent, "plant"); o.Stored != 0 {
		t.Errorf("the parent took %+v", o)
	}
	if _, err := client.Do(wait(t), p.parent.Client, children.Regrant, children.Grants{Node: children.Node{Name: "plant"}, Regranting: operation.Regranting{Grant: identity.Grants{Record: []point.Pattern{"other"}}, Withdraw: identity.Grants{}}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the parent has all that waited", func() bool { return p.parent.stored("other/p") == 20 })
	if o := p.settled(20); o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
	if c, err := client.Do(wait(t), p.parent.Client, children.Get, children.Node{Name: "plant"}); err != nil || c.Refusal != "" {
		t.Errorf("the parent shows %+v, %v", c, err)
	}
}

func TestAChildThatIsConfinedAnewSendsToTheNewPrefix(t *testing.T) {
	p := newPair(t, "")
	p.record(10)
	p.equal()
	if _, err := client.Do(wait(t), p.parent.Client, children.Confine, children.Prefix{Node: children.Node{Name: "plant"}, Prefix: "region/plant"}); err != nil {
		t.Fatal(err)
	}
	p.record(10)
	eventually(t, "the new samples stand at the new place", func() bool { return p.parent.stored("region/plant/p") == 10 })
	if o := p.settled(20); o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
}

func TestAParentFromYesterdaysBackupGetsWhatItLacks(t *testing.T) {
	t.Parallel()
	p := newPair(t, "log: {max_bytes: 16MiB}\n")
	p.record(1000)
	p.equal()
	p.parent.halt()
	yesterday := keep(t, p.parent)
	p.again(p.parent)
	p.record(1000)
	p.equal()
	p.parent.halt()
	putBack(t, p.parent, yesterday)
	p.again(p.parent)
	p.record(10)
	p.equal()
	if o := of(p.parent, "plant"); o.Stored != 2010 || o.Missing != 0 {
		t.Errorf("the ledger: %+v", o)
	}

	// What the child's log has no more is named.
	for i := range 400 {
		s := numbers("noise", i, 1)
		s[0].Value = point.TextOf(noise(60_000))
		p.child.record(s)
	}
	total := uint64(2010 + 400)
	eventually(t, "the parent has all", func() bool { return of(p.parent, "plant").Stored == total })
	p.parent.halt()
	putBack(t, p.parent, yesterday)
	p.again(p.parent)
	eventually(t, "the parent has what the child still had", func() bool {
		o := of(p.parent, "plant")
		return o.Stored > 1000 && o.Stored+o.Missing == total && o.BacklogSamples == 0
	})
	o, gaps := of(p.parent, "plant"), p.parent.ledger().Gaps
	if !o.Balanced || o.Missing < 1010 || len(gaps) != 1 || gaps[0].Reason != "dropped" || gaps[0].Samples != o.Missing || gaps[0].Origin != o.Origin {
		t.Errorf("the ledger: %+v, gaps %+v", o, gaps)
	}
	if u := p.uplink(); len(u.Origins) == 0 || u.Origins[0].Dropped != o.Missing {
		t.Errorf("the child says %+v", u.Origins)
	}
}

func TestAChildWithANewDiskJoinsAgainAndIsNotMixedUp(t *testing.T) {
	p := newPair(t, "")
	p.record(100)
	p.equal()
	before := of(p.parent, "plant").Origin
	p.child.halt()
	cfg := p.child.Config()
	if err := os.RemoveAll(cfg.Node.Data); err != nil {
		t.Fatal(err)
	}
	p.child = run(t, cfg)
	p.child.record(numbers("p", 100, 30))
	made, err := client.Do(wait(t), p.parent.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: "campus/plant", Addresses: []string{p.way.Addr()}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), p.child.Client, parentop.Join, parentop.Code{Code: made.Code, Name: ""}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "remove") {
		t.Fatalf("under the name of the old disk: %v", err)
	}
	if err := client.Tell(wait(t), p.parent.Client, children.Remove, children.Node{Name: "plant"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), p.child.Client, parentop.Join, parentop.Code{Code: made.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the samples of both disks are there", func() bool {
		n := uint64(0)
		for _, o := range p.parent.ledger().Origins {
			n += o.Stored
		}
		return n >= 130
	})
	if n := p.parent.stored("campus/plant/p"); n != 130 {
		t.Errorf("the history has %d samples, want 130", n)
	}
	for _, o := range p.parent.ledger().Origins {
		want := uint64(30)
		switch o.Origin {
		case before:
			want = 100
		case of(p.parent, "campus").Origin:
			continue
		}
		if o.Stored != want || o.Missing+o.Repeated != 0 || !o.Balanced {
			t.Errorf("the ledger: %+v, want %d", o, want)
		}
	}
}

func TestAttackACopyOfAChildIsRefusedAndTheFirstGoesOn(t *testing.T) {
	p := newPair(t, "")
	p.record(100)
	p.equal()
	p.child.halt()
	dir := filepath.Dir(keep(t, p.child))
	p.child = run(t, p.child.Config())
	p.connected()
	twin := run(t, nodeOf(t, dir, "plant", listenNowhere))
	says(t, twin, "is connected already")
	eventually(t, "the parent's audit log has it", func() bool {
		told := strings.Join(p.parent.told(client.AuditFilter{}), "\n")
		return strings.Contains(told, "child:plant") && strings.Contains(told, "kept aside: ")
	})
	twin.record(numbers("twin", 0, 10))
	for range 10 {
		p.record(10)
	}
	p.equal()
	p.child.halt()
	says(t, twin, "the data directory was copied")
	if o := of(p.parent, "plant"); o.Stored != 200 || o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
}

func TestAnotherNodeAtTheAddressOfTheParentGetsNothing(t *testing.T) {
	p := newPair(t, "")
	p.record(10)
	p.equal()
	other := run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere))
	p.way.Lead(other.BusAddr())
	p.way.Cut()
	p.record(10)
	says(t, p.child, "does not come from the authority")
	if o := of(other, "plant"); o.Origin != "" {
		t.Errorf("the other one has %+v", o)
	}
	p.way.Lead(p.parent.BusAddr())
	p.equal()
}

func TestAParentThatWasRenamedGetsOn(t *testing.T) {
	p := newPair(t, "")
	p.record(10)
	p.equal()
	p.parent.halt()
	cfg := p.parent.Config()
	cfg.Node.Name = "main-campus"
	p.parent = run(t, cfg)
	p.way.Lead(p.parent.BusAddr())
	p.record(10)
	p.equal()
	if a, err := client.Do(wait(t), p.child.Client, parentop.Get, struct{}{}); err != nil || a.Parent != "main-campus" {
		t.Errorf("the child's parent is %+v, %v", a, err)
	}
}

func TestAChildThatWasRenamedIsTheSameChild(t *testing.T) {
	p := newPair(t, "")
	p.record(10)
	p.equal()
	before := of(p.parent, "plant").Origin
	p.child.halt()
	cfg := p.child.Config()
	cfg.Node.Name = "boiler-house"
	p.child = run(t, cfg)
	p.record(10)
	p.equal()
	o := of(p.parent, "plant")
	if o.Origin != before || o.Stored != 20 || o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v, the origin was %s", o, before)
	}
	if n := len(p.parent.ledger().Origins); n > 2 {
		t.Errorf("the parent knows of %d origins: %+v", n, p.parent.ledger().Origins)
	}
	if c, err := client.Do(wait(t), p.parent.Client, children.Get, children.Node{Name: "plant"}); err != nil || c.Online == nil {
		t.Errorf("the parent's child is %+v, %v", c, err)
	}
	eventually(t, "the parent has it under the name with which it joined, once", func() bool {
		n, err := client.Do(wait(t), p.parent.Client, nodes.List, struct{}{})
		return err == nil && len(n.Nodes) == 2 && n.Nodes[1].Name == "plant" && n.Nodes[1].State == answer.NodeOnline
	})
	eventually(t, "it answers to both names", func() bool {
		return p.child.Tree().Self("plant") && p.child.Tree().Self("boiler-house")
	})
}

func TestSamplesOfAClockThatJumpsWhileTheyGoUpAreAllThere(t *testing.T) {
	p := newPair(t, "")
	total := 0
	record := func(from, n int, shift time.Duration) {
		s := numbers("p", from, n)
		for i := range s {
			s[i].Time = s[i].Time.Add(shift)
		}
		p.child.record(s)
		total += n
	}
	for i := range 20 {
		record(100*i, 100, 0)
		record(100*i, 50, 500*time.Millisecond-time.Hour) // an hour back, among what was there, or before it
		record(100*i, 50, 250*time.Millisecond+24*300*time.Hour)
		if i%5 == 2 {
			p.way.Cut()
		}
	}
	p.sent = total
	p.equal()
	eventually(t, "the child has stored its own", func() bool { return of(p.child, "plant").Stored == uint64(total) })
	if has := counted(t, p.child.Client, "p"); has.all != total || has.times != total {
		t.Errorf("the child has %+v of %d samples", has, total)
	}
	if has := counted(t, p.parent.Client, "campus/plant/p"); has.all != total || has.times != total {
		t.Errorf("the parent has %+v of %d samples", has, total)
	}
	if o := of(p.parent, "plant"); o.Stored != uint64(total) || o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
}

func TestAParentWithAFullDiskTakesWhatWaitedWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	dir, data := smallDisk(t)
	p := newPair(t, "")
	full := run(t, nodeOf(t, dir, "full", listenAnywhere+"log: {min_free: 200MiB}\n"))
	if err := client.Tell(wait(t), p.child.Client, parentop.Leave, struct{}{}); err != nil {
		t.Fatal(err)
	}
	p.parent = full
	p.way.Lead(full.BusAddr())
	below(t, full, p.child, p.way.Addr(), "campus/plant")
	p.record(100)
	p.equal()
	ballast := filepath.Join(data, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 220<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child says what to do at the parent", func() bool {
		p.record(10)
		o := p.uplink().Origins
		return len(o) > 0 && strings.Contains(o[0].Reason, "make room")
	})
	if l := full.ledger(); l.State != "paused" {
		t.Errorf("the parent is %s", l.State)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	p.equal()
}
