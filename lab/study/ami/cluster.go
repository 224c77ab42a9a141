package ami

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/api/client"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/metersim"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
	"voltbus/operation/tokens"
)

// clusterSize measures what a cluster of several MDS takes.
func clusterSize() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-cluster",
		Title:    "A cluster of one to four metering data systems",
		Question: "How many readings a second does a cluster of metering data systems take together, how is the load spread, and what does it cost to hand readings to the member that keeps their meters?",
		Source:   source + " It names redundant metering data systems as an open question, and has no figures of them.",
		Method: append(common(),
			"Each member is a whole node in a process of its own. The concentrators are divided among the members, and send to any of them without pause: with n members, (n - 1)/n of the readings are forwarded to the member that owns their meters. The figure is what all members together acknowledged after the warm-up.",
			"Afterwards the account of the cluster must balance: what any member acknowledged is stored at its owner, once. The time until then stands beside the figure."),
		Limits: []string{
			together,
			"All members share the processors of one machine. A reading that is forwarded is written to two logs, so that on one machine more members take less; on machines of their own each has its processors. The processor time per reading tells what a member costs.",
		},
		Metric: experiment.Metric{Name: "accepted", Unit: "readings/s", Axis: "members", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "members", Default: "1,2,3,4", Quick: "1,2", Doc: "of the cluster, one case each; 1 is a node that is in no cluster"},
			{Name: "copies", Default: "1", Doc: "how many members keep each meter: 1 or 2"},
			{Name: "bulk", Default: "100", Doc: "readings of a request"},
			{Name: "concentrators", Default: "8", Quick: "4", Doc: "that send at once, to all members together"},
		}, shared("500ms", "3s")...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			sizes, err := numbers(b, "members")
			if err != nil {
				return err
			}
			for _, n := range sizes {
				c := experiment.Case{Name: fmt.Sprintf("members = %d", n), X: float64(n)}
				if err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error { return runCluster(ctx, b, t, n) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// cohort is the members of a cluster that run. The first of them is asked for all.
type cohort []*plant

func (k cohort) close() (err error) {
	for _, p := range k {
		err = errors.Join(err, p.Close())
	}
	return err
}

// assemble starts a cluster.
func assemble(ctx context.Context, b *experiment.Bench, t *experiment.Trial, members int) (k cohort, err error) {
	if members == 1 {
		p, err := open(ctx, b, t, metersim.Site{}, false)
		return cohort{p}, err
	}
	addresses, err := machine.FreeAddresses(ctx, "127.0.0.1", members)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	for i := range members {
		site := metersim.Site{Name: memberName(i), HTTP: addresses[i], Extra: fmt.Sprintf("cluster: {copies: %d, timeout: 30s, members: [", max(1, b.Int("copies")))}
		for other := range members {
			site.Extra += fmt.Sprintf("{name: %s, url: \"http://%s\", token_file: %s.token},", memberName(other), addresses[other], memberName(other))
			if err := writeToken(t, i, other, "none-yet"); err != nil {
				return k, err
			}
		}
		site.Extra += "]}"
		p, err := open(ctx, b, t, site, false)
		if err != nil {
			return k, err
		}
		k = append(k, p)
	}
	if err := k.introduce(ctx, t); err != nil {
		return k, err
	}
	return k, until(ctx, func() (bool, error) { return k.ready(ctx) })
}

// introduce gives the members their tokens at each other.
func (k cohort) introduce(ctx context.Context, t *experiment.Trial) error {
	for i, p := range k {
		for other := range k {
			issued, err := client.Do(ctx, p.Client, tokens.Issue, tokens.Recorder{Name: memberName(other), Member: true})
			if err == nil {
				err = writeToken(t, other, i, issued.Token)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func memberName(i int) string { return fmt.Sprintf("mds-%d", i+1) }

// writeToken writes the token that one member shows to another.
func writeToken(t *experiment.Trial, of, to int, token string) error {
	dir := filepath.Join(t.Dir, memberName(of))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, memberName(to)+".token"), []byte(token+"\n"), 0o600)
}

// ready reports whether all members reach each other.
func (k cohort) ready(ctx context.Context) (bool, error) {
	for _, p := range k {
		c, err := client.Do(ctx, p.Client, metering.ClusterStatus, metering.Nothing{})
		if err != nil {
			return false, err
		}
		away := func(m account.MeterMember) bool {
			return slices.ContainsFunc(m.Forwards, func(f account.MeterForward) bool { return f.State != "ready" })
		}
		if !c.Cluster.Complete || slices.ContainsFunc(c.Members, away) {
			return false, nil
		}
	}
	return true, nil
}

func runCluster(ctx context.Context, b *experiment.Bench, t *experiment.Trial, members int) (err error) {
	k, err := assemble(ctx, b, t, members)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	f := fleet(b)
	f.Batch, f.Rhythm = max(1, b.Int("bulk")), metersim.Closed
	f.Members = max(1, b.Int("concentrators")/members)
	if err := k[0].register(ctx, f.Members*f.Meters*members); err != nil {
		return err
	}
	before := make([]*machine.Meter, members)
	for i, p := range k {
		before[i], p.registered = machine.NewMeter(p.Process()), k[0].registered
	}
	steps := make([]*step, members)
	group, running := errgroup.WithContext(ctx)
	for i, p := range k {
		mine := f
		mine.First = i * f.Members * f.Meters
		group.Go(func() (err error) {
			steps[i], err = p.play(running, mine)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	rate, accepted := 0.0, uint64(0)
	for i, s := range steps {
		rate += s.Rate
		accepted += s.Accepted
		if sum := &k[0].balance; i > 0 { // which has its own share
			sum.Sent, sum.Acknowledged, sum.Refused = sum.Sent+s.Sent, sum.Acknowledged+s.Accepted, sum.Refused+s.Refused
		}
		k[0].used = max(k[0].used, k[i].used)
	}
	t.Value(rate)
	took, err := k.settled(ctx, t)
	if err != nil {
		return err
	}
	t.Also("all at their owners after another", "s", took.Seconds())
	used := 0.0
	for i := range k {
		u, err := before[i].Usage()
		if err != nil {
			return err
		}
		used += u.CPU
		t.Usage(memberName(i), u)
		t.Also("acknowledged by "+memberName(i), "readings/s", steps[i].Rate)
	}
	t.Also("processor of all members per reading", "µs", used/float64(max(accepted, 1))*1e6)
	return nil
}

// settled waits until all readings are at their owners, closes the account, and records how they are spread.
func (k cohort) settled(ctx context.Context, t *experiment.Trial) (time.Duration, error) {
	took, err := k[0].settle(ctx)
	if err != nil || len(k) == 1 {
		return took, err
	}
	var c account.MeterCluster
	err = until(ctx, func() (bool, error) {
		var err error
		c, err = client.Do(ctx, k[0].Client, metering.ClusterStatus, metering.Nothing{})
		return err != nil || c.Balanced && c.Sum.Waiting == 0, err
	})
	if err != nil {
		return took, err
	}
	most, least := uint64(0), ^uint64(0)
	for i := range c.Members {
		most, least = max(most, c.Members[i].Stored), min(least, c.Members[i].Stored)
	}
	t.Also("most readings of a member by the mean", "", float64(most)*float64(len(c.Members))/float64(max(c.Sum.Stored, 1)))
	t.Also("least readings of a member by the mean", "", float64(least)*float64(len(c.Members))/float64(max(c.Sum.Stored, 1)))
	t.Also("forwarded", "%", 100*float64(c.Sum.Forwarded)/float64(max(c.Sum.Accepted, 1)))
	t.Also("repeated", "readings", float64(c.Sum.Repeated))
	return took, nil
}
