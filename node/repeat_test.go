package node_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
)

// serving marks the directory of a child that only serves.
const serving = "serve|"

// serveChild runs a node in dir and prints the address of its API, until it is killed.
func serveChild(dir string) {
	n, err := open(load(&testing.T{}, dir, listenAnywhere))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(n.HTTPAddr())
	fmt.Println("error", n.Run(context.Background()))
}

const (
	repeatWriters = 4
	repeatBatch   = 50
)

// timeless is a request whose readings have no time: each is of a point of its own and has a value
// that no other has.
func timeless(writer, request int) client.Body {
	var text []byte
	for i := range repeatBatch {
		text = fmt.Appendf(text, "m,i=%d,w=%d v=%di\n", i, writer, (writer*1_000_000+request)*repeatBatch+i)
	}
	return client.Body{Media: "text/plain", Text: text, Key: fmt.Sprintf("%d-%d", writer, request)}
}

// Nodes are killed while requests are on their way, so that some are on disk without an answer.
// Their senders send them again with the same keys, as they send all others.
func TestWhatIsSentAgainAfterAKillIsInTheHistoryOnce(t *testing.T) {
	const kills = 5
	dir := t.TempDir()
	var next [repeatWriters]int // of each writer: the first request without an answer
	for range kills {
		killServing(t, dir, &next)
	}
	r := run(t, load(t, dir, listenAnywhere))
	requests := 0
	for w := range next {
		for i := range next[w] + 1 {
			requests++
			if in, err := r.SendSamples(t.Context(), timeless(w, i)); err != nil || in.Accepted != repeatBatch {
				t.Fatalf("request %d of writer %d: %+v, %v", i, w, in, err)
			}
		}
	}
	eventually(t, "the store has all of the log", func() bool { return r.ledger().Origins[0].BacklogSamples == 0 })
	want := requests * repeatBatch
	o := r.ledger().Origins[0]
	if o.Missing != 0 || int(o.Acknowledged) < want {
		t.Errorf("the ledger after %d kills: %+v", kills, o)
	}
	rows, different := count(t, r)
	if rows != want || different != want {
		t.Errorf("the history has %d readings, %d different ones, want %d", rows, different, want)
	}
	t.Logf("%d requests, of which %d were recorded twice", requests, (int(o.Acknowledged)-want)/repeatBatch)
}

func count(t *testing.T, r *running) (rows, different int) {
	t.Helper()
	seen := map[string]bool{}
	_, err := r.SQL(t.Context(), "SELECT value::BIGINT FROM samples WHERE point LIKE 'm/%'", 1_000_000,
		func([]string) error { return nil },
		func(row []jsonRaw) error {
			rows++
			seen[string(row[0])] = true
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return rows, len(seen)
}

// killServing starts a node, sends until it gave a random number of answers, and kills it.
func killServing(t *testing.T, dir string, next *[repeatWriters]int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashEnv+"="+serving+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	token, err := identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(strings.TrimSpace(address), token, nil)
	if err != nil {
		t.Fatalf("the node says %q: %v", address, err)
	}
	var answers atomic.Int64
	enough := int64(20 + rand.IntN(60))
	var group sync.WaitGroup
	for w := range next {
		group.Go(func() {
			for {
				in, err := c.SendSamples(t.Context(), timeless(w, next[w]))
				if err != nil {
					return
				}
				if in.Accepted != repeatBatch {
					t.Errorf("request %d of writer %d: %+v", next[w], w, in)
				}
				next[w]++
				if answers.Add(1) == enough {
					if err := child.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	_ = child.Wait() // killed
	if answers.Load() < enough {
		t.Fatalf("the node gave %d answers, want %d", answers.Load(), enough)
	}
}
