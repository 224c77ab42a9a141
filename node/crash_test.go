package node_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/point"
)

const crashEnv = "VOLTBUS_TEST_CRASH"

// crashWriters record batches without pause, each sample with a value of its own.
const (
	crashWriters = 4
	crashBatch   = 50
)

// crashChild runs a node in dir and records, printing "writer batch" for each acknowledged batch,
// until it is killed. The arguments behind the directory are the number of the first batch, and the
// engine of the store.
func crashChild(dir string) {
	arguments := strings.Split(dir, "|")
	dir = arguments[0]
	start, _ := strconv.Atoi(arguments[1])
	cfg := load(&testing.T{}, dir, listenAnywhere+"store: {engine: "+arguments[2]+"}\n")
	n, err := open(cfg)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	go func() { fmt.Println("error", n.Run(context.Background())) }()
	var out sync.Mutex
	var writers sync.WaitGroup
	for w := range crashWriters {
		writers.Go(func() {
			for batch := start; ; batch++ {
				if err := n.Record(context.Background(), crashSamples(w, batch)); err != nil {
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

// crashSamples are the samples of one batch: the value names writer and batch, the time the place.
func crashSamples(w, batch int) []point.Sample {
	samples := make([]point.Sample, crashBatch)
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range samples {
		samples[i] = point.Sample{
			Point: point.Path(fmt.Sprint("crash/writer", w)),
			Time:  base.Add(time.Duration(batch*crashBatch+i) * time.Millisecond),
			Value: point.IntOf(int64(batch*crashBatch + i)),
		}
	}
	return samples
}

// One node is killed at a random moment again and again, always under load. In the end every
// sample that was ever acknowledged is in the history, once.
func TestKilledAtAnyMomentEveryAcknowledgedSampleIsThereOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := killOften(t, dir, "duckdb", 6)
	checkKilled(t, dir, acknowledged)
}

// A node without a store starts where it noted that its log was, and has no other that knows its numbers.
func TestKilledWithoutAStoreNoNumberIsUsedTwice(t *testing.T) {
	dir := t.TempDir()
	acknowledged := killOften(t, dir, "none", 4)
	if _, err := os.Stat(filepath.Join(dir, "data", "mark.json")); err != nil {
		t.Error(err)
	}
	checkKilled(t, dir, acknowledged)
}

// checkKilled starts the node with a store, and checks that it has all that was acknowledged, once.
func checkKilled(t *testing.T, dir string, acknowledged []map[int]bool) {
	t.Helper()
	r := run(t, load(t, dir, listenAnywhere))
	eventually(t, "the store has all of the log", func() bool {
		o := r.ledger().Origins[0]
		return o.BacklogSamples == 0 && o.Stored > 0
	})
	o := r.ledger().Origins[0]
	if o.Missing != 0 || !o.Balanced {
		t.Errorf("the ledger after the kills: %+v", o)
	}
	for w := range acknowledged {
		checkWriter(t, r, w, acknowledged[w])
	}
}

// killOften kills the child again and again, and returns what was acknowledged, by writer.
func killOften(t *testing.T, dir, engine string, kills int) []map[int]bool {
	t.Helper()
	acknowledged := make([]map[int]bool, crashWriters)
	for w := range acknowledged {
		acknowledged[w] = map[int]bool{}
	}
	next := 0
	for range kills {
		next = killOne(t, dir, next, engine, acknowledged) + 1
	}
	return acknowledged
}

// killOne starts the child, lets it acknowledge a random number of batches, and kills it. It adds
// what was acknowledged, and returns the highest batch.
func killOne(t *testing.T, dir string, first int, engine string, acknowledged []map[int]bool) int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%s", crashEnv, dir, first, engine))
	return killAfter(t, child, 50+rand.IntN(400), acknowledged)
}

// killAfter starts a process that prints a writer and a batch for each batch that it knows to be on
// disk, and kills it when it has printed enough. It notes them, and returns the highest batch.
func killAfter(t *testing.T, child *exec.Cmd, enough int, acknowledged []map[int]bool) int {
	t.Helper()
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	highest, seen := 0, 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var w, batch int
		if _, err := fmt.Sscan(lines.Text(), &w, &batch); err != nil {
			if seen < enough {
				t.Errorf("the process says %q", lines.Text())
			}
			break
		}
		acknowledged[w][batch] = true
		highest = max(highest, batch)
		if seen++; seen == enough {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // killed
	if seen < enough {
		t.Fatalf("%d batches were acknowledged, want %d", seen, enough)
	}
	return highest
}

// checkWriter reads one writer's history: every acknowledged sample once, no sample twice.
func checkWriter(t *testing.T, r *running, w int, acknowledged map[int]bool) {
	t.Helper()
	rows, twice := 0, 0
	values := map[string]bool{}
	_, err := r.SQL(context.Background(),
		fmt.Sprintf("SELECT value::BIGINT FROM samples WHERE point = 'crash/writer%d'", w), 1_000_000,
		func([]string) error { return nil },
		func(row []jsonRaw) error {
			rows++
			if values[string(row[0])] {
				twice++
			}
			values[string(row[0])] = true
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for batch := range acknowledged {
		for i := range crashBatch {
			if !values[strconv.Itoa(batch*crashBatch+i)] {
				lost++
			}
		}
	}
	if lost != 0 || twice != 0 {
		t.Errorf("writer %d: of %d acknowledged samples %d are lost, %d of %d rows stand twice",
			w, len(acknowledged)*crashBatch, lost, twice, rows)
	}
}
