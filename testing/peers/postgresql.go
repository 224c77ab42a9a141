package peers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ErrNoPostgreSQL is the error of StartPostgreSQL on a machine without it.
var ErrNoPostgreSQL = errors.New("PostgreSQL is not installed: on Debian, apt-get install postgresql")

// PostgreSQL is a server in a directory of its own, on a Unix socket, with the user and database
// "voltbus", who needs no password, and the user "guarded", who needs the password "right". It is
// used by one goroutine.
type PostgreSQL struct {
	dir      string
	bin      string
	settings []string
	as       *syscall.Credential // nil for this process's own user
	server   *exec.Cmd
	ended    chan struct{} // closed when server has ended; nil before the first start
}

// StartedPostgreSQL starts a server with settings such as "fsync=off". It is stopped when the test
// ends. The test is skipped, loudly, where PostgreSQL is not installed.
func StartedPostgreSQL(t testing.TB, settings ...string) *PostgreSQL {
	t.Helper()
	return started(t, func() (*PostgreSQL, error) { return StartPostgreSQL(settings...) })
}

// started starts a server for one test.
func started(t testing.TB, start func() (*PostgreSQL, error)) *PostgreSQL {
	t.Helper()
	p, err := start()
	if errors.Is(err, ErrNoPostgreSQL) || errors.Is(err, ErrNoTimescaleDB) || errors.Is(err, ErrNoCitus) {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// StartPostgreSQL is StartedPostgreSQL for a server that several tests share. Remove it.
func StartPostgreSQL(settings ...string) (*PostgreSQL, error) {
	if os.Getenv(TimescaleEnv) != "" {
		return StartTimescaleDB(settings...)
	}
	if os.Getenv(CitusEnv) != "" {
		return StartCitus(settings...)
	}
	bin := postgreSQLPrograms()
	if bin == "" {
		return nil, ErrNoPostgreSQL
	}
	return startPostgreSQL(bin, settings)
}

func startPostgreSQL(bin string, settings []string) (*PostgreSQL, error) {
	dir, err := os.MkdirTemp("", "vb-pg-") // short: the name of a socket is
	if err != nil {
		return nil, err
	}
	p := &PostgreSQL{dir: dir, bin: bin, settings: settings}
	if err = p.prepare(); err == nil {
		err = p.Start()
	}
	if err == nil {
		err = p.run("psql", "-h", dir, "-p", p.port(), "-U", "postgres", "-q",
			"-c", "CREATE ROLE voltbus LOGIN", "-c", "CREATE ROLE guarded LOGIN PASSWORD 'right' IN ROLE voltbus", "-c", "CREATE DATABASE voltbus OWNER voltbus")
	}
	if err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

// postgreSQLPrograms returns the directory of the newest PostgreSQL, "" if there is none. Debian keeps
// it off the path.
func postgreSQLPrograms() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is right
	if len(dirs) > 0 {
		return slices.Max(dirs)
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(program)
	}
	return ""
}

// prepare makes the database's files. PostgreSQL refuses to run as root.
func (p *PostgreSQL) prepare() error {
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return fmt.Errorf("%w (there is no user postgres)", ErrNoPostgreSQL)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(p.dir, uid, gid); err != nil {
			return err
		}
	}
	if err := p.run("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync"); err != nil {
		return err
	}
	const guard = "local all guarded scram-sha-256\nhost all guarded all scram-sha-256\n" // the first line that fits counts
	file := filepath.Join(p.data(), "pg_hba.conf")
	rest, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(guard), rest...), 0o600)
}

// port is the one of the settings, which also names the socket.
func (p *PostgreSQL) port() string {
	for _, s := range p.settings {
		if port, ok := strings.CutPrefix(s, "port="); ok {
			return port
		}
	}
	return "5432"
}

// socketFolder stands in settings for the folder of the server's socket, which is not known before it is started.
const socketFolder = "{socket}"

func (p *PostgreSQL) data() string { return filepath.Join(p.dir, "data") }

func (p *PostgreSQL) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, program), args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *PostgreSQL) run(program string, args ...string) error {
	if out, err := p.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// Start starts a server that was stopped or killed, and waits until it answers.
func (p *PostgreSQL) Start() error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if !p.running() { // what a kill left behind may refuse the first tries
			if err := p.launch(); err != nil {
				return err
			}
		}
		if p.run("pg_isready", "-q", "-h", p.dir, "-p", p.port()) == nil {
			return nil
		}
		select {
		case <-limit.C:
			said, _ := os.ReadFile(p.logFile())
			return fmt.Errorf("the database server did not get ready\n%s", said)
		case <-tick.C:
		}
	}
}

func (p *PostgreSQL) launch() error {
	args := []string{"-D", p.data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + p.dir}
	for _, s := range p.settings {
		args = append(args, "-c", strings.ReplaceAll(s, socketFolder, p.dir))
	}
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.server = p.command("postgres", args...)
	p.server.Stdout, p.server.Stderr = log, log
	if err := p.server.Start(); err != nil {
		return err
	}
	server, ended := p.server, make(chan struct{})
	p.ended = ended
	go func() {
		defer close(ended)
		_ = server.Wait() // how it ended is no news
	}()
	return nil
}

func (p *PostgreSQL) logFile() string { return filepath.Join(p.dir, "log") }

func (p *PostgreSQL) running() bool {
	if p.ended == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Stop ends the server in order: transactions in progress fail.
func (p *PostgreSQL) Stop() error { return p.end(syscall.SIGINT) }

// Kill ends the server at once, as a power cut would.
func (p *PostgreSQL) Kill() error { return p.end(syscall.SIGKILL) }

func (p *PostgreSQL) end(signal os.Signal) error {
	if !p.running() {
		return nil
	}
	if err := p.server.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return nil
}

// Remove stops the server and removes its files. What a killed one left behind may still write for a
// moment.
func (p *PostgreSQL) Remove() error {
	err := p.Stop()
	for range 100 {
		if err := os.RemoveAll(p.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// URL returns the address of a database for a user who needs no password.
func (p *PostgreSQL) URL(name, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(name), Path: "/" + database, RawQuery: "host=" + url.QueryEscape(p.dir)}
	return u.String()
}

// Query runs statements as the server's superuser, and returns what they print.
func (p *PostgreSQL) Query(t testing.TB, statement string) string {
	t.Helper()
	return p.QueryIn(t, "voltbus", statement)
}

// QueryIn is Query in another database.
func (p *PostgreSQL) QueryIn(t testing.TB, database, statement string) string {
	t.Helper()
	out, err := p.command("psql", "-X", "-q", "-t", "-A", "-h", p.dir, "-p", p.port(), "-U", "postgres", "-c", statement, database).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return string(out)
}
