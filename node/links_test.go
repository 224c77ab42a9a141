package node_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/operation/children"
	"voltbus/operation/parent"
	"voltbus/point"
	"voltbus/wire"
)

// turns returns what the audit log says of links, the oldest first.
func (r *running) turns() []string {
	r.t.Helper()
	return slices.DeleteFunc(r.told(client.AuditFilter{}), func(line string) bool {
		action := strings.Fields(line)[1]
		_, what, _ := strings.Cut(action, ".")
		return what != "connected" && what != "lost" && what != "flapped"
	})
}

// since returns when the parent's child came, for who waits until it comes anew.
func (p *pair) since() string {
	p.t.Helper()
	c, err := client.Do(wait(p.t), p.parent.Client, children.Get, children.Node{Name: "plant"})
	if err != nil {
		p.t.Fatal(err)
	}
	if c.Online == nil {
		return ""
	}
	return c.Online.Since.String()
}

func TestBothEndsTellOfALinkAsItIsLostAndMadeAndOfOneThatFlapsInASum(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.record(10)
	p.equal()
	for i := range 6 {
		before := p.since()
		p.way.Cut()
		eventually(t, fmt.Sprint("it is back for the time ", i+1), func() bool {
			now := p.since()
			return now != "" && now != before && p.uplink().State == "connected"
		})
	}
	p.parent.halt()
	eventually(t, "the child lost the parent once more", func() bool { return p.uplink().State == "connecting" })
	p.child.halt()
	p.way.Lead("")
	p.parent, p.child = run(t, p.parent.Config()), run(t, p.child.Config())
	for _, c := range []struct {
		at    *running
		lines []string
	}{
		{p.parent, []string{ // it may stop a moment before it notices that the last one came
			`child:plant child\.connected ok {"address":"127\.0\.0\.1:\d+","fingerprint":"\w{16}"}`,
			`child:plant child\.lost it was ended there, or cut on the way {"address":"127\.0\.0\.1:\d+","fingerprint":"\w{16}"}`,
			`child:plant child\.connected ok {"address":"127\.0\.0\.1:\d+","fingerprint":"\w{16}"}`,
			`child:plant child\.flapped ended [45] times and returned [45] times, and is (connected|away) now; the last end: it was ended there, or cut on the way {.*"ended":[45],"returned":[45],"since":".*}`,
		}},
		{p.child, []string{
			`node parent\.connected ok `,
			`node parent\.lost the connection to the parent was lost; .*`,
			`node parent\.connected ok `,
			`node parent\.flapped ended 6 times and returned 5 times, and is away now; the last end: the connection to the parent was lost; .*{"ended":6,"returned":5,"since":".*","connected":false}`,
		}},
	} {
		got := c.at.turns()
		if len(got) != len(c.lines) {
			t.Errorf("the audit log of %s says %q, want %d lines", c.at.Config().Node.Name, got, len(c.lines))
			continue
		}
		for i, want := range c.lines {
			if !regexp.MustCompile("^" + want + "$").MatchString(got[i]) {
				t.Errorf("the audit log of %s says %q, want %q", c.at.Config().Node.Name, got[i], want)
			}
		}
	}
}

func TestAChildThatIsShutOutIsToldWithTheReason(t *testing.T) {
	p := newPair(t, "")
	p.connected()
	if _, err := p.parent.DecideChild(wait(t), "plant", "revoke"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the audit log says why the link ended", func() bool {
		return strings.Contains(strings.Join(p.parent.turns(), "\n"), "child.lost it was shut out")
	})
}

func TestAConnectionThatOnlyAsksHowANodeStandsIsToldAsNoLink(t *testing.T) {
	f := newFamily(t)
	if _, err := client.Do(t.Context(), f.child.Client, parent.Join, parent.Code{Code: f.invite(client.NewInvitation{}), Name: ""}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child heard that it waits", func() bool {
		p, err := client.Do(t.Context(), f.child.Client, parent.Get, struct{}{})
		return err == nil && strings.Contains(p.Why, "waits until somebody approves it")
	})
	if _, err := f.parent.DecideChild(t.Context(), "plant", "approve"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is connected", func() bool { return len(f.child.turns()) == 1 })
	f.child.halt()
	var told []string
	eventually(t, "the parent tells its end", func() bool { // behind those of the connections before
		c, err := client.Do(t.Context(), f.parent.Client, children.Get, children.Node{Name: "plant"})
		told = f.parent.turns()
		return err == nil && c.Online == nil && len(told) > 1 && strings.Contains(told[len(told)-1], "child.lost")
	})
	if len(told) != 2 || !strings.Contains(told[0], "child.connected") {
		t.Errorf("the audit log of the parent says %q", told)
	}
}

func TestAttackAChildThatInventsOriginsIsToldInAFirstLineAndASum(t *testing.T) {
	const invented = 50
	p := newPair(t, "uplink: {rename: [{from: loot, to: elsewhere}]}\n")
	p.connected()
	for i := range invented {
		b := &point.Block{Origin: fmt.Sprintf("invented~%06d", i), Sequence: 1, Points: []point.Path{"loot/p"}}
		for _, s := range numbers("loot/p", 0, 1) {
			b.Append(0, &s)
		}
		data, err := new(wire.Encoder).AppendBlock(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := p.child.Forward(t.Context(), b, data)
		if err == nil {
			err = kept(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all are refused", func() bool {
		refused := 0
		for _, o := range p.uplink().Origins {
			if strings.Contains(o.Reason, "elsewhere") {
				refused++
			}
		}
		return refused == invented
	})
	p.parent.halt()
	p.way.Lead("")
	p.parent = run(t, p.parent.Config())
	lines := slices.DeleteFunc(p.parent.told(client.AuditFilter{}), func(line string) bool { return !strings.HasPrefix(line, "child:plant refused ") })
	if len(lines) != 2 || strings.Contains(lines[0], "count") {
		t.Fatalf("the audit log says %q", lines)
	}
	sum := regexp.MustCompile(`{"count":(\d+),"since":".*","example":{"tried":"send blocks","missing":"record elsewhere.*"}}$`).FindStringSubmatch(lines[1])
	if sum == nil {
		t.Fatalf("the sum is %q", lines[1])
	}
	if n, err := strconv.Atoi(sum[1]); err != nil || n < invented-1 { // more where it took so long that they are tried again
		t.Errorf("the sum is of %s, want %d", sum[1], invented-1)
	}
}
