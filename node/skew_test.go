package node_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/children"
	"voltbus/operation/documents"
	ledgerop "voltbus/operation/ledger"
	nodesop "voltbus/operation/nodes"
	parentop "voltbus/operation/parent"
	"voltbus/testing/link"
)

// The programs of two versions; make skew builds them.
const (
	oldEnv = "VOLTBUS_OLD"
	newEnv = "VOLTBUS_NEW"
)

// versions returns the two programs. Without them there is nothing to test.
func versions(t *testing.T) (old, now string) {
	t.Helper()
	if old, now = os.Getenv(oldEnv), os.Getenv(newEnv); old == "" || now == "" {
		t.Skip("it needs programs of two versions: run make skew")
	}
	return old, now
}

// versioned is a node that a program of some version runs.
type versioned struct {
	*killable
	name    string
	program string
	below   *link.Link // by which its child reaches it; nil for the last one
	ended   sync.WaitGroup
}

// whereRun finds where a node listens in the line that says that it runs.
var whereRun = regexp.MustCompile(`msg="node runs".* page=(\S+) .*bus=(\S+)`)

// start runs the program until it is killed, and waits until it listens.
func (v *versioned) start() {
	v.t.Helper()
	v.proc = exec.CommandContext(v.t.Context(), v.program, "run", "--config", v.file())
	out, err := v.proc.StderrPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := v.proc.Start(); err != nil {
		v.t.Fatal(err)
	}
	where, said := make(chan []string, 1), &bytes.Buffer{}
	v.ended.Go(func() {
		defer close(where)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if at := whereRun.FindStringSubmatch(lines.Text()); at != nil {
				where <- at
				_, _ = io.Copy(io.Discard, out) // until it is killed
				return
			}
			fmt.Fprintln(said, lines.Text())
		}
	})
	at, ok := <-where
	if !ok {
		v.t.Fatalf("%s does not start with %s: %s", v.name, filepath.Base(v.program), said)
	}
	v.bus = at[2]
	v.reach(at[1])
	if v.below != nil {
		v.below.Lead(v.bus)
	}
}

// end kills the node and waits until all that it said was read.
func (v *versioned) end() {
	v.kill()
	v.ended.Wait()
}

// textSize is that of a text as long as a node takes.
const textSize = 64 << 10

// row are nodes, each the child of the one before, and what the last one acknowledged.
type row struct {
	t           *testing.T
	nodes       []*versioned
	sent, large int
}

// newRow runs a node for each program and joins them. Those above may ask and read all.
func newRow(t *testing.T, programs ...string) *row {
	t.Helper()
	r := &row{t: t}
	for i, program := range programs {
		name := fmt.Sprintf("n%d", i)
		allow := ""
		if i > 0 {
			allow = "uplink: {allow: [administer, \"read **\"]}\n"
		}
		v := &versioned{killable: newKillable(t, name, listenAnywhere+allow), name: name, program: program}
		if i < len(programs)-1 {
			v.below = link.New(t)
		}
		t.Cleanup(v.end)
		v.start()
		if r.nodes = append(r.nodes, v); i > 0 {
			r.join(r.nodes[i-1], v)
		}
	}
	return r
}

func (r *row) join(parent, child *versioned) {
	r.t.Helper()
	made, err := client.Do(wait(r.t), parent.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: child.name, Addresses: []string{parent.below.Addr()}}.Arguments())
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := client.Do(wait(r.t), child.Client, parentop.Join, parentop.Code{Code: made.Code, Name: ""}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *row) last() *versioned { return r.nodes[len(r.nodes)-1] }

// record sends readings of a point to the last node.
func (r *row) record(path string, from, n int, value func(i int) string) {
	r.t.Helper()
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"point", "time", "value"}) // to memory
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		_ = w.Write([]string{path, base.Add(time.Duration(from+i) * time.Second).Format(time.RFC3339), value(from + i)})
	}
	w.Flush()
	in, err := r.last().SendSamples(wait(r.t), client.Body{Media: "text/csv", Text: text.Bytes()})
	if err != nil || in.Accepted != n {
		r.t.Fatalf("%d of %d readings are accepted: %.500v, %v", in.Accepted, n, in.Errors, err)
	}
}

// send has the last node acknowledge n readings more, in portions, and does something after each.
func (r *row) send(portions, n int, after func(i int)) {
	r.t.Helper()
	for i := range portions {
		r.record("p", r.sent, n, strconv.Itoa)
		r.sent += n
		if after != nil {
			after(i)
		}
	}
}

// sendLarge has it acknowledge a block of more than a mebibyte.
func (r *row) sendLarge() {
	r.t.Helper()
	const texts = 17
	r.record("large", r.large, texts, func(int) string { return "x" + noise(textSize-1) })
	r.large += texts
}

func (r *row) cut() {
	for _, n := range r.nodes[:len(r.nodes)-1] {
		n.below.Cut()
	}
}

