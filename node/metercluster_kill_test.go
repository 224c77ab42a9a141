package node_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
	"voltbus/operation/tokens"
)

// concentrators starts concentrators that send to all members of a cluster.
func (k *clusterOf) concentrators(n int) (list []*running) {
	t := k.t
	t.Helper()
	var systems []string
	for i, m := range k.members {
		issued, err := client.Do(t.Context(), m.Client, tokens.Issue, tokens.Recorder{Name: "concentrators", Under: "meters"})
		if err != nil {
			t.Fatal(err)
		}
		systems = append(systems, fmt.Sprintf("url: \"http://%s\", token_file: %q", k.members[i].link.Addr(), tokenFile(t, issued.Token)))
	}
	for range n {
		list = append(list, run(t, load(t, t.TempDir(), concentratorOf("bulk: 20\n    age: 20ms\n    parallel: 3\n    timeout: 2s\n    form: csv", systems...))))
	}
	return list
}

// feed is readings of meters that go to two concentrators.
type feed struct {
	t      *testing.T
	to     []*running
	meters []string
	start  time.Time
}

// run sends one interval of all meters after another, until it is told to end. Each second reading
// goes to all concentrators. It returns how many intervals were sent.
func (f *feed) run(ctx context.Context, round func(n int)) (rounds int) {
	t := f.t
	t.Helper()
	for rounds < 96 && ctx.Err() == nil {
		var bulks [2][]answer.MeterReadingIn
		for i, id := range f.meters {
			value := float64(rounds*1000 + i)
			one := answer.MeterReadingIn{Meter: id, Channel: 1, End: f.start.Add(time.Duration(rounds+1) * 15 * time.Minute).Format(time.RFC3339), Value: &value}
			bulks[i%2] = append(bulks[i%2], one)
			if (rounds+i)%2 == 0 {
				bulks[1-i%2] = append(bulks[1-i%2], one)
			}
		}
		for i, c := range f.to {
			taken, err := client.Do(t.Context(), c.Client, metering.Record, metering.Bulk{Readings: bulks[i]})
			if err != nil || taken.Accepted != len(bulks[i]) {
				t.Errorf("a concentrator: %+v, %v", taken, err)
				return rounds
			}
		}
		rounds++
		round(rounds)
	}
	return rounds
}

// Under load one member is killed and another cut off. What concentrators acknowledged is at its owner once, whichever of them took it.
func TestAMemberKilledAndOneCutOffLoseNothingAndCountNothingTwice(t *testing.T) {
	t.Parallel()
	names := []string{"mds-1", "mds-2", "mds-3"}
	k := startCluster(t, 1, names, "mds-2")
	meters, start := meterNames(24), someDay(t)
	if got := k.members[0].register(meters); got.Added != len(meters) {
		t.Fatalf("registered: %+v", got)
	}
	owners := meterOwners(t, names, meters)
	two := k.concentrators(2)
	one, second, third := k.members[0], k.members[1], k.members[2]
	reached := make(chan int) // the load waits while nobody listens
	feeding, stop := context.WithCancel(t.Context())
	rounds := 0
	var feeder sync.WaitGroup
	feeder.Go(func() {
		rounds = (&feed{t, two, meters, start}).run(feeding, func(n int) {
			select {
			case reached <- n:
			case <-feeding.Done():
			}
		})
	})
	after := func(n int) {
		for got := range reached {
			if got >= n {
				return
			}
		}
	}
	after(10)
	second.kill()
	second.link.Lead("")
	after(20)
	third.link.Hold(0, true) // its packets are lost: nobody hears from it, and it hears from nobody
	third.link.Hold(1, true)
	after(30)
	checkOutage(t, one, owners, start)
	third.link.Hold(0, false)
	third.link.Hold(1, false)
	third.link.Cut()
	k.start(second, true)
	after(60)
	second.kill() // again, while it catches up
	k.start(second, true)
	after(80)
	stop()
	feeder.Wait()
	for _, c := range two {
		eventually(t, "all is answered", func() bool { got := concentration(t, c); return got.Waiting == 0 && got.Refused == 0 })
	}
	checkExactlyOnce(t, k, meters, start, rounds)
}

// checkOutage asks while two members do not answer.
func checkOutage(t *testing.T, m *clusterMember, owners map[string]string, start time.Time) {
	t.Helper()
	missing, err := client.Do(t.Context(), m.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 100})
	if err != nil || missing.Cluster == nil || missing.Cluster.Complete {
		t.Errorf("what is missing during the outage: %+v, %v", missing, err)
	}
	for _, one := range missing.Cluster.Members {
		if one.Answered != (one.Name == m.name) || one.Answered == (one.Error != "") {
			t.Errorf("%s is told as %+v", one.Name, one)
		}
	}
	for id, owner := range owners {
		_, err := m.readingsOf(id, start, false)
		if (err == nil) != (owner == m.name) || err != nil && !strings.Contains(err.Error(), owner) {
			t.Errorf("readings of %s of %s: %v", id, owner, err)
		}
		if owner != m.name {
			break // each takes as long as a member may take to answer
		}
	}
	during := m.account()
	if during.Cluster.Complete || during.Balanced {
		t.Errorf("the account during the outage: %+v", during)
	}
	eventually(t, "health names both", func() bool {
		text := fmt.Sprint(m.Node.Health(t.Context()).Concerns)
		return strings.Contains(text, "member mds-2") && strings.Contains(text, "member mds-3")
	})
}

