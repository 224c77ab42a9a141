package peers

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Server is somebody else's server on loopback, in a process group of its own. It is used by one goroutine.
type Server struct {
	Addr string // host:port
	Web  string // host:port of its HTTP API; "" without one
	Dir  string // a directory of its own

	program string
	args    []string
	env     []string
	before  func()
	cmd     *exec.Cmd
	ended   chan struct{}
}

// serverTime is how long a server may take until it listens, on a busy machine.
const serverTime = 90 * time.Second

// newServer returns a server that is not started. The test is skipped, loudly, where the program is not installed.
func newServer(t testing.TB, debian, program string) *Server {
	t.Helper()
	found, err := exec.LookPath(program)
	if err != nil {
		found = filepath.Join("/usr/sbin", program) // which is not on every path
		if _, err := os.Stat(found); err != nil {
			t.Skipf("NOT TESTED: %s is not installed: on Debian, apt-get install %s", program, debian)
		}
	}
	return &Server{program: found, Dir: t.TempDir(), Addr: net.JoinHostPort("127.0.0.1", FreePort(t))}
}

// Start starts the server, also after Kill, and waits until it listens.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if s.before != nil {
		s.before()
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), s.program, s.args...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(s.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	s.await(t)
}

// await waits until the server listens.
func (s *Server) await(t testing.TB) {
	t.Helper()
	limit, tick := time.NewTimer(serverTime), time.NewTicker(20*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	dialer := net.Dialer{Timeout: time.Second}
	for {
		conn, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", s.Addr)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-tick.C:
			continue
		case <-s.ended:
		case <-limit.C:
		}
		text, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
		t.Fatalf("%s does not listen: %v\n%s", s.program, err, text)
	}
}

// Kill ends the server and what it started, without a word.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.ended
	s.cmd = nil
	s.gone()
}

// gone waits until nothing listens any more: a server that a script has started ends a little later than the script.
func (s *Server) gone() {
	limit, tick := time.NewTimer(serverTime), time.NewTicker(time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	dialer := net.Dialer{Timeout: time.Second}
	for {
		conn, err := dialer.DialContext(context.Background(), "tcp", s.Addr)
		if err != nil {
			return
		}
		_ = conn.Close()
		select {
		case <-tick.C:
		case <-limit.C:
			return
		}
	}
}

// Stop ends the server as its operator would: it writes what it has.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = syscall.Kill(s.cmd.Process.Pid, syscall.SIGTERM)
	<-s.ended
	s.cmd = nil
}

// StartVictoriaMetrics starts a VictoriaMetrics, which takes line protocol and remote write. It answers before anything is on
// disk: only Stop loses nothing. It is ended when the test ends.
func StartVictoriaMetrics(t testing.TB) *Server {
	t.Helper()
	s := newServer(t, "victoria-metrics", "victoria-metrics")
	s.args = []string{"-httpListenAddr=" + s.Addr, "-storageDataPath=" + filepath.Join(s.Dir, "data"), "-retentionPeriod=100y", "-loggerLevel=ERROR", "-memory.allowedBytes=100MB"}
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// The user of MariaDB that StartMariaDB makes.
const (
	MariaUser     = "plant"
	MariaPassword = "a secret of tests"
	MariaDatabase = "readings"
)

// StartMariaDB starts a MariaDB with a database and a user. It is ended when the test ends.
func StartMariaDB(t testing.TB) *Server {
	t.Helper()
	s := newServer(t, "mariadb-server-core", "mariadbd")
	data := filepath.Join(s.Dir, "data")
	install := exec.CommandContext(t.Context(), "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root")
	if text, err := install.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, text)
	}
	first := filepath.Join(s.Dir, "first.sql")
	statements := "CREATE DATABASE IF NOT EXISTS " + MariaDatabase + ";\nCREATE USER IF NOT EXISTS " + MariaUser + "@'%' IDENTIFIED BY '" + MariaPassword + "';\nGRANT ALL ON " + MariaDatabase + ".* TO " + MariaUser + "@'%';\n"
	if err := os.WriteFile(first, []byte(statements), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{
		"--no-defaults", "--user=root", "--datadir=" + data, "--bind-address=127.0.0.1", "--port=" + port(s.Addr), "--socket=" + filepath.Join(s.Dir, "socket"),
		"--init-file=" + first, "--innodb-buffer-pool-size=64M", "--skip-name-resolve", "--pid-file=" + filepath.Join(s.Dir, "pid"), "--log-error=" + filepath.Join(s.Dir, "errors"),
	}
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// StartClickHouse starts the engine of ClickHouse with the HTTP interface of clickhouse_peer.py. It is ended when the test ends.
func StartClickHouse(t testing.TB) *Server {
	t.Helper()
	s := &Server{program: Python(t), Dir: t.TempDir(), Addr: net.JoinHostPort("127.0.0.1", FreePort(t))}
	s.args = []string{filepath.Join(folder(), "clickhouse_peer.py"), port(s.Addr), filepath.Join(s.Dir, "data")}
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// StartSelf starts the test's own program once more, with an environment that makes it a server. It is ended when the test ends.
func StartSelf(t testing.TB, environment func(addr, dir string) []string) *Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{program: self, Dir: t.TempDir(), Addr: net.JoinHostPort("127.0.0.1", FreePort(t))}
	s.env = environment(s.Addr, s.Dir)
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}
