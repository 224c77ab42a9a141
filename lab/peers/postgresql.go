package peers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig"
)

const installPostgres = "on Debian: apt-get install postgresql"

// postgresDirs is where Debian keeps what is not on the path.
func postgresDirs() []string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is right
	return dirs
}

// postgreSQL is PostgreSQL: COPY into one table without an index, a transaction a batch.
func postgreSQL() Store {
	return Store{
		Name: "PostgreSQL", Rows: true, Promise: "It answers after its write-ahead log was flushed to the disk; the table has no index.",
		Find: func() error {
			_, err := find("initdb", installPostgres, postgresDirs()...)
			return err
		},
		Open: openPostgres,
	}
}

// waitUntilItAnswers asks until the server, which listens before it is ready, takes a connection.
func (p *postgres) waitUntilItAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := p.ask(ctx, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-p.server.ended:
			return err
		case <-tick.C:
		}
	}
}

// postgresPrograms finds the server and its client.
func postgresPrograms() (program, psql string, err error) {
	if program, err = find("postgres", installPostgres, postgresDirs()...); err != nil {
		return "", "", err
	}
	psql, err = find("psql", installPostgres, postgresDirs()...)
	return program, psql, err
}

type postgres struct {
	server *server
	port   int
	psql   string
	mu     sync.Mutex
	idle   []*session
	all    []*session
}

func openPostgres(ctx context.Context, dir string) (Intake, error) {
	as, err := servant(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := initPostgres(ctx, data, as); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	program, psql, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "-D", data, "-p", strconv.Itoa(port), //nolint:noctx // stop ends it
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+data, "-c", "log_min_messages=fatal", "-c", "max_wal_size=4GB")
	cmd.SysProcAttr, cmd.Dir = as.attr(), dir
	srv, err := start(ctx, cmd, loopback(port))
	if err != nil {
		return nil, err
	}
	p := &postgres{server: srv, port: port, psql: psql}
	if err := p.waitUntilItAnswers(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if _, err := p.ask(ctx, "CREATE TABLE readings (point text NOT NULL, time timestamptz NOT NULL, value double precision)"); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// initPostgres makes the directory of a database.
func initPostgres(ctx context.Context, data string, as *account) error {
	initdb, err := find("initdb", installPostgres, postgresDirs()...)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the store's directory: %w", err)
	}
	if err := as.own(filepath.Dir(data), data); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, initdb, "-D", data, "-U", "lab", "-A", "trust", "--no-locale", "-E", "UTF8")
	cmd.SysProcAttr, cmd.Dir = as.attr(), filepath.Dir(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fault.E("peers.postgres", fault.Unavailable, initdb, fmt.Errorf("%w: %s", err, out))
	}
	return nil
}

// account is the user as whom a server runs that refuses to run as root.
type account struct{ uid, gid int }

// servant is the account for PostgreSQL: nil for this process's own.
func servant(dir string) (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // no other account is an answer
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fault.E("peers.postgres", fault.NotFound, "postgres", fmt.Errorf("there is no such user, and it does not run as root: %w", err))
	}
	a := &account{}
	if a.uid, err = strconv.Atoi(u.Uid); err != nil {
		return nil, fmt.Errorf("read the user's number: %w", err)
	}
	if a.gid, err = strconv.Atoi(u.Gid); err != nil {
		return nil, fmt.Errorf("read the user's group: %w", err)
	}
	return a, a.reach(dir)
}

// reach lets the account pass through the directories above a trial's, which are this process's own.
func (a *account) reach(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the store's directory: %w", err)
	}
	for d := filepath.Dir(dir); d != "/" && strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o711); err != nil {
			return fmt.Errorf("let the store reach its directory: %w", err)
		}
	}
	return nil
}

func (a *account) own(paths ...string) error {
	if a == nil {
		return nil
	}
	for _, p := range paths {
		if err := os.Chown(p, a.uid, a.gid); err != nil {
			return fmt.Errorf("hand the directory to the store's user: %w", err)
		}
	}
	return nil
}

func (a *account) attr() *syscall.SysProcAttr {
	if a == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}}
}

// session is one connection, by a psql process that reads statements. One goroutine uses it.
type session struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	words *rig.LastWords
}

const done = "voltbus-done"

func (p *postgres) connect() (*session, error) {
	s := &session{words: &rig.LastWords{}}
	s.cmd = exec.Command(p.psql, "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", //nolint:noctx // ends with its input
		"-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", "lab", "postgres")
	s.cmd.Stderr = s.words
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start psql: %w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start psql: %w", err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fault.E("peers.postgres", fault.Unavailable, p.psql, err)
	}
	p.all = append(p.all, s)
	return s, nil
}

// do runs statements, the last of them with data for COPY, and returns what they printed.
func (s *session) do(parts ...[]byte) (string, error) {
	for _, part := range append(parts, []byte("\\echo "+done+"\n")) {
		if _, err := s.in.Write(part); err != nil {
			return "", s.failed(err)
		}
	}
	var said strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return "", s.failed(err)
		}
		if strings.TrimSpace(line) == done {
			return strings.TrimSpace(said.String()), nil
		}
		said.WriteString(line)
	}
}

func (s *session) failed(err error) error {
	return fault.E("peers.postgres", fault.Unavailable, "", fmt.Errorf("%w: %s", err, s.words))
}

// with calls do with a session that nobody else uses.
func (p *postgres) with(ctx context.Context, do func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return fault.E("peers.postgres", fault.Canceled, "", err)
	}
	s, err := p.take()
	if err != nil {
		return err
	}
	if err := do(s); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
	return nil
}

func (p *postgres) take() (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, nil
	}
	return p.connect()
}

func (p *postgres) ask(ctx context.Context, statement string) (said string, err error) {
	err = p.with(ctx, func(s *session) error {
		said, err = s.do([]byte(statement + ";\n"))
		return err
	})
	return said, err
}

// Write implements Intake.
func (p *postgres) Write(ctx context.Context, b *Batch) error {
	return p.with(ctx, func(s *session) error {
		_, err := s.do([]byte("COPY readings FROM STDIN;\n"), b.Rows, []byte("\\.\n"))
		return err
	})
}

// Count implements Intake.
func (p *postgres) Count(ctx context.Context) (uint64, error) {
	said, err := p.ask(ctx, "SELECT count(*) FROM readings")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(said, 10, 64)
}

// Process implements Intake: each connection has a process of its own.
func (p *postgres) Process() int { return 0 }

// Close implements Intake.
func (p *postgres) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.all {
		_ = s.in.Close()
		_, _ = io.Copy(io.Discard, s.out)
		_ = s.cmd.Wait() // how it ended is no news to anybody
	}
	return p.server.stop()
}