// place is how a point of the last node is called at another one.
func (r *row) place(at int, point string) string {
	for i := len(r.nodes) - 1; i > at; i-- {
		point = r.nodes[i].name + "/" + point
	}
	return point
}

// account returns what the ledger of a node says of what the last one produced.
func (r *row) account(at int) answer.Origin {
	r.t.Helper()
	l, err := client.Do(wait(r.t), r.nodes[at].Client, ledgerop.Get, ledgerop.Reach{})
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(l.Origins, func(o answer.Origin) bool { return strings.HasPrefix(o.Origin, r.last().name+"~") })
	if i < 0 {
		return answer.Origin{}
	}
	return l.Origins[i]
}

// equal waits until each node has all, and compares the histories with what was acknowledged.
func (r *row) equal() {
	r.t.Helper()
	total := uint64(r.sent + r.large)
	for i, n := range r.nodes {
		eventually(r.t, n.name+" has all that was acknowledged", func() bool { return r.account(i).Stored >= total })
		if o := r.account(i); o.Stored != total || o.Missing+o.Left != 0 || !o.Balanced {
			r.t.Errorf("the ledger of %s: %+v, %d were acknowledged", n.name, o, total)
		}
		if has, want := counted(r.t, n.Client, r.place(i, "p")), (counts{r.sent, r.sent, r.sent, 0, r.sent - 1}); has != want {
			r.t.Errorf("%s has %+v, want %+v", n.name, has, want)
		}
		if has := r.texts(n.Client, r.place(i, "large")); has != fmt.Sprint(r.large, r.large, r.large*textSize) {
			r.t.Errorf("%s has of the large blocks %s", n.name, has)
		}
	}
}

