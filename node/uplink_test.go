package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/config"
	"voltbus/operation/children"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/link"
)

// nodeOf loads a configuration for a node of a name.
func nodeOf(t testing.TB, dir, name, text string) *config.Config {
	t.Helper()
	cfg := load(t, dir, text)
	cfg.Node.Name = name
	return cfg
}

// below makes a node a child of another, which it reaches at an address, and waits until it is connected.
func below(t testing.TB, parent, child *running, address, prefix string) {
	t.Helper()
	invited, err := client.Do(wait(t), parent.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: prefix, Addresses: []string{address}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), child.Client, parentop.Join, parentop.Code{Code: invited.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
}

// stored returns how many samples of a node's own origin another one has stored, and whether all adds up.
func stored(r *running, origin string) (uint64, bool) {
	for _, o := range r.ledger().Origins {
		if strings.TrimRight(o.Origin, "!") == origin || strings.HasPrefix(o.Origin, origin+"~") {
			return o.Stored, o.Balanced && o.Missing == 0
		}
	}
	return 0, true
}

func TestAChildsSamplesReachItsParentOnceThroughCutsAndRestarts(t *testing.T) {
	t.Parallel()
	const total, portion = 100_000, 500
	up, down := nodeOf(t, t.TempDir(), "campus", listenAnywhere), nodeOf(t, t.TempDir(), "plant", "listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\n")
	way := link.New(t)
	parent := run(t, up)
	way.Lead(parent.BusAddr())
	child := run(t, down)
	below(t, parent, child, way.Addr(), "campus/plant")
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	for sent := 0; sent < total; sent += portion {
		samples := make([]point.Sample, portion)
		for i := range samples {
			n := sent + i
			samples[i] = point.Sample{
				Point: point.Path(fmt.Sprintf("ahu%d/temp", n%50)), Time: base.Add(time.Duration(n) * time.Millisecond), Value: point.IntOf(int64(n)),
			}
		}
		if err := child.Record(wait(t), samples); err != nil {
			t.Fatal(err)
		}
		switch sent / portion {
		case 20, 60, 61, 62, 140:
			way.Cut()
		case 40:
			way.Lead("")
			way.Cut()
		case 50:
			way.Lead(parent.BusAddr())
		case 80:
			parent.halt()
			parent = run(t, up)
			way.Lead(parent.BusAddr())
		case 100:
			child.halt()
			child = run(t, down)
		}
	}
	eventually(t, "the parent has all", func() bool {
		n, balanced := stored(parent, "plant")
		if !balanced {
			t.Fatalf("the parent's ledger does not balance: %+v", parent.ledger())
		}
		return n >= total
	})
	if n, _ := stored(parent, "plant"); n != total {
		t.Errorf("the parent has %d samples, want %d: %+v", n, total, parent.ledger().Origins)
	}
	latest, err := parent.Latest(wait(t), client.Span{Points: []string{"campus/plant/ahu7/temp"}, Local: true})
	if err != nil || len(latest.Samples) != 1 {
		t.Errorf("the newest sample: %+v, %v", latest, err)
	}
}

func TestSamplesPassAnyNumberOfNodesWithTheirOrigin(t *testing.T) {
	t.Parallel()
	const count = 5000
	var chain []*running
	for i := range 4 {
		n := run(t, nodeOf(t, t.TempDir(), fmt.Sprintf("n%d", i), listenAnywhere))
		if i > 0 {
			below(t, chain[i-1], n, chain[i-1].BusAddr(), fmt.Sprintf("p%d", i))
		}
		chain = append(chain, n)
	}
	samples := make([]point.Sample, count)
	at := time.Now().Add(-time.Minute)
	for i := range samples {
		samples[i] = point.Sample{Point: "ahu/temp", Time: at.Add(time.Duration(i) * time.Millisecond), Value: point.IntOf(int64(i))}
	}
	if err := chain[3].Record(wait(t), samples); err != nil {
		t.Fatal(err)
	}
	for _, n := range chain[:3] {
		eventually(t, "the samples are there", func() bool {
			got, balanced := stored(n, "n3")
			return got == count && balanced
		})
	}
	latest, err := chain[0].Latest(wait(t), client.Span{Points: []string{"p1/p2/p3/ahu/temp"}, Local: true})
	if err != nil || len(latest.Samples) != 1 {
		t.Errorf("the newest sample at the top: %+v, %v", latest, err)
	}
}
