package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/config"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/link"
	"voltbus/testing/peers"
)

// inDatabase loads a configuration for a node of a name that stores in the server's database.
func inDatabase(t *testing.T, server *peers.PostgreSQL, name, extra string) *config.Config {
	t.Helper()
	return nodeOf(t, withPassword(t), name, database(server)+extra)
}

// readings are n samples of a point from a time on, a second apart.
func readings(path point.Path, from time.Time, n int) []point.Sample {
	out := make([]point.Sample, n)
	for i := range out {
		out[i] = point.Sample{Point: path, Time: from.Add(time.Duration(i) * time.Second), Value: point.IntOf(int64(i))}
	}
	return out
}

// wantDirect waits until both ledgers say that all of the child's samples are stored, each once.
func wantDirect(t *testing.T, parent, child *running, samples uint64) {
	t.Helper()
	for name, r := range map[string]*running{"parent": parent, "child": child} {
		eventually(t, "the ledger of the "+name+" balances", func() bool {
			n, balanced := stored(r, "plant")
			if n > samples || !balanced {
				t.Fatalf("the ledger of the %s: %+v", name, r.ledger())
			}
			return n == samples
		})
	}
}

func TestAChildMayStoreInItsParentsDatabaseItselfAndSendItsBlocksTooAndEachSampleIsThereOnce(t *testing.T) {
	t.Parallel()
	const n = 500
	server := peers.StartedPostgreSQL(t)
	up := inDatabase(t, server, "campus", "")
	// What is selected and renamed on the way up must not depend on who stores a block first.
	down := inDatabase(t, server, "plant", "uplink: {select: ['campus/plant/ahu/*'], rename: [{from: campus/plant, to: campus/plant/x}]}\n")
	parent, child := run(t, up), run(t, down)
	way := link.New(t)
	way.Lead(parent.BusAddr())
	below(t, parent, child, way.Addr(), "campus/plant")
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	record := func(round int) {
		for _, path := range []point.Path{"campus/plant/ahu/temp", "campus/plant/boiler/temp"} {
			child.record(readings(path, base.Add(time.Duration(round)*n*time.Second), n))
		}
	}
	record(0)
	wantDirect(t, parent, child, 2*n)
	parent.record(readings("campus/meter", base, n)) // its own are not held up

	way.Cut()
	record(1)
	wantDirect(t, parent, child, 4*n)
	parent.halt()
	record(2)
	parent = run(t, up)
	way.Lead(parent.BusAddr())
	wantDirect(t, parent, child, 6*n)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	record(3)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	child.halt()
	child = run(t, down)
	record(4)
	wantDirect(t, parent, child, 10*n)
	eventually(t, "the parent's log has all that was sent", func() bool {
		p, err := client.Do(wait(t), child.Client, parentop.Get, struct{}{})
		if err != nil || p.Uplink == nil {
			return false
		}
		for _, o := range p.Uplink.Origins {
			if strings.HasPrefix(o.Origin, "plant~") {
				return o.Samples == 10*n && o.Left == 0
			}
		}
		return false
	})
	for _, path := range []string{"campus/plant/ahu/temp", "campus/plant/boiler/temp"} {
		if got := parent.stored(path); got != 5*n {
			t.Errorf("the parent has %d samples of %s, want %d", got, path, 5*n)
		}
	}
	points, err := parent.Points(wait(t), client.Filter{Pattern: "campus/plant/**"})
	if err != nil || len(points.Points) != 2 {
		t.Errorf("the parent lists %+v, %v", points, err)
	}
}

func TestTheParentListsThePointsOfANodeThatOnlyStoresInItsDatabase(t *testing.T) {
	server := peers.StartedPostgreSQL(t)
	parent := run(t, inDatabase(t, server, "campus", ""))
	var children []*running
	for _, name := range []string{"plant", "office"} {
		children = append(children, run(t, inDatabase(t, server, name, "")))
	}
	now := time.Now().UTC().Truncate(time.Second)
	for i, place := range []string{"plant", "office"} {
		children[i].record(readings(point.Path(place+"/temp"), now, 3))
	}
	eventually(t, "the points are in the catalogue", func() bool {
		page, err := parent.Points(wait(t), client.Filter{Pattern: "*/temp"})
		return err == nil && len(page.Points) == 2 && page.Points[0].Kind == "int" && page.Points[1].Kind == "int"
	})
	latest, err := parent.Latest(wait(t), client.Span{Points: []string{"plant/temp"}, Local: true})
	if err != nil || len(latest.Samples) != 1 || !latest.Samples[0].Time.Equal(now.Add(2*time.Second)) {
		t.Errorf("the newest: %+v, %v", latest, err)
	}
}

func TestACopyOfADataDirectoryIsRefusedByTheDatabase(t *testing.T) {
	t.Parallel()
	server := peers.StartedPostgreSQL(t)
	first := inDatabase(t, server, "plant", "")
	run(t, first)
	second := inDatabase(t, server, "copy", "")
	if err := os.MkdirAll(second.Node.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	origin, err := os.ReadFile(filepath.Join(first.Node.Data, "origin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(second.Node.Data, "origin"), origin, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := open(second)
	if err == nil {
		_ = n.Close()
		t.Fatal("it started")
	}
	if text := err.Error(); !strings.Contains(text, "with a copy of this data directory stores in the database now") || !strings.Contains(text, `"voltbus plant"`) {
		t.Errorf("the error is %q", text)
	}
}