// texts says how many texts of a point a history has, of how many different times, and their bytes.
func (r *row) texts(c *client.Client, path string) (has string) {
	r.t.Helper()
	query := "SELECT count(*), count(DISTINCT time), coalesce(sum(length(text)), 0) FROM samples WHERE point = '" + path + "'"
	_, err := c.SQL(wait(r.t), query, 1, func([]string) error { return nil }, func(row []jsonRaw) error {
		for _, field := range row {
			has += " " + strings.Trim(string(field), `"`)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(has)
}

// Old and new programs are mixed in a row of nodes. All that was acknowledged arrives once, through cuts
// and with a large block; what the old one cannot do is said in words.
func TestProgramsOfTwoVersionsLoseNothing(t *testing.T) {
	old, now := versions(t)
	for _, c := range []struct {
		name     string
		programs []string
	}{
		{"an old child of a new parent", []string{now, old}},
		{"a new child of an old parent", []string{old, now}},
		{"an old one between new ones", []string{now, old, now}},
		{"a new one between old ones", []string{old, now, old}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRow(t, c.programs...)
			r.send(30, 500, func(i int) {
				if i%4 == 3 {
					r.cut()
				}
			})
			r.sendLargeThroughACut()
			r.send(10, 500, nil)
			r.equal()
			r.saysWhatItLacks(old)
		})
	}
}

// sendLargeThroughACut records a large block for which the last link needs seconds, and cuts that link when
// a half of it is there.
func (r *row) sendLargeThroughACut() {
	r.t.Helper()
	way := r.nodes[len(r.nodes)-2].below
	eventually(r.t, "nothing else is under way", func() bool { return r.account(len(r.nodes)-2).Stored == uint64(r.sent+r.large) })
	before := way.Carried(link.Up)
	way.Rate(512 << 10)
	r.sendLarge()
	eventually(r.t, "a half of the large block is there", func() bool { return way.Carried(link.Up)-before > 512<<10 })
	if o := r.account(len(r.nodes) - 2); o.Stored >= uint64(r.sent+r.large) {
		r.t.Error("the large block was there before the link was cut")
	}
	way.Cut()
	r.send(5, 100, nil)
	way.Rate(0)
	eventually(r.t, "all is there", func() bool { return r.account(len(r.nodes)-2).Stored == uint64(r.sent+r.large) })
	r.t.Logf("%d KiB went up for a block of %d KiB", (way.Carried(link.Up)-before)>>10, r.large*textSize>>10)
}

// saysWhatItLacks looks at what needs both versions: accounts and histories of descendants, and who asks.
func (r *row) saysWhatItLacks(old string) {
	r.t.Helper()
	top, end := r.nodes[0], r.last()
	if top.program != old {
		var l answer.Ledger
		eventually(r.t, "the ledger is of all nodes, or says which to update", func() bool {
			var err error
			if l, err = client.Do(wait(r.t), top.Client, ledgerop.Get, ledgerop.Reach{}); err != nil {
				r.t.Fatal(err)
			}
			return !slices.ContainsFunc(l.Nodes, func(n answer.LedgerNode) bool {
				return n.State != "here" && n.State != "current" && !strings.Contains(n.Reason, "update it")
			})
		})
		for _, n := range l.Nodes[1:] {
			r.t.Logf("the ledger of %s: %s %s", n.Node, n.State, n.Reason)
		}
	}
	d, err := client.Do(wait(r.t), top.At(end.name), documents.Set, client.NewDocument{Text: "most: 12\n", Type: "yaml", Note: "from afar"}.Arguments("shared", "limits"))
	if err != nil {
		r.t.Logf("a document cannot be set from afar: %v", err)
		if fault.Is(err, fault.Internal) || fault.Is(err, fault.Timeout) {
			r.t.Errorf("what a version cannot do ends as %v", fault.KindOf(err))
		}
		return
	}
	above := r.nodes[len(r.nodes)-2].name
	if d.By != "person:"+top.name+"/admin" && d.By != "node:"+above {
		r.t.Errorf("what was done from afar belongs to %q", d.By)
	}
	r.t.Logf("what was done from afar belongs to %s", d.By)
}

// A row of nodes is updated one by one, the top first, and the top goes back to the old version in the end.
func TestNodesThatAreUpdatedOneByOneLoseNothing(t *testing.T) {
	old, now := versions(t)
	r := newRow(t, old, old, old)
	update := func(n *versioned, program string) {
		t.Helper()
		n.end()
		if n != r.last() {
			r.send(5, 500, nil) // the others go on without it
		}
		n.program = program
		n.start()
		r.send(5, 500, nil)
	}
	r.send(10, 500, nil)
	r.sendLarge()
	for _, n := range r.nodes {
		update(n, now)
	}
	r.equal()
	update(r.nodes[0], old)
	r.equal()
	update(r.nodes[0], now)
	r.equal()
}

// An outage is counted by a new parent, and told to a new node above it. An old one may count and tell, as its version does, or not; nobody
// tells of an outage that the parent did not count.
func TestProgramsOfTwoVersionsTellOfOutages(t *testing.T) {
	old, now := versions(t)
	for _, c := range []struct {
		name     string
		programs []string
	}{
		{"an old one between new ones", []string{now, old, now, now}},
		{"new ones between old ones", []string{old, now, old, now}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRow(t, c.programs...)
			r.send(1, 100, nil)
			r.equal()
			for i := range r.nodes[1:] {
				r.away(i, old)
			}
			r.equal()
			for i := range r.nodes[1:] {
				r.tellsOutage(i, old)
			}
		})
	}
}

// away cuts a node's child off while the last one records, and waits until all is there.
func (r *row) away(parent int, old string) {
	r.t.Helper()
	n, child := r.nodes[parent], r.nodes[parent+1].name
	n.below.Lead("")
	n.below.Cut()
	eventually(r.t, n.name+" knows that "+child+" is away", func() bool { return n.look(child).State == answer.NodeAway })
	r.send(2, 100, nil)
	n.below.Lead(n.bus)
	eventually(r.t, n.name+" has all", func() bool { return r.account(parent).Stored == uint64(r.sent) })
	if n.program == old {
		return
	}
	eventually(r.t, n.name+" counted the outage of "+child, func() bool {
		list := n.look(child).Outages
		return len(list) == 1 && list[0].To != nil && list[0].Done != nil
	})
}

// look returns what the node says of one below it.
func (v *versioned) look(below string) answer.Node {
	v.t.Helper()
	n, err := client.Do(wait(v.t), v.Client, nodesop.Get, nodesop.Name{Name: below})
	if err != nil {
		v.t.Fatalf("%s: %v", v.name, err)
	}
	return n
}

// tellsOutage looks at what the nodes from the parent upwards say of the outage of its child.
func (r *row) tellsOutage(parent int, old string) {
	r.t.Helper()
	n, child := r.nodes[parent], r.nodes[parent+1].name
	counted := n.look(child).Outages
	if n.program != old && (len(counted) != 1 || counted[0].At != "" || counted[0].Coming+counted[0].Missing != 0) {
		r.t.Errorf("%s says of %s: %+v", n.name, child, counted)
		return
	}
	for _, above := range r.nodes[:parent] {
		eventually(r.t, above.name+" knows "+child, func() bool {
			_, err := client.Do(wait(r.t), above.Client, nodesop.Get, nodesop.Name{Name: child})
			return err == nil
		})
		silent := above.program == old || n.program == old // it may be
		eventually(r.t, above.name+" says of "+child+" what "+n.name+" counted, and nothing else", func() bool {
			counted = n.look(child).Outages
			list := above.look(child).Outages
			if len(list) == 0 {
				return silent
			}
			return len(list) == 1 && len(counted) == 1 && list[0].At == n.name && list[0].Waited == counted[0].Waited && list[0].Done != nil &&
				list[0].From.Equal(counted[0].From.Truncate(time.Millisecond))
		})
	}
	r.t.Logf("of the outage of %s is known: %+v", child, counted)
}
