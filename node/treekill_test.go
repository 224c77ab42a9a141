package node_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/config"
	"voltbus/point"
	"voltbus/testing/link"
)

const (
	treeEnv = "VOLTBUS_TEST_TREE"
	// soakEnv is how long nodes are killed, such as 10m; make soak-nodes sets it.
	soakEnv = "VOLTBUS_SOAK"
	// seedEnv repeats the choices of a run.
	seedEnv = "VOLTBUS_SEED"
)

// treeChild runs a node in dir and prints where its bus is. If it is told where to begin, it records a
// sample after the other and prints how many are acknowledged.
func treeChild(arguments string) {
	part := strings.SplitN(arguments, "|", 5)
	name, first, path := part[1], part[2], point.Path(part[3])
	n, err := open(nodeOf(&testing.T{}, part[0], name, part[4]))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("bus", n.BusAddr())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(context.Background()) }()
	if next, err := strconv.Atoi(first); err == nil {
		go func() {
			for ; ; next += treeBatch {
				if err := n.Record(context.Background(), numbers(path, next, treeBatch)); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println("acknowledged", next+treeBatch)
			}
		}()
	}
	fmt.Println("error", <-ended)
}

// treeBatch is how many samples are recorded at once.
const treeBatch = 20

// process is a node in a process of its own that is killed and started again.
type process struct {
	t      *testing.T
	cfg    *config.Config
	writes point.Path // "" for none
	text   string     // of the configuration
	below  *link.Link // by which its child reaches it; nil for the last one

	cmd     *exec.Cmd
	reading sync.WaitGroup

	mu           sync.Mutex
	acknowledged int
	grown        chan struct{}
}

// start runs the node and waits until its bus listens.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.CommandContext(p.t.Context(), os.Args[0])
	first := "-"
	if p.writes != "" {
		first = strconv.Itoa(p.count())
	}
	p.cmd.Env = append(os.Environ(), treeEnv+"="+strings.Join([]string{filepath.Dir(p.cfg.Node.Data), p.cfg.Node.Name, first, string(p.writes), p.text}, "|"))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ready := make(chan string, 1)
	p.reading.Go(func() { p.read(out, ready) })
	addr, ok := <-ready
	if !ok {
		p.t.Fatalf("%s did not start", p.cfg.Node.Name)
	}
	if p.below != nil {
		p.below.Lead(addr)
	}
}

// read takes what the node prints until it ends.
func (p *process) read(out io.Reader, ready chan<- string) {
	defer close(ready)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "bus":
			ready <- rest
		case "acknowledged":
			n, _ := strconv.Atoi(rest)
			p.mu.Lock()
			p.acknowledged = n
			close(p.grown)
			p.grown = make(chan struct{})
			p.mu.Unlock()
		default:
			p.t.Errorf("%s says %q", p.cfg.Node.Name, lines.Text())
		}
	}
}

func (p *process) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acknowledged
}

// kill ends the node without a word, and waits until it is gone.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may be gone
	p.reading.Wait()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// more waits until so many more samples are acknowledged.
func (p *process) more(n int) {
	p.t.Helper()
	deadline := time.After(60 * time.Second)
	for goal := p.count() + n; ; {
		p.mu.Lock()
		now, grown := p.acknowledged, p.grown
		p.mu.Unlock()
		if now >= goal {
			return
		}
		select {
		case <-grown:
		case <-deadline:
			p.t.Fatalf("the child acknowledged %d samples and no more", now)
		}
	}
}

// line makes parent, middle and child, joined to each other, and halts them.
func line(t *testing.T) []*process {
	t.Helper()
	names := []string{"parent", "middle", "child"}
	nodes := make([]*running, len(names))
	all := make([]*process, len(names))
	for i, name := range names {
		cfg := nodeOf(t, t.TempDir(), name, listenAnywhere)
		nodes[i] = run(t, cfg)
		all[i] = &process{t: t, cfg: cfg, text: listenAnywhere, grown: make(chan struct{})}
		if name == "child" {
			all[i].writes = "p"
		}
		if i > 0 {
			way := link.New(t)
			way.Lead(nodes[i-1].BusAddr())
			all[i-1].below = way
			below(t, nodes[i-1], nodes[i], way.Addr(), name)
		}
	}
	for _, n := range nodes {
		n.halt()
	}
	t.Cleanup(func() {
		for _, p := range all {
			p.kill()
		}
	})
	return all
}

