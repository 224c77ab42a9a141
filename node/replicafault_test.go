package node_test

import (
	"syscall"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/operation/cluster"
	"voltbus/operation/cluster/report"
)

// Each replica is drained, stopped and started again while clients publish. Its clients are told where to go, and its device is read
// elsewhere before it stops.
func TestReplicasAreRestartedInTurnWithoutALoss(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.share(t, meterSite(m))
	s.underLoad(t, func(more func(int64)) {
		for i, name := range s.names {
			other, third := s.names[(i+1)%3], s.names[(i+2)%3]
			s.sees(t, other, "all", together(3))
			here := s.at(t, name, "here", 0)
			err := client.Tell(t.Context(), s.processes[other].Client, cluster.Drain, cluster.Draining{Replica: cluster.Replica{Name: name}})
			if err != nil {
				t.Fatal(err)
			}
			s.sees(t, other, "that one may be stopped", func(c *report.Cluster) bool {
				return c.Replicas[i].State == "drained" && c.Replicas[i].Clients == 0
			})
			if d := <-here.ended; d != 0x9C {
				t.Errorf("a client is told %#x", d)
			}
			c, err := dialMQTT(t, s.processes[name].mqtt, &paho.Connect{ClientID: "late", CleanStart: true, KeepAlive: 60})
			if err == nil || c.ack == nil || c.ack.ReasonCode != 0x9C {
				t.Errorf("a client of a drained replica is answered %+v %v", c.ack, err)
			} else if to := c.ack.Properties.ServerReference; to != clientsOf(other) && to != clientsOf(third) {
				t.Errorf("a client of a drained replica is sent to %q", to)
			}
			if d := s.processes[name].device(t); d.State != "elsewhere" || d.Owner == name {
				t.Errorf("the device of a drained replica is %+v", d)
			}
			_, since := m.readers(0)
			if reader := s.soleReader(t, m, since); reader == name {
				t.Errorf("%s reads although it is drained", name)
			}
			more(50)
			s.stop(t, name)
			more(50)
			s.start(t, name)
		}
	})
}

// A replica that stands still is one that is cut off: the others go on, and it joins them again when it runs. Two do so in turn; the soak has
// all three do it for long.
func TestAReplicaThatStandsStillLosesNothing(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	s.underLoad(t, func(more func(int64)) {
		for i, name := range s.names[:2] {
			other := s.names[(i+1)%3]
			more(50)
			s.signal(t, name, syscall.SIGSTOP)
			s.sees(t, other, "that one is not reached", func(c *report.Cluster) bool { return !c.Replicas[i].Reached })
			more(50)
			s.signal(t, name, syscall.SIGCONT)
			s.sees(t, other, "all", func(c *report.Cluster) bool { return c.Reached == 3 })
		}
	})
}

func (s *replicaSet) signal(t *testing.T, name string, which syscall.Signal) {
	t.Helper()
	if err := s.processes[name].cmd.Process.Signal(which); err != nil {
		t.Fatal(err)
	}
}
