package node_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/operation/cluster"
	"voltbus/operation/cluster/report"
)

// sees waits until a replica sees the cluster so.
func (s *replicaSet) sees(t *testing.T, name, what string, holds func(*report.Cluster) bool) {
	t.Helper()
	var last report.Cluster
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s saw last: %+v", name, last)
		}
	})
	eventually(t, name+" sees "+what, func() bool {
		c, err := s.processes[name].cluster(t.Context())
		if err == nil {
			last = c
		}
		return err == nil && holds(&c)
	})
}

// has waits until a replica answers with these numbers of a point. What had no answer in time was sent again, and may be there twice.
func (s *replicaSet) has(t *testing.T, name, point string, want ...int) {
	t.Helper()
	eventually(t, name+" has what "+point+" had", func() bool { return slices.Equal(slices.Compact(s.processes[name].numbers(t.Context(), point)), want) })
}

func (s *replicaSet) ask(ctx context.Context, at string, do func(context.Context, *client.Client) error) error {
	return do(ctx, s.processes[at].Client)
}

func together(n int) func(*report.Cluster) bool {
	return func(c *report.Cluster) bool {
		return c.State == "ok" && c.Lossless && c.Reached == n && len(c.Replicas) == n && !slices.ContainsFunc(c.Replicas, func(r report.Replica) bool { return r.State != "member" })
	}
}

func TestAReplicaIsAddedAndRemovedWhileTheOthersRun(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	for i, name := range s.names {
		s.processes[name].record(t, "a/"+name, i)
	}
	// The others keep their configurations: what counts is the list that they share.
	address := freeAddresses(t, 1)[0]
	s.list += entry("r4", address)
	s.configure(t, "r4")
	add := func(ctx context.Context, c *client.Client) error {
		return client.Tell(ctx, c, cluster.Add, cluster.NewReplica{Replica: cluster.Replica{Name: "r4"}, Address: address})
	}
	eventually(t, "it is added", func() bool { return s.ask(t.Context(), "r2", add) == nil })
	s.sees(t, "r1", "that one joins", func(c *report.Cluster) bool {
		return len(c.Replicas) == 4 && c.Replicas[3].State == "joining" && c.State == "ok" && c.Majority == 2
	})
	s.start(t, "r4")
	s.names = append(s.names, "r4")
	for _, name := range s.names {
		s.sees(t, name, "four", together(4))
	}
	for i := range 3 {
		s.has(t, "r4", "a/"+s.names[i], i)
	}
	moved := s.meets(t, "r4")
	s.processes["r4"].record(t, "a/r4", 4)
	s.has(t, "r1", "a/r4", 4)
	s.kill("r1")
	s.processes["r2"].record(t, "a/r2", 5)
	s.start(t, "r1") // its configuration lists three
	s.sees(t, "r1", "four", together(4))

	remove := func(ctx context.Context, c *client.Client) error {
		return client.Tell(ctx, c, cluster.Remove, cluster.Replica{Name: "r4"})
	}
	if err := s.ask(t.Context(), "r1", remove); err != nil {
		t.Fatal(err)
	}
	// Nothing depends on it any more: another one may be lost at once, and the two that are left acknowledge.
	s.kill("r3")
	s.processes["r1"].record(t, "b/r1", 7)
	s.processes["r2"].record(t, "b/r2", 8)
	s.start(t, "r3")
	s.names = s.names[:3]
	if c := s.eventuallyAt(t, "r3", moved); !c.ack.SessionPresent {
		t.Error("the session of a replica that was removed is gone")
	}
	for _, name := range s.names {
		s.sees(t, name, "three", together(3))
		s.has(t, name, "a/r4", 4)
	}
	eventually(t, "the removed one refuses", func() bool {
		ctx, stop := context.WithTimeout(t.Context(), answerWait)
		defer stop()
		_, err := s.processes["r4"].SendSamples(ctx, client.Body{Media: "application/json", Text: []byte(`{"samples":[{"point":"a/b","value":1}]}`)})
		return err != nil && strings.Contains(err.Error(), "removed")
	})
	if err := s.ask(t.Context(), "r1", func(ctx context.Context, c *client.Client) error {
		return client.Tell(ctx, c, cluster.Remove, cluster.Replica{Name: "r3"})
	}); err == nil || !strings.Contains(err.Error(), "at least 3 are needed") {
		t.Errorf("the third is removed: %v", err)
	}
	if err := s.ask(t.Context(), "r1", add); err == nil || !strings.Contains(err.Error(), "can be added again") {
		t.Errorf("who was removed just now is added: %v", err)
	}
	s.kill("r4")
	s.kill("r3")
	s.processes["r1"].record(t, "a/r1", 6)
	s.start(t, "r3")
	s.balanced(t)
}

// meets finds out that the brokers of the others and that of a new replica are one, and returns a client that has its session there.
func (s *replicaSet) meets(t *testing.T, added string) (client string) {
	t.Helper()
	var far *mqttClient
	eventually(t, "the journal of the brokers is on one more disk", func() bool {
		far = s.eventuallyAt(t, added, "far") // a publisher that is refused meanwhile is disconnected
		ctx, stop := context.WithTimeout(t.Context(), answerWait)
		defer stop()
		r, err := far.Publish(ctx, &paho.Publish{Topic: "probe", QoS: 1, Retain: true, Payload: []byte("1")})
		return err == nil && r.ReasonCode < 0x80 // 0x10: nobody subscribed
	})
	for _, name := range s.names[:3] {
		near := s.at(t, name, "near-"+name, 0)
		if code := near.subscribe(t, "to/"+name, 1); code != 1 {
			t.Fatalf("the answer is %#x", code)
		}
		if code := far.subscribe(t, "from/"+name, 1); code != 1 {
			t.Fatalf("the answer is %#x", code)
		}
		if a, b := far.publish(t, "to/"+name, "to", 1), near.publish(t, "from/"+name, "from", 1); a != 0 || b != 0 {
			t.Fatalf("the answers are %#x %#x", a, b)
		}
		if to, from := near.next(t), far.next(t); string(to.Payload) != "to" || string(from.Payload) != "from" {
			t.Errorf("between %s and %s came %q %q", added, name, to.Payload, from.Payload)
		}
	}
	moves := s.at(t, "r2", "moves", 3600)
	_ = moves.subscribe(t, "moves/#", 1)
	if moves = s.at(t, added, "moves", 3600); !moves.ack.SessionPresent {
		t.Error("the session does not move to " + added)
	}
	return "moves"
}

// A replica whose disk is new gets everything, also what it had recorded itself.
func TestAReplicaThatLostItsDiskGetsEverythingBack(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.start(t, s.names...)
	for i, name := range s.names {
		s.processes[name].record(t, "a/"+name, i)
	}
	s.sees(t, "r1", "that all is stored", together(3))
	s.kill("r3")
	s.processes["r1"].record(t, "b/r1", 7)
	if err := os.RemoveAll(filepath.Join(s.dir, "data-r3")); err != nil {
		t.Fatal(err)
	}
	s.start(t, "r3")
	s.sees(t, "r3", "three", together(3))
	s.processes["r3"].record(t, "b/r3", 8)
	for _, name := range s.names {
		for i, of := range s.names {
			s.has(t, name, "a/"+of, i)
		}
		s.has(t, name, "b/r1", 7)
		s.has(t, name, "b/r3", 8)
	}
	s.sees(t, "r1", "that nothing was lost", together(3))
	s.balanced(t)
}
