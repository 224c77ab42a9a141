package replication_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/fault"
	"voltbus/recorder"
	"voltbus/replication"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// air carries what replicas tell each other, and loses orders.
type air struct {
	mu    sync.Mutex
	lose  int // so many orders are lost
	hears map[string][]func(from string, data []byte)
}

// voice is the channel of one replica.
type voice struct {
	*air

	self string
}

func (v voice) Tell(topic string, data []byte) error {
	v.mu.Lock()
	if topic == "drain" && v.lose > 0 {
		v.lose--
		v.mu.Unlock()
		return nil
	}
	hears := v.hears[topic]
	v.mu.Unlock()
	for _, hear := range hears {
		hear(v.self, data)
	}
	return nil
}

func (v voice) Hear(topic string, hear func(from string, data []byte)) (stop func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hears[topic] = append(v.hears[topic], hear)
	return func() {}, nil
}

// nothing is a recorder that recorded nothing, and a list of replicas that nobody changes.
type nothing struct{}

func (nothing) Lanes() []recorder.Stats                          { return nil }
func (nothing) Others() map[string]recorder.Position             { return nil }
func (nothing) Run(ctx context.Context) error                    { <-ctx.Done(); return nil }
func (nothing) Add(context.Context, string, string, bool) error  { return errors.ErrUnsupported }
func (nothing) Remove(ctx context.Context, _ string) (err error) { return errors.ErrUnsupported }

func TestAReplicaIsDrainedAlsoIfTheFirstOrdersAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := &air{hears: map[string][]func(string, []byte){}, lose: 3}
		status := func(self string) func() cluster.Status {
			return func() cluster.Status {
				s := cluster.Status{Self: self, Connected: 3, Voting: 3, Majority: 2}
				for _, name := range []string{"r1", "r2", "r3"} {
					s.Replicas = append(s.Replicas, cluster.Peer{Replica: cluster.Replica{Name: name}, Connected: true})
				}
				return s
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		replicas := map[string]*replication.Replicas{}
		for _, name := range []string{"r1", "r2"} {
			r := replication.New(replication.Config{
				Self: name, Look: status(name), Channel: voice{sky, name}, Recorder: nothing{}, Membership: nothing{}, Store: replication.Store{Name: "none"},
				Copies:  func(context.Context) (blocklog.Copies, error) { return blocklog.Copies{}, nil },
				Clients: func() int { return 0 }, Dir: t.TempDir(), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			})
			replicas[name] = r
			running.Go(func() { _ = r.Run(ctx) })
		}
		synctest.Wait()
		state := func() string { return replicas["r1"].Cluster().Replicas[1].State }
		if err := replicas["r1"].Drain(t.Context(), "r2", false); err != nil || state() == "member" {
			t.Errorf("it is %s, %v", state(), err)
		}
		if err := replicas["r1"].Drain(t.Context(), "r2", true); err != nil || state() != "member" {
			t.Errorf("when it takes clients again it is %s, %v", state(), err)
		}
		sky.lose = 1000
		if err := replicas["r1"].Drain(t.Context(), "r2", false); !fault.Is(err, fault.Timeout) {
			t.Errorf("one that hears no order: %v", err)
		}
		cancel()
		running.Wait()
	})
}
