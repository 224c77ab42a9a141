// Command tree_report measures the cost of a parent with many children that knows all their descendants, and of its reports to its own
// parent. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/api/client"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
	"voltbus/lab/rig/cable"
	"voltbus/operation/children"
	"voltbus/operation/ledger"
	"voltbus/operation/parent"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "part" { // a node in a process of its own
		end(rig.Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout))
		return
	}
	var b bench
	flag.IntVar(&b.children, "children", 1000, "how many children the parent has")
	flag.IntVar(&b.below, "below", 9, "descendants of each child; the first has one less if there would be more than a node may have")
	flag.DurationVar(&b.settle, "settle", 45*time.Second, "how long the tree rests before each measurement")
	flag.DurationVar(&b.window, "window", time.Minute, "how long each measurement lasts")
	flag.StringVar(&b.dir, "dir", "", "directory for the data; default: a temporary one")
	flag.Parse()
	end(b.run(context.Background()))
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "tree_report:", err)
		os.Exit(1)
	}
}

type bench struct {
	children, below int
	settle, window  time.Duration
	dir             string

	region, campus *rig.Running // campus is the parent of the children, region is its parent
	cable          *cable.Cable // between both
	crowd          *crowd
}

func (b *bench) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.dir, "tree-report-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.nodes(ctx, dir); err != nil {
		return err
	}
	if err := b.measure("without children"); err != nil {
		return err
	}
	if b.crowd, err = gather(ctx, b.campus, filepath.Join(dir, "keys"), b.children, b.below); err != nil {
		return err
	}
	if err := b.known(ctx); err != nil {
		return err
	}
	for _, c := range []struct {
		title string
		share int // one child in so many changes; 0 for none
	}{{"nothing changes", 0}, {"one child in a hundred changes", 100}, {"every child changes", 1}} {
		b.crowd.share.Store(int64(c.share))
		if err := b.measure(c.title); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) close() (err error) {
	if b.crowd != nil {
		b.crowd.close()
	}
	for _, n := range []*rig.Running{b.campus, b.region} {
		if n != nil {
			err = errors.Join(err, n.Close())
		}
	}
	if b.cable != nil {
		err = errors.Join(err, b.cable.Close())
	}
	return err
}

// nodes starts both nodes and makes one the child of the other.
func (b *bench) nodes(ctx context.Context, dir string) (err error) {
	start := func(name string) (*rig.Running, error) {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		file, err := rig.Site{Name: name, Bus: true}.Write(folder)
		if err != nil {
			return nil, err
		}
		return rig.Open(ctx, []string{os.Args[0], "part"}, file)
	}
	if b.region, err = start("region"); err != nil {
		return err
	}
	if b.campus, err = start("campus"); err != nil {
		return err
	}
	if b.cable, err = cable.New(b.region.Bus); err != nil {
		return err
	}
	b.cable.Plug()
	wish := client.NewInvitation{Approved: true, Prefix: "campus", Addresses: []string{b.cable.Addr()}}
	invited, err := client.Do(ctx, b.region.Client, children.Invite, wish.Arguments())
	if err != nil {
		return err
	}
	_, err = client.Do(ctx, b.campus.Client, parent.Join, parent.Code{Code: invited.Code})
	return err
}

// known waits until the region knows all descendants of the campus.
func (b *bench) known(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	began, want := time.Now(), b.crowd.nodes // those of the campus and the region may have no blocks yet
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		n, err := origins(ctx, b.region)
		if err != nil {
			return err
		}
		if n >= want {
			fmt.Printf("the region knows %d origins after %v\n", n, time.Since(began).Round(time.Second))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the region knows %d of %d origins: %w", n, want, ctx.Err())
		case <-tick.C:
		}
	}
}

// origins counts those in the ledger of a node and its descendants.
func origins(ctx context.Context, n *rig.Running) (int, error) {
	tree, err := client.Do(ctx, n.Client, ledger.Get, ledger.Reach{})
	if err != nil {
		return 0, err
	}
	count := 0
	for i := range tree.Nodes {
		count += len(tree.Nodes[i].Origins)
	}
	return count, nil
}

// measure watches the campus and what goes over its connections for a window.
func (b *bench) measure(title string) error {
	time.Sleep(b.settle)
	meter := machine.NewMeter(b.campus.Process())
	up, _ := b.cable.Bytes()
	heard := int64(0)
	if b.crowd != nil {
		heard = b.crowd.sent.Load()
	}
	time.Sleep(b.window)
	usage, err := meter.Usage()
	if err != nil {
		return err
	}
	now, _ := b.cable.Bytes()
	rate := func(n int64) float64 { return float64(n) / usage.Wall }
	from := 0.0
	if b.crowd != nil {
		from = rate(b.crowd.sent.Load() - heard)
	}
	fmt.Printf("%-31s  processor %5.1f %% of a core, memory %4.0f MB, from the children %7.0f B/s, to the region %7.0f B/s\n",
		title, 100*usage.Cores(), float64(usage.Memory)/1e6, from, rate(now-up))
	return nil
}
