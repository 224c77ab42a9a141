package node_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"voltbus/api/answer"
	web "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/auditlog"
	"voltbus/operation/control"
	"voltbus/operation/processes"
	"voltbus/point"
)

// Replicas are killed, or stand still, in turn for as long as SOAK says, while MQTT clients publish, an agent records and answers, and
// a point is commanded at any replica. At the end all that was acknowledged is stored once, each command was decided once, and the agent was
// never at two replicas.
func TestSoakReplicas(t *testing.T) {
	text := os.Getenv("VOLTBUS_SOAK")
	if text == "" {
		t.Skip("set VOLTBUS_SOAK to how long to run, such as 10m")
	}
	long, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	for what, disturb := range map[string]func(*testing.T, *replicaSet, string, func(int64)){
		"killed": func(t *testing.T, s *replicaSet, name string, more func(int64)) {
			s.kill(name)
			more(200)
			s.start(t, name)
		},
		"standing still": func(t *testing.T, s *replicaSet, name string, more func(int64)) {
			s.signal(t, name, syscall.SIGSTOP)
			more(30)
			s.signal(t, name, syscall.SIGCONT)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, rounds := newReplicaSet(t), 0
			a, c := newSoakAgent(t, s), newCommander(t, s)
			s.underLoad(t, func(more func(int64)) {
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				s.installs(t)
				a.order(t, processes.Start)
				running.Go(func() { a.ask(ctx) })
				running.Go(func() { c.run(ctx) })
				for end := time.Now().Add(long); time.Now().Before(end); rounds++ {
					more(50)
					disturb(t, s, s.names[rounds%3], more)
				}
				stop()
				running.Wait()
				a.order(t, processes.Stop)
			})
			t.Logf("%d times in %s", rounds, long)
			a.balanced(t)
			c.balanced(t)
		})
	}
}

// anyClient returns the client of a replica, which may be down.
func (s *replicaSet) anyClient(n int) *web.Client {
	c, _ := s.clients.Load(s.names[n%len(s.names)])
	return c.(*web.Client)
}

const soakAgentEnv = "VOLTBUS_TEST_SOAKAGENT"

// soakAgent is an agent that records numbers and doubles those that it is asked, at one of all replicas.
type soakAgent struct {
	s        *replicaSet
	dir      string
	answered int
	wrong    []string
}

// The files of the agent: what it tried and had acknowledged, and who ran although another one did.
const (
	soakLedger = "agent.ledger"
	soakTwice  = "agent.twice"
)

// soakStart is the SDK that becomes the agent.
const soakStart = `import json, os, sys
if sys.argv[1] == "describe":
    print(json.dumps({"doc": "Counts.", "wants": {"record": ["soak/**"]}, "config_schema": None, "methods": []}))
    sys.exit()
os.environ[%q] = %q
os.execv(%q, [%q])
`

func newSoakAgent(t *testing.T, s *replicaSet) *soakAgent {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.runsAgents(t, fmt.Sprintf(soakStart, soakAgentEnv, s.dir, program, program))
	return &soakAgent{s: s, dir: s.dir}
}

// order has the agent started or stopped, whichever replica it is at.
func (a *soakAgent) order(t *testing.T, what operation.Operation[processes.Agent, answer.Process]) {
	t.Helper()
	eventually(t, "the agent is started or stopped", func() bool {
		_, err := web.Do(t.Context(), a.s.processes["r1"].Client, what, processes.Agent{Name: "once"})
		return err == nil
	})
}

// ask asks the agent at any replica, until ctx ends.
func (a *soakAgent) ask(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		got, err := a.s.anyClient(n).CallAgent(ctx, "once", web.Call{Method: "double", Args: []json.RawMessage{json.RawMessage(strconv.Itoa(n))}, Timeout: 2 * time.Second})
		if err != nil {
			continue // its replica, or that of the agent, is down
		}
		if a.answered++; strings.TrimSpace(string(got)) != strconv.Itoa(2*n) {
			a.wrong = append(a.wrong, fmt.Sprintf("twice %d is %s", n, got))
		}
	}
}