// pace says how often is killed, and how long.
func pace(t *testing.T) (again func(kills int) bool, random *rand.Rand) {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	t.Logf("the choices of this run come again with %s=%d", seedEnv, seed)
	again = func(kills int) bool { return kills < 3 }
	if text := os.Getenv(soakEnv); text != "" {
		long, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", soakEnv, err)
		}
		end := time.Now().Add(long)
		again = func(int) bool { return time.Now().Before(end) }
	}
	return again, rand.New(rand.NewPCG(seed, 6))
}

// Three nodes in a row are killed at random moments, always under load. In the end each has every
// sample that the last one acknowledged, once.
func TestNodesInARowKilledAtAnyMomentHaveEverySampleOnce(t *testing.T) {
	again, random := pace(t)
	all := line(t)
	for _, p := range all {
		p.start()
	}
	child := all[2]
	kills := 0
	for order := random.Perm(3); again(kills); kills++ {
		if len(order) == 0 {
			order = random.Perm(3)
		}
		child.more(200 + random.IntN(3000))
		p := all[order[0]]
		order = order[1:]
		p.kill()
		if p != child && random.IntN(2) == 0 {
			child.more(200 + random.IntN(2000)) // the others go on without it
		}
		p.start()
	}
	child.more(200)
	for _, p := range all {
		p.kill()
	}
	acknowledged := child.count()
	t.Logf("%d kills, %d samples acknowledged", kills, acknowledged)
	nodes := make([]*running, len(all))
	for i, p := range all {
		nodes[i] = run(t, p.cfg)
		if p.below != nil {
			p.below.Lead(nodes[i].BusAddr())
		}
	}
	produced := of(nodes[2], "child").Acknowledged
	if produced < uint64(acknowledged) {
		t.Fatalf("the child acknowledged %d samples and knows of %d", acknowledged, produced)
	}
	for i, path := range []string{"middle/child/p", "child/p", "p"} {
		eventually(t, "each node has what the child produced", func() bool { return of(nodes[i], "child").Stored == produced })
		if o := of(nodes[i], "child"); o.Missing+o.Left != 0 || !o.Balanced {
			t.Errorf("the ledger of %s: %+v", all[i].cfg.Node.Name, o)
		}
		has := counted(t, nodes[i].Client, path)
		want := counts{all: has.all, different: has.all, times: has.all, first: 0, last: has.all - 1}
		if has != want || (has.all != acknowledged && has.all != acknowledged+treeBatch) {
			t.Errorf("%s has %+v, %d were acknowledged", all[i].cfg.Node.Name, has, acknowledged)
		}
	}
}

// counts are what the history itself says of a point whose samples are 0, 1, 2 …: nothing of the ledger
// is in them.
type counts struct {
	all, different int // samples, and different pairs of time and value
	times          int // different times
	first, last    int // least and largest value
}

func counted(t *testing.T, from *client.Client, path string) (c counts) {
	t.Helper()
	query := fmt.Sprintf("SELECT count(*), count(DISTINCT (time, value::BIGINT)), count(DISTINCT time), min(value::BIGINT), max(value::BIGINT) "+
		"FROM samples WHERE point = '%s'", path)
	_, err := from.SQL(context.Background(), query, 1, func([]string) error { return nil }, func(row []jsonRaw) error {
		for i, to := range []*int{&c.all, &c.different, &c.times, &c.first, &c.last} {
			n, err := strconv.Atoi(strings.Trim(string(row[i]), `"`))
			if err != nil {
				return err
			}
			*to = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
