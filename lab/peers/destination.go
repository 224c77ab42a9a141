package peers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // speaks to MariaDB
	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
)

// Destination is a server that keeps what a node sends to it.
type Destination struct {
	Name string // such as mariadb
	Find func() error
	Open func(ctx context.Context, dir string) (*Receiver, error)
}

// Destinations returns the servers that a node can send to and that this machine may have.
func Destinations() []Destination {
	return []Destination{
		{Name: "mariadb", Find: func() error { _, err := mariaPrograms(); return err }, Open: openMaria},
		{Name: "rabbitmq", Find: rabbitMQ().Find, Open: openRabbit},
		{Name: "influxdb", Find: influxDB().Find, Open: openLines},
	}
}

// Receiver is a server that runs. One goroutine uses it.
type Receiver struct {
	Entry string // what the section sinks says of it, in YAML's flow style, without name and points

	server *server
	again  func(context.Context) (*server, error)
	count  func(context.Context) (rows, distinct uint64, err error)
	close  func() error // of what is beside the server; nil for nothing
}

// Kill ends the server as a power cut would, and waits until it is gone.
func (r *Receiver) Kill(ctx context.Context) error {
	_ = syscall.Kill(-r.server.cmd.Process.Pid, syscall.SIGKILL)
	<-r.server.ended
	return r.server.waitUntilNobodyListens(ctx)
}

// Start starts the server again with what it has.
func (r *Receiver) Start(ctx context.Context) (err error) {
	r.server, err = r.again(ctx)
	return err
}

// Count returns how many readings are there, and how many have a point and time that no other has.
func (r *Receiver) Count(ctx context.Context) (rows, distinct uint64, err error) { return r.count(ctx) }

// Close ends the server.
func (r *Receiver) Close() error {
	var err error
	if r.close != nil {
		err = r.close()
	}
	return errors.Join(r.server.stop(), err)
}

const installMaria = "on Debian: apt-get install mariadb-server-core"

// mariaPrograms are the server, and the program that makes its directory.
func mariaPrograms() ([2]string, error) {
	server, err := find("mariadbd", installMaria, "/usr/sbin")
	install, missing := find("mariadb-install-db", installMaria)
	return [2]string{server, install}, errors.Join(err, missing)
}

func openMaria(ctx context.Context, dir string) (*Receiver, error) {
	programs, err := mariaPrograms()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	data, first, secret := filepath.Join(dir, "maria"), filepath.Join(dir, "first.sql"), filepath.Join(dir, "maria-password")
	install := exec.CommandContext(ctx, programs[1], "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root")
	if text, err := install.CombinedOutput(); err != nil {
		return nil, fault.E("peers.mariadb", fault.Unavailable, data, fmt.Errorf("%w: %s", err, text))
	}
	const statements = "CREATE DATABASE IF NOT EXISTS lab;\nCREATE USER IF NOT EXISTS lab@'%' IDENTIFIED BY 'lab';\nGRANT ALL ON lab.* TO lab@'%';\n"
	if err := errors.Join(os.WriteFile(first, []byte(statements), 0o600), os.WriteFile(secret, []byte("lab\n"), 0o600)); err != nil {
		return nil, fault.E("peers.mariadb", fault.Unavailable, dir, err)
	}
	r := &Receiver{Entry: fmt.Sprintf("kind: mysql, url: %q, user: lab, password_file: %q, into: readings", "mysql://"+loopback(port)+"/lab", secret)}
	r.again = func(ctx context.Context) (*server, error) {
		cmd := exec.Command(programs[0], "--no-defaults", "--user=root", "--datadir="+data, "--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), //nolint:noctx // stop ends it
			"--socket="+filepath.Join(dir, "maria.socket"), "--init-file="+first, "--innodb-buffer-pool-size=256M", "--skip-name-resolve", "--pid-file="+filepath.Join(dir, "maria.pid"))
		return start(ctx, cmd, loopback(port))
	}
	r.count = func(ctx context.Context) (rows, distinct uint64, err error) {
		db, err := sql.Open("mysql", "lab:lab@tcp("+loopback(port)+")/lab")
		if err != nil {
			return 0, 0, err
		}
		defer db.Close()
		err = db.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT point, time) FROM readings").Scan(&rows, &distinct)
		return rows, distinct, err
	}
	return r, r.Start(ctx)
}