// balanced compares what the agent had acknowledged with what each replica stored.
func (a *soakAgent) balanced(t *testing.T) {
	t.Helper()
	tried, acknowledged, runs := a.read(t)
	if text, err := os.ReadFile(filepath.Join(a.dir, soakTwice)); err == nil {
		t.Errorf("the agent has run at two replicas at a time: %s", text)
	}
	if len(acknowledged) == 0 || a.answered == 0 || len(a.wrong) > 0 {
		t.Errorf("the agent recorded %d and answered %d, wrong: %q", len(acknowledged), a.answered, a.wrong)
	}
	for _, name := range a.s.names {
		var got []int
		eventually(t, name+" has all that the agent recorded", func() bool {
			got = a.s.processes[name].numbers(t.Context(), "soak/n")
			return contains(got, acknowledged)
		})
		for i := 1; i < len(got); i++ {
			if got[i] == got[i-1] && tried[got[i]] == 1 {
				t.Errorf("%s has %d of the agent twice, which it sent once", name, got[i])
			}
		}
	}
	again := 0
	for _, n := range tried {
		if n > 1 {
			again++
		}
	}
	t.Logf("the agent ran %d times, recorded %d (%d sent again) and answered %d calls", runs, len(acknowledged), again, a.answered)
}

// read returns how often the agent sent each number, and which were acknowledged, in their order.
func (a *soakAgent) read(t *testing.T) (tried map[int]int, acknowledged []int, runs int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, soakLedger))
	if err != nil {
		t.Fatal(err)
	}
	tried = map[int]int{}
	for line := range strings.Lines(string(text)) {
		word, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.Atoi(number)
		switch word {
		case "run":
			runs++
		case "try":
			tried[n]++
		case "has":
			acknowledged = append(acknowledged, n)
		}
	}
	if !slices.IsSorted(acknowledged) {
		t.Error("the agent counted backwards")
	}
	return tried, acknowledged, runs
}

