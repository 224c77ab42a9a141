package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/agent/jail"
	"voltbus/cmd/voltbus/agents"
	"voltbus/store/duckdb/statement"
)

// probeEnv makes this test program behave as the program does where it is started in the jail of a statement, and then try what a
// statement that broke out of the engine would.
const probeEnv = "VOLTBUS_TEST_PROBE"

func probing() bool { return os.Getenv(probeEnv) != "" }

// attempts are what the probe is told.
type attempts struct {
	Outside string // a file that is not the store's
	Inside  string // a file of the store
	Folder  string // of the store, which only reads
	Temp    string // folder that it may write into
	Listens string // address
	Socket  string // path
	Task    statement.Task
}

// probe runs in the process of a statement. It prints a line for each attempt: its name and what came of it.
func probe() {
	if len(os.Args) > 1 && os.Args[1] == agents.AgentExecCommand {
		main()
		return
	}
	var a attempts
	if err := json.NewDecoder(os.Stdin).Decode(&a); err != nil {
		fmt.Println("task:", err)
		return
	}
	if err := statement.Confine(&a.Task); err != nil {
		fmt.Println("confine:", err)
		return
	}
	parent := strconv.Itoa(os.Getppid())
	for _, try := range []struct {
		name string
		do   func() error
	}{
		{"read the store", readable(a.Inside)},
		{"write the temporary folder", writes(filepath.Join(a.Temp, "x"))},
		{"read outside", readable(a.Outside)},
		{"read the accounts of the machine", readable("/etc/passwd")},
		{"list the root", func() error { _, err := os.ReadDir("/"); return err }},
		{"read the environment of the node", readable("/proc/" + parent + "/environ")},
		{"read the memory of the node", readable("/proc/" + parent + "/mem")},
		{"write the store", writes(filepath.Join(a.Folder, "x"))},
		{"change the store", func() error { return os.Truncate(a.Inside, 0) }},
		{"remove the store", func() error { return os.Remove(a.Inside) }},
		{"write outside", writes(a.Outside + ".new")},
		{"link to outside", func() error { return os.Link(a.Outside, filepath.Join(a.Temp, "link")) }},
		{"connect by TCP", dials("tcp", a.Listens)},
		{"connect by UDP", dials("udp", a.Listens)},
		{"connect to a socket", dials("unix", a.Socket)},
		{"listen", func() error { l, err := net.Listen("tcp", "127.0.0.1:0"); return closed(l, err) }},
		{"start a program", func() error { return exec.Command(os.Args[0]).Run() }},
		{"signal the node", func() error { return syscall.Kill(os.Getppid(), 0) }},
		{"trace the node", func() error { return syscall.PtraceAttach(os.Getppid()) }},
		{"raise its limits", func() error {
			return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
		}},
		{"take a large file", func() error {
			return os.WriteFile(filepath.Join(a.Temp, "large"), make([]byte, a.Task.Spill+1), 0o600)
		}},
		{"take memory", func() error {
			_, err := unix.Mmap(-1, 0, int(a.Task.Memory)+1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			return err
		}},
	} {
		result := "done"
		if err := try.do(); err != nil {
			result = "refused: " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(try.name + ": " + result)
	}
}

func readable(path string) func() error {
	return func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Read(make([]byte, 1))
		return err
	}
}

func writes(path string) func() error {
	return func() error { return os.WriteFile(path, []byte("x"), 0o600) }
}

func dials(network, address string) func() error {
	return func() error {
		c, err := net.DialTimeout(network, address, time.Second)
		return closed(c, err)
	}
}

func closed(c interface{ Close() error }, err error) error {
	if err != nil {
		return err
	}
	return c.Close()
}

func TestAttackTheProcessOfAStatementReachesNothingButTheStore(t *testing.T) {
	if jail.Version() == 0 {
		t.Skip("NOT TESTED: this kernel has no Landlock")
	}
	dir := t.TempDir()
	store, temp := filepath.Join(dir, "store"), filepath.Join(dir, "tmp")
	a := attempts{
		Outside: filepath.Join(dir, "admin.token"), Inside: filepath.Join(store, "day.parquet"), Folder: store, Temp: temp, Socket: filepath.Join(dir, "socket"),
		Task: statement.Task{Memory: 64 << 20, Spill: 1 << 20, Threads: 1, Time: time.Minute},
	}
	for _, err := range []error{
		os.Mkdir(store, 0o700), os.Mkdir(temp, 0o700), os.WriteFile(a.Outside, []byte("secret"), 0o600), os.WriteFile(a.Inside, []byte("samples"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	unixSocket, err2 := net.Listen("unix", a.Socket)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	defer unixSocket.Close()
	a.Listens = tcp.Addr().String()

	start, err := statementExec()
	if err != nil {
		t.Fatal(err)
	}
	command := start([]string{store}, temp)
	task, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stderr = []string{statement.Env + "=1", probeEnv + "=1"}, "/", bytes.NewReader(task), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the probe ended with %v after\n%s", err, out)
	}
	allowed := map[string]bool{"read the store": true, "write the temporary folder": true}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 20 {
		t.Errorf("the probe tried little:\n%s", out)
	}
	for _, line := range lines {
		name, result, _ := strings.Cut(line, ": ")
		if (result == "done") != allowed[name] {
			t.Errorf("%s: %s", name, result)
		}
	}
	if text, err := os.ReadFile(a.Inside); err != nil || string(text) != "samples" {
		t.Errorf("the store's file holds %q, %v", text, err)
	}
}