func openRabbit(ctx context.Context, dir string) (_ *Receiver, err error) {
	cert, err := newCertificate(dir)
	if err != nil {
		return nil, err
	}
	b := &rabbit{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	port, err := b.startServers(ctx, dir, rabbitSetup{cert: cert})
	if err != nil {
		return nil, err
	}
	secret := filepath.Join(dir, "rabbit-password")
	if err := os.WriteFile(secret, []byte("guest\n"), 0o600); err != nil {
		return nil, fault.E("peers.rabbit", fault.Unavailable, secret, err)
	}
	mapper, broker := b.servers[0], b.servers[1]
	r := &Receiver{
		Entry:  fmt.Sprintf("kind: rabbitmq, url: %q, ca: %q, user: guest, password_file: %q, into: readings", "amqps://"+loopback(port), cert.certFile, secret),
		server: broker, close: mapper.stop,
	}
	r.again = func(ctx context.Context) (*server, error) {
		cmd := exec.Command(broker.cmd.Path) //nolint:noctx // stop ends it
		cmd.Env = broker.cmd.Env
		return start(ctx, cmd, broker.address)
	}
	r.count = func(ctx context.Context) (rows, distinct uint64, err error) {
		conn, err := amqp.DialTLS("amqps://guest:guest@"+loopback(port)+"/", cert.client)
		if err != nil {
			return 0, 0, fault.E("peers.rabbit", fault.Unavailable, "", err)
		}
		defer conn.Close()
		return countMessages(ctx, conn, "readings")
	}
	return r, nil
}

// countMessages takes all messages of a queue, and counts them and their identifiers.
func countMessages(ctx context.Context, conn *amqp.Connection, queue string) (rows, distinct uint64, err error) {
	channel, err := conn.Channel()
	if err != nil {
		return 0, 0, err
	}
	q, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		return 0, 0, err
	}
	messages, err := channel.ConsumeWithContext(ctx, queue, "", true, true, false, false, nil)
	if err != nil {
		return 0, 0, err
	}
	seen := make(map[string]struct{}, q.Messages)
	for rows < uint64(q.Messages) {
		select {
		case m, open := <-messages:
			if !open {
				return rows, uint64(len(seen)), fault.E("peers.rabbit", fault.Unavailable, queue, errors.New("the connection was lost"))
			}
			rows++
			seen[m.MessageId] = struct{}{}
		case <-ctx.Done():
			return rows, uint64(len(seen)), ctx.Err()
		}
	}
	return rows, uint64(len(seen)), nil
}

// openLines opens an InfluxDB. Its rows have a point and time that no other has.
func openLines(ctx context.Context, dir string) (*Receiver, error) {
	in, err := openInflux(ctx, dir)
	if err != nil {
		return nil, err
	}
	db, ok := in.(*influx)
	if !ok {
		return nil, errors.Join(errors.New("it is no InfluxDB"), in.Close())
	}
	srv := db.server
	r := &Receiver{Entry: fmt.Sprintf("kind: influxdb, url: %q, into: lab", "http://"+srv.address+"/write"), server: srv}
	r.again = func(ctx context.Context) (*server, error) {
		cmd := exec.Command(srv.cmd.Path, srv.cmd.Args[1:]...) //nolint:noctx,gosec // stop ends it
		return start(ctx, cmd, srv.address)
	}
	r.count = func(ctx context.Context) (rows, distinct uint64, err error) {
		rows, err = db.of(ctx, "SELECT count(value) FROM reading")
		return rows, rows, err
	}
	r.close = func() error {
		db.web.close()
		return nil
	}
	return r, nil
}
