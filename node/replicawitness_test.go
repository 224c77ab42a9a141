package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/operation/cluster"
	"voltbus/operation/cluster/report"
	"voltbus/testing/peers"
)

// Two replicas and a witness: either of the two may be lost, and gets what the other one acknowledged meanwhile from the logs.
func TestTwoReplicasAndAWitnessBearTheLossOfEither(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.list = strings.Replace(s.list, "{name: r3,", "{name: r3, witness: true,", 1)
	for _, name := range s.names {
		s.configure(t, name)
	}
	all := s.names
	s.names = s.names[:2]
	s.share(t, meterSite(m))
	s.names = all
	text, err := os.ReadFile(s.file("r3"))
	if err == nil {
		text = []byte(strings.Replace(string(text), "mqtt: 127.0.0.1:0", "mqtt: 'off'", 1) + "store: {engine: none}\n")
		err = os.WriteFile(s.file("r3"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.start(t, s.names...)
	complete := func(c *report.Cluster) bool {
		return c.State == "ok" && c.Lossless && c.Reached == 3 && c.Replicas[2].State == "witness" && c.Replicas[2].Store == "none"
	}
	s.sees(t, "r1", "two and a witness", complete)
	sub, pub := s.at(t, "r1", "sub", 3600), s.at(t, "r2", "pub", 0)
	if code := sub.subscribe(t, "a/#", 1); code != 1 {
		t.Fatalf("the answer is %#x", code)
	}
	_ = pub.publish(t, "a/b", "1", 1)
	if got := string(sub.next(t).Payload); got != "1" {
		t.Errorf("there came %q", got)
	}
	_, err = s.processes["r3"].SendSamples(t.Context(), client.Body{Media: "application/json", Text: []byte(`{"samples":[{"point":"a/b","value":1}]}`)})
	if err == nil || !strings.Contains(err.Error(), "is a witness") {
		t.Errorf("a witness answers a reading %v", err)
	}
	err = client.Tell(t.Context(), s.processes["r1"].Client, cluster.Drain, cluster.Draining{Replica: cluster.Replica{Name: "r3"}})
	if err == nil || !strings.Contains(err.Error(), "is a witness") {
		t.Errorf("a witness is drained: %v", err)
	}
	for i, lost := range []string{"r1", "r2"} {
		left := s.names[1-i]
		s.processes[lost].record(t, "x/"+lost, 1)
		s.kill(lost)
		s.processes[left].record(t, "x/"+left, 2+i)
		c := s.eventuallyAt(t, left, "sub")
		if !c.ack.SessionPresent {
			t.Errorf("the session is gone with %s", lost)
		}
		_, since := m.readers(0)
		if reader := s.soleReader(t, m, since); reader != left {
			t.Errorf("%s reads", reader)
		}
		s.start(t, lost)
		s.sees(t, left, "two and a witness again", complete)
	}
	s.has(t, "r1", "x/r2", 1, 2)
	s.has(t, "r2", "x/r1", 1, 3)
	if d := s.processes["r3"].numbers(t.Context(), "x/r1"); len(d) > 0 {
		t.Errorf("the witness has a history: %v", d)
	}
}

// Three replicas store in one database: each sample is there once, whoever is killed.
func TestReplicasOfOneDatabaseStoreEachSampleOnce(t *testing.T) {
	t.Parallel()
	server := peers.StartedPostgreSQL(t)
	s := newReplicaSet(t)
	s.more = "store: {engine: postgres, url: '" + server.URL("voltbus", "voltbus") + "', password_file: password}\n"
	if err := os.WriteFile(filepath.Join(s.dir, "password"), []byte("hush-hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.names {
		s.configure(t, name)
	}
	s.start(t, s.names...)
	count := 0
	for round, lost := range s.names {
		for i, name := range s.names {
			for n := range 20 {
				s.processes[name].record(t, "x/"+name, 1000*round+100*i+n)
			}
		}
		count += 20
		s.kill(lost)
		left := s.names[(round+1)%3]
		s.processes[left].record(t, "y/"+left, round)
		s.start(t, lost)
		s.sees(t, left, "that nothing was lost", together(3))
	}
	for _, name := range s.names {
		for _, of := range s.names {
			eventually(t, name+" has the samples of "+of, func() bool {
				return len(s.processes[name].numbers(context.WithoutCancel(t.Context()), "x/"+of)) == count
			})
		}
		if c := counted(t, s.processes[name].Client, "x/"+name); c.all != count || c.different != count {
			t.Errorf("the database has %+v, want %d samples", c, count)
		}
	}
	s.balanced(t)
}

// A witness is added while three replicas run: it joins when its configuration says so, too, and gets neither devices nor messages.
func TestAWitnessIsAddedWhileTheOthersRun(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	s.sees(t, "r1", "three", together(3))
	address := freeAddresses(t, 1)[0]
	add := cluster.NewReplica{Replica: cluster.Replica{Name: "r4"}, Address: address, Witness: true}
	if err := client.Tell(t.Context(), s.processes["r1"].Client, cluster.Add, add); err != nil {
		t.Fatal(err)
	}
	add.Replica.Name, add.Address = "r3", freeAddresses(t, 1)[0]
	if err := client.Tell(t.Context(), s.processes["r1"].Client, cluster.Add, add); err == nil || !strings.Contains(err.Error(), "is there and no witness") {
		t.Errorf("a replica becomes a witness while it runs: %v", err)
	}
	s.list += entry("r4", address)
	s.configure(t, "r4")
	s.start(t, "r4")
	s.sees(t, "r1", "that one is reached and does not join", func(c *report.Cluster) bool {
		return len(c.Replicas) == 4 && c.Replicas[3].State == "joining" && c.Replicas[3].Reached
	})
	s.stop(t, "r4")
	s.list = strings.Replace(s.list, "{name: r4,", "{name: r4, witness: true,", 1)
	s.configure(t, "r4")
	text, err := os.ReadFile(s.file("r4"))
	if err == nil {
		text = []byte(strings.Replace(string(text), "mqtt: 127.0.0.1:0", "mqtt: 'off'", 1) + "store: {engine: none}\n")
		err = os.WriteFile(s.file("r4"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.start(t, "r4")
	s.sees(t, "r2", "three and a witness", func(c *report.Cluster) bool {
		return c.State == "ok" && c.Lossless && c.Reached == 4 && c.Replicas[3].State == "witness"
	})
	s.kill("r1")
	s.processes["r2"].record(t, "x/r2", 1) // three of four have it
	s.has(t, "r3", "x/r2", 1)
	if d := s.processes["r4"].numbers(t.Context(), "x/r2"); len(d) > 0 {
		t.Errorf("the witness has a history: %v", d)
	}
}