// soakAgentChild is the agent, in a process that a replica starts and ends.
func soakAgentChild(dir string) {
	out, err := os.OpenFile(filepath.Join(dir, soakLedger), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := syscall.Flock(int(out.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		twice, _ := os.OpenFile(filepath.Join(dir, soakTwice), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		place, _ := os.Getwd()
		fmt.Fprintln(twice, time.Now(), os.Getpid(), place)
		return
	}
	next := 1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		_, _ = fmt.Sscanf(lines.Text(), "has %d", &next)
	}
	fmt.Fprintln(out, "run", os.Getpid())
	pem, err := os.ReadFile(os.Getenv("VOLTBUS_CA"))
	key, err2 := identity.ReadKey(os.Getenv("VOLTBUS_KEY"))
	if err != nil || err2 != nil {
		fmt.Println(err, err2)
		return
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{Address: os.Getenv("VOLTBUS_BUS"), CA: ca, Key: key, Name: os.Getenv("VOLTBUS_AGENT")})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = c.Handle(client.Method{Name: "double", Params: nil, Do: func(_ context.Context, r *client.Request) (any, error) {
		n := 0
		err := r.Arg(0, &n)
		return 2 * n, err
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for pace := time.Tick(20 * time.Millisecond); ; next++ {
		for sent := false; !sent; <-pace {
			fmt.Fprintln(out, "try", next)
			err := c.Record(ctx, []point.Sample{{Point: "soak/n", Value: point.IntOf(int64(next))}}, strconv.Itoa(next))
			if sent = err == nil; err != nil {
				fmt.Println(err)
			}
		}
		fmt.Fprintln(out, "has", next)
	}
}

// commander sets a point at any replica, with an identifier for each command, and asks again until there is an answer.
type commander struct {
	s       *replicaSet
	answers map[string]string // by identifier: what was answered
	again   int               // commands that were asked for more than once
	last    int               // the value that was accepted last
}

func newCommander(t *testing.T, s *replicaSet) *commander {
	t.Helper()
	s.share(t, damperSite(newFlowMeter(t)))
	return &commander{s: s, answers: map[string]string{}}
}

// mostTries is for how long a command is asked again: longer than all replicas need to come back.
const mostTries = 1000

func (c *commander) run(ctx context.Context) {
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for at, n := 0, 1; ctx.Err() == nil; n++ {
		id := fmt.Sprint("soak-", n)
		for tries := range mostTries { // the last one is answered, too
			status := c.command(context.WithoutCancel(ctx), c.s.anyClient(at), id, n)
			if status == "" {
				at++
				<-pace.C
				continue
			}
			if c.answers[id] = status; tries > 0 {
				c.again++
			}
			if status == "accepted" {
				c.last = n
			}
			break
		}
		<-pace.C
	}
}

// command returns what became of a command, "" if that is not known.
func (c *commander) command(ctx context.Context, at *web.Client, id string, value int) (status string) {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	wait := 0.0
	out, err := web.Do(ctx, at, control.Command, answer.NewCommands{Commands: []answer.NewCommand{{
		ID: id, Point: damperPoint, Value: json.RawMessage(strconv.Itoa(value)), Level: 8,
	}}, Wait: &wait})
	if err != nil {
		return ""
	}
	if e := out.Results[0].Error; e != nil && e.Kind == "unavailable" {
		return ""
	}
	return out.Results[0].Status
}

// audited is what the audit logs of all replicas say of a command.
type audited struct {
	decided  map[string]bool // accepted, by the replica and the write that followed: whether it is sure that it counts
	outcomes int             // what became of it, and of writes of it
	entries  []string
}

// sure counts the decisions of which it is sure that they count.
func (a *audited) sure() (n int) {
	for _, sure := range a.decided {
		if sure {
			n++
		}
	}
	return n
}

// told reads the audit logs. Whether a decision counts that its replica could not keep in time shows later, and nothing was written before:
// either it is kept after all, or the command is decided anew.
func (c *commander) told(t *testing.T) map[string]*audited {
	t.Helper()
	all := map[string]*audited{}
	for _, name := range c.s.names {
		list := c.s.audit(t, name, "control.*")
		slices.Reverse(list) // oldest first
		for _, e := range list {
			var x struct {
				ID    string
				Write uint64
			}
			if json.Unmarshal(e.Detail, &x) != nil || !strings.HasPrefix(x.ID, "soak-") {
				continue
			}
			if all[x.ID] == nil {
				all[x.ID] = &audited{decided: map[string]bool{}}
			}
			one, decision := all[x.ID], fmt.Sprint(name, x.Write)
			one.entries = append(one.entries, name+" "+e.Time.Format("15:04:05.000 ")+e.Action+": "+e.Outcome)
			switch {
			case e.Action == "control.command" && e.Outcome == "accepted":
				one.decided[decision] = true
			case strings.Contains(e.Outcome, "cannot be kept on disk"):
				one.decided[decision] = false
			case e.Action != "control.command":
				one.outcomes++
			}
		}
	}
	return all
}

// balanced compares the answers with the audit logs of all replicas: each command was decided once, and it is known what became of it.
func (c *commander) balanced(t *testing.T) {
	t.Helper()
	eventually(t, "the last command is held", func() bool {
		return slices.ContainsFunc(c.s.names, func(name string) bool { return c.s.processes[name].levels(t)[8] == strconv.Itoa(c.last) })
	})
	all, accepted := c.told(t), 0
	for id, status := range c.answers {
		one := all[id]
		switch {
		case status != "accepted":
			if one != nil && one.sure() > 0 {
				t.Errorf("%s is answered %s, and the audit logs say %q", id, status, one.entries)
			}
			continue
		case one == nil || len(one.decided) == 0 || one.sure() > 1 || one.outcomes == 0:
			t.Errorf("%s was accepted, and the audit logs say %+v", id, one)
		}
		accepted++
	}
	if accepted == 0 {
		t.Error("no command was accepted")
	}
	t.Logf("%d commands accepted of %d answered, %d asked again", accepted, len(c.answers), c.again)
}

// audit returns the entries of the audit log of a replica about actions of a pattern.
func (s *replicaSet) audit(t *testing.T, name, action string) (list []answer.AuditEntry) {
	t.Helper()
	for before := uint64(0); ; {
		page, err := web.Do(t.Context(), s.processes[name].Client, auditlog.List, auditlog.Page{Filter: auditlog.Filter{Action: action}, Limit: 10_000, Before: int(before)})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, page.Entries...)
		if before = page.Next; before == 0 {
			return list
		}
	}
}
