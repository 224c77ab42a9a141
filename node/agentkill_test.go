package node_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	web "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/operation/agents"
	"voltbus/point"
)

const agentEnv = "VOLTBUS_TEST_AGENT"

// agentChild is an agent in a process of its own: "address|ca|key|first". It records batches without
// pause, and prints "writer batch" for each that is acknowledged, until it is killed.
func agentChild(place string) {
	part := strings.Split(place, "|")
	var first int
	_, err := fmt.Sscan(part[3], &first)
	pem, err2 := os.ReadFile(part[1])
	key, err3 := identity.ReadKey(part[2])
	if err != nil || err2 != nil || err3 != nil {
		fmt.Println("error", err, err2, err3)
		return
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	c, err := client.Connect(context.Background(), client.Options{Address: part[0], CA: ca, Key: key, Name: "crash"})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var out sync.Mutex
	var writers sync.WaitGroup
	for w := range crashWriters {
		writers.Go(func() {
			for batch := first; ; batch++ {
				if err := c.Record(context.Background(), crashSamples(w, batch), fmt.Sprint(w, "-", batch)); err != nil {
					fmt.Println("error", err)
					return
				}
				out.Lock()
				fmt.Println(w, batch)
				out.Unlock()
			}
		})
	}
	writers.Wait()
}

func TestWhatAnAgentWasAcknowledgedOutlivesItsKill(t *testing.T) {
	const kills = 3
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	o := access(t, cfg, "crash")
	if _, err := r.Agents().Add(wait(t), "crash", o.Key.Public(), identity.Grants{Record: []point.Pattern{"crash"}}); err != nil {
		t.Fatal(err)
	}
	acknowledged := make([]map[int]bool, crashWriters)
	for w := range acknowledged {
		acknowledged[w] = map[int]bool{}
	}
	next := 0
	for range kills {
		eventually(t, "the name is free", func() bool {
			p, err := web.Do(wait(t), r.Client, agents.Peers, struct{}{})
			return err == nil && len(p.Peers) == 1 && !p.Peers[0].Online
		})
		next = killAgent(t, strings.Join([]string{
			r.BusAddr(), filepath.Join(cfg.Node.Data, "tls", "ca.pem"), filepath.Join(filepath.Dir(cfg.Node.Data), "crash.nk"), fmt.Sprint(next),
		}, "|"), acknowledged) + 1
	}
	eventually(t, "the store has all of the log", func() bool {
		origin := r.ledger().Origins[0]
		return origin.BacklogSamples == 0 && origin.Stored > 0
	})
	if origin := r.ledger().Origins[0]; origin.Missing != 0 || !origin.Balanced {
		t.Errorf("the ledger after %d kills: %+v", kills, origin)
	}
	for w := range acknowledged {
		checkWriter(t, r, w, acknowledged[w])
	}
}

// killAgent starts the agent, lets it record a random number of batches, and kills it. It adds what
// was acknowledged, and returns the highest batch that may have been recorded.
func killAgent(t *testing.T, place string, acknowledged []map[int]bool) int {
	t.Helper()
	child := exec.CommandContext(wait(t), os.Args[0])
	child.Env = append(os.Environ(), agentEnv+"="+place)
	return killAfter(t, child, 20+rand.IntN(100), acknowledged) + 1 // was on its way, perhaps
}