// checkExactlyOnce compares what each member has with what was sent.
func checkExactlyOnce(t *testing.T, k *clusterOf, meters []string, start time.Time, rounds int) {
	t.Helper()
	want := uint64(rounds * len(meters))
	eventually(t, "all is at its owner", func() bool {
		missing, err := client.Do(t.Context(), k.members[0].Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 1})
		return err == nil && missing.Cluster.Complete && missing.Received == want
	})
	var total account.MeterCluster
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the account was last %+v", total)
		}
	})
	eventually(t, "the account balances", func() bool {
		total = k.members[0].account()
		return total.Balanced && total.Sum.Waiting == 0 && total.Sum.Stored == total.Sum.Accepted
	})
	if total.Sum.Accepted < want*3/2 || total.Sum.Refused+total.Sum.Lost != 0 {
		t.Errorf("%d different readings, the half of them twice: %+v", want, total.Sum)
	}
	for i, id := range meters {
		r, err := k.members[i%3].readingsOf(id, start, true)
		if err != nil || len(r.Readings) != rounds || !r.Cluster.Complete {
			t.Errorf("%s has %d versions of %d readings, %v", id, len(r.Readings), rounds, err)
			continue
		}
		for n, v := range r.Readings {
			if v.Value != float64(n*1000+i) {
				t.Errorf("%s at %s: %v", id, v.End, v.Value)
			}
		}
	}
}

func TestWithCopiesReadingsAreThereWhileAMemberIsDown(t *testing.T) {
	names := []string{"mds-1", "mds-2", "mds-3"}
	k := startCluster(t, 2, names, "mds-2")
	meters, start := meterNames(24), someDay(t)
	one, second := k.members[0], k.members[1]
	if got := one.register(meters); got.Added != len(meters) || len(got.Refused) != 0 {
		t.Fatalf("registered: %+v", got)
	}
	send := func(m *clusterMember, values ...float64) {
		for _, id := range meters {
			if taken, err := client.Do(t.Context(), m.Client, metering.Record, metering.Bulk{Readings: meterReadings(id, start, values...)}); err != nil || taken.Accepted != len(values) {
				t.Fatalf("%s: %+v, %v", id, taken, err)
			}
		}
	}
	send(k.members[2], 1, 2)
	k.settled(48)
	second.kill()
	second.link.Lead("")
	send(one, 1, 2, 3, 4)
	eventually(t, "the others have what they keep", func() bool {
		missing, err := client.Do(t.Context(), one.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 100})
		if err != nil || !missing.Cluster.Complete || missing.Expected != 24*96 || missing.Cluster.Members[1].Answered {
			t.Fatalf("missing: %+v, %v", missing, err)
		}
		return missing.Received == 96
	})
	for _, id := range meters {
		r, err := one.readingsOf(id, start, true)
		if err != nil || len(r.Readings) != 4 || !r.Cluster.Complete {
			t.Fatalf("%s: %+v, %v", id, r, err)
		}
	}
	checkPages(t, one, meters)
	k.start(second, true)
	k.settled(144)
	for _, id := range meters {
		if r, err := second.readingsOf(id, start, true); err != nil || len(r.Readings) != 4 || len(r.Cluster.Members) != 1 {
			t.Fatalf("%s afterwards: %+v, %v", id, r, err)
		}
	}
}

func TestAStoreServesOnlyTheClusterThatItWasFilledFor(t *testing.T) {
	names := []string{"mds-1", "mds-2"}
	k := startCluster(t, 1, names)
	k.members[0].register(meterNames(10))
	one := k.members[0]
	one.halt()
	other := *k
	other.copies = 2
	for name, tt := range map[string]struct{ text, want string }{
		"without the cluster": {"node: {name: mds-1, data: data}\n" + listenAnywhere + meteringConfig, "write metering.cluster again"},
		"with copies":         {other.config(one, names...), "was filled for a cluster of mds-1, mds-2, and the configuration has mds-1, mds-2 with 2 copies"},
	} {
		if err := k.reopen(one, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := k.reopen(one, k.config(one, names...)); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

// reopen opens a member that was halted with a configuration, and closes it.
func (k *clusterOf) reopen(m *clusterMember, text string) error {
	k.t.Helper()
	k.write(m, text)
	cfg, err := config.Load(filepath.Join(m.dir, "voltbus.yaml"), all.Kinds())
	if err != nil {
		k.t.Fatal(err)
	}
	n, err := open(cfg)
	if err != nil {
		return err
	}
	return n.Close()
}

func TestANodeWithMetersBecomesNoMember(t *testing.T) {
	k := prepareCluster(t, 1, "mds-1", "mds-2")
	one := k.members[0]
	clustered := k.config(one, "mds-1", "mds-2")
	k.write(one, "node: {name: mds-1, data: data}\n"+listenAnywhere+meteringConfig)
	k.start(one, false)
	one.register(meterNames(20))
	one.halt()
	if err := k.reopen(one, clustered); err == nil || !strings.Contains(err.Error(), "of the 20 meters that are registered here would be kept by other members") {
		t.Errorf("it serves: %v", err)
	}
}
