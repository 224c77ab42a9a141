package node_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"voltbus/agent/jail"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/agents"
	"voltbus/operation/documents"
	"voltbus/operation/processes"
	"voltbus/point"
)

// agentExec is the argument with which the test binary becomes an agent.
const agentExec = "agent-exec"

func execAgent(text string) {
	var s jail.Spec
	if err := json.Unmarshal([]byte(text), &s); err == nil {
		err = s.Exec(os.Environ())
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// onceAgent is the SDK of an agent that writes to a file where it runs, again and again, while it has the lock of the file. Two that run at
// the same time are noted in another file.
const onceAgent = `import fcntl, json, os, sys, time
if sys.argv[1] == "describe":
    print(json.dumps({"doc": "Counts.", "wants": {"read": ["site/**"]}, "config_schema": None, "methods": []}))
    sys.exit()
out = open(%q, "a")
try:
    fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    open(%q, "a").write("%%f %%d %%s\n" %% (time.time(), os.getpid(), os.getcwd()))
while True:
    out.write("%%f %%d %%s\n" %% (time.time(), os.getpid(), os.getcwd()))
    out.flush()
    time.sleep(0.05)
`

// wheelOf makes a wheel of files; entry is what it offers as an agent, "" for nothing.
func wheelOf(t *testing.T, name, entry string, files map[string]string) []byte {
	t.Helper()
	info := name + "-1.0.dist-info/"
	all := map[string]string{
		info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n",
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	if entry != "" {
		all[info+"entry_points.txt"] = "[voltbus.agent]\n" + entry + "\n"
	}
	maps.Copy(all, files)
	record := ""
	for file := range all {
		record += file + ",,\n"
	}
	all[info+"RECORD"] = record + info + "RECORD,,\n"
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for file, text := range all {
		w, err := zw.Create(file)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packedAgent is the upload of the agent.
func packedAgent(t *testing.T) io.Reader {
	t.Helper()
	content := wheelOf(t, "once", "once = once:Once", map[string]string{"once.py": "class Once:\n    \"\"\"Counts.\"\"\"\n"})
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	err := tw.WriteHeader(&tar.Header{Name: "source/once-1.0-py3-none-any.whl", Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o600})
	if err == nil {
		_, err = tw.Write(content)
	}
	if err != nil || tw.Close() != nil || zw.Close() != nil {
		t.Fatal(err)
	}
	return &b
}

// counter is where the agent writes.
type counter struct{ file string }

// since returns which replicas the agent has run at since a size of the file, each once and in order, and its size now.
func (c counter) since(s *replicaSet, size int) (names []string, now int) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil, 0
	}
	for line := range strings.Lines(string(text[size:])) {
		i := slices.IndexFunc(s.names, func(name string) bool { return strings.Contains(line, "data-"+name+"/") })
		if i >= 0 && !slices.Contains(names, s.names[i]) {
			names = append(names, s.names[i])
		}
	}
	return names, len(text)
}

// turns returns the first and the last line of each process of the agent.
func (c counter) turns() string {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	var pid, before string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] != pid {
			pid = f[1]
			out.WriteString(before + line)
		}
		before = line
	}
	return out.String() + before
}

// runs waits until the agent runs at one of some replicas, and returns it.
func (c counter) runs(t *testing.T, s *replicaSet, size int, at ...string) string {
	t.Helper()
	var name string
	eventually(t, fmt.Sprint("the agent runs at one of ", at), func() bool {
		names, _ := c.since(s, size)
		i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(at, n) })
		if i >= 0 {
			name = names[i]
		}
		return i >= 0
	})
	return name
}

// runsAgents has each replica run agents with an SDK of this text.
func (s *replicaSet) runsAgents(t *testing.T, text string) {
	t.Helper()
	sdk := filepath.Join(s.dir, "voltbus-1.0-py3-none-any.whl")
	content := wheelOf(t, "voltbus", "", map[string]string{"voltbus/__init__.py": "", "voltbus/__main__.py": text})
	if err := os.WriteFile(sdk, content, 0o600); err != nil {
		t.Fatal(err)
	}
	uv, err := filepath.Abs("../.venv/bin/uv")
	if _, none := os.Stat(uv); err != nil || none != nil {
		uv = "off"
	}
	s.share(t, fmt.Sprintf("agents: {isolation: 'off', python: /usr/bin/python3, uv: %s, sdk: %s} # of replica %%d\n", uv, sdk))
}

// installs installs the agent at one replica, and waits until all have it.
func (s *replicaSet) installs(t *testing.T) {
	t.Helper()
	eventually(t, "an agent is installed", func() bool { // once the node runs
		_, err := s.processes["r2"].Install(t.Context(), "once", client.Installation{Grant: "all", Priority: -1}, packedAgent(t))
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	for _, name := range s.names {
		eventually(t, name+" has the agent", func() bool { return s.processes[name].process(t).Name == "once" })
	}
}

func (s *replicaSet) but(name string) []string {
	return slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return n == name })
}

// process returns how a replica sees the agent.
func (p *replicaProcess) process(t *testing.T) answer.Process {
	list, err := client.Do(t.Context(), p.Client, processes.List, processes.Nothing{})
	if err != nil || len(list.Processes) != 1 {
		return answer.Process{}
	}
	return list.Processes[0]
}

// tellsOthers changes what the agent may do, and its configuration, at one replica, and waits until the others know.
func (s *replicaSet) tellsOthers(t *testing.T) {
	t.Helper()
	text := "limit: 3\n"
	config := documents.Key{Owner: "agent/once", Name: "config"}
	if _, err := client.Do(t.Context(), s.processes["r1"].Client, documents.Set, documents.Text{Key: config, Text: &text, Type: "yaml"}); err != nil {
		t.Fatal(err)
	}
	grants := agents.Grants{Agent: agents.Agent{Name: "once"}, Grants: identity.Grants{Publish: []point.Pattern{"once/**"}}}
	if _, err := client.Do(t.Context(), s.processes["r3"].Client, agents.SetGrants, grants); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.names {
		p := s.processes[name]
		eventually(t, name+" knows the configuration", func() bool {
			d, err := client.Do(t.Context(), p.Client, documents.Get, documents.Version{Key: config})
			return err == nil && d.Text != nil && *d.Text == text
		})
		eventually(t, name+" knows the grants", func() bool {
			g, err := client.Do(t.Context(), p.Client, agents.GetGrants, agents.Agent{Name: "once"})
			return err == nil && len(g.Publish) == 1 && len(g.Read) == 0
		})
	}
}

// An agent that is installed at one replica runs at one of all, never at two, and goes on at another one when its replica is killed, stopped
// half-way or cut off.
func TestAnAgentOfAllReplicasRunsAtOne(t *testing.T) {
	t.Parallel()
	s := newReplicaSet(t)
	c := counter{filepath.Join(s.dir, "counter")}
	twice := filepath.Join(s.dir, "twice")
	s.runsAgents(t, fmt.Sprintf(onceAgent, c.file, twice))
	s.start(t, s.names...)
	s.installs(t)
	s.tellsOthers(t)
	if _, err := client.Do(t.Context(), s.processes["r3"].Client, processes.Start, processes.Agent{Name: "once"}); err != nil {
		t.Fatal(err)
	}
	first := c.runs(t, s, 0, s.names...)
	for _, name := range s.but(first) {
		eventually(t, name+" says where it runs", func() bool {
			p := s.processes[name].process(t)
			return p.State == "elsewhere" && p.Owner == first
		})
		if p, err := client.Do(t.Context(), s.processes[name].Client, processes.Show, processes.Agent{Name: "once"}); err != nil || p.PID == 0 {
			t.Errorf("%s does not show its process: %+v %v", name, p, err)
		}
	}
	_, size := c.since(s, 0)
	s.kill(first)
	second := c.runs(t, s, size, s.but(first)...)
	s.start(t, first)
	eventually(t, first+" is back", func() bool { return s.processes[first].process(t).State == "elsewhere" })

	_, size = c.since(s, 0)
	stopped := s.processes[second].cmd.Process
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	third := c.runs(t, s, size, s.but(second)...)
	if err := stopped.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, second+" knows where it runs", func() bool { return s.processes[second].process(t).Owner == third })

	for _, name := range s.but(third) { // the last one has no majority
		s.kill(name)
	}
	eventually(t, "the agent does not run without a majority", func() bool { return s.processes[third].process(t).State == "elsewhere" })
	_, size = c.since(s, 0)
	s.start(t, s.but(third)[0])
	at := c.runs(t, s, size, s.names...)
	eventually(t, "it is removed", func() bool { // the majority has just come back
		_, err := client.Do(t.Context(), s.processes[at].Client, processes.Remove, processes.Removal{Agent: processes.Agent{Name: "once"}})
		return err == nil || fault.Is(err, fault.NotFound)
	})
	for _, name := range []string{third, s.but(third)[0]} {
		eventually(t, name+" does not have it any more", func() bool {
			list, err := client.Do(t.Context(), s.processes[name].Client, processes.List, processes.Nothing{})
			return err == nil && len(list.Processes) == 0
		})
	}
	if text, err := os.ReadFile(twice); err == nil {
		t.Errorf("it has run at two replicas at a time: %s\n%s", text, c.turns())
	}
}
