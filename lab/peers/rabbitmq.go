package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
	"voltbus/lab/rig/scan"
)

const installRabbit = "on Debian: apt-get install rabbitmq-server"

// rabbitDir is where the server's own start script lies; the one on the path changes the user.
const rabbitDir = "/usr/lib/rabbitmq/bin"

// rabbitMQ is RabbitMQ: AMQP 0-9-1 over TLS, a topic exchange, a queue of its own for each listener,
// no acknowledgements.
func rabbitMQ() Broker {
	return Broker{
		Name: "RabbitMQ",
		Find: func() error {
			_, server := find(rabbitDir+"/rabbitmq-server", installRabbit)
			_, epmd := find("epmd", installRabbit)
			return errors.Join(server, epmd)
		},
		scrape: func(ctx context.Context, s *Scrapes) ([]scan.Scrape, error) {
			n, err := startRabbit(ctx, s.Dir)
			if err != nil {
				return nil, err
			}
			return s.over(ctx, n)
		},
	}
}

// rabbit is a network of AMQP clients.
type rabbit struct {
	servers []*server // in the order in which they were started
	dial    func() (*amqp.Connection, error)
	conns   []*amqp.Connection
	sender  *amqp.Channel
	readers sync.WaitGroup
}

const exchange = "scans"

func startRabbit(ctx context.Context, dir string) (_ *rabbit, err error) {
	cert, err := newCertificate(dir)
	if err != nil {
		return nil, err
	}
	r := &rabbit{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	port, err := r.startServers(ctx, dir, rabbitSetup{cert: cert})
	if err != nil {
		return r, err
	}
	r.dial = func() (*amqp.Connection, error) {
		return amqp.DialTLS("amqps://guest:guest@"+loopback(port)+"/", cert.client)
	}
	if r.sender, err = r.channel(); err != nil {
		return r, err
	}
	return r, r.sender.ExchangeDeclare(exchange, amqp.ExchangeTopic, false, true, false, false, nil)
}

// rabbitSetup is how a server is set up.
type rabbitSetup struct {
	cert    *certificate
	plugins string // its list of plugins in Erlang; "" for none
	more    string // lines of its configuration
	address string // where it listens when it is ready; "" for AMQP over TLS
}

// startServers starts the port mapper that the server would otherwise leave behind, and the server. It returns the port for AMQP over TLS.
func (r *rabbit) startServers(ctx context.Context, dir string, setup rabbitSetup) (port int, err error) {
	var ports [4]int // of the mapper, for AMQP, for AMQP over TLS, for the server's own tools
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return 0, err
		}
	}
	env := append(os.Environ(), "HOME="+dir, "ERL_EPMD_PORT="+strconv.Itoa(ports[0]), "ERL_EPMD_ADDRESS=127.0.0.1")
	mapper := exec.Command("epmd") //nolint:noctx // stop ends it
	mapper.Env = env
	srv, err := start(ctx, mapper, loopback(ports[0]))
	if err != nil {
		return 0, err
	}
	r.servers = append(r.servers, srv)
	file, plugins := filepath.Join(dir, "rabbitmq.conf"), filepath.Join(dir, "plugins")
	text := fmt.Sprintf(`listeners.tcp.1 = 127.0.0.1:%d
listeners.ssl.1 = 127.0.0.1:%d
ssl_options.cacertfile = %s
ssl_options.certfile = %s
ssl_options.keyfile = %s
ssl_options.versions.1 = tlsv1.3
log.console = false
log.file.level = error
`, ports[1], ports[2], setup.cert.certFile, setup.cert.certFile, setup.cert.keyFile) + setup.more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, fmt.Errorf("write the broker's configuration: %w", err)
	}
	if setup.plugins != "" {
		if err := os.WriteFile(plugins, []byte(setup.plugins), 0o600); err != nil {
			return 0, fmt.Errorf("write the broker's plugins: %w", err)
		}
	}
	broker := exec.Command(rabbitDir + "/rabbitmq-server") //nolint:noctx // stop ends it
	broker.Env = append(env,
		"RABBITMQ_NODENAME=lab@localhost", "RABBITMQ_CONFIG_FILE="+file, "RABBITMQ_MNESIA_BASE="+dir+"/data",
		"RABBITMQ_LOG_BASE="+dir+"/log", "RABBITMQ_ENABLED_PLUGINS_FILE="+plugins, "RABBITMQ_PID_FILE="+dir+"/pid",
		"RABBITMQ_DIST_PORT="+strconv.Itoa(ports[3]), "RABBITMQ_CONF_ENV_FILE="+dir+"/none",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}")
	address := setup.address
	if address == "" {
		address = loopback(ports[2])
	}
	if srv, err = start(ctx, broker, address); err != nil {
		return 0, err
	}
	r.servers = append(r.servers, srv)
	return ports[2], nil
}

// channel opens a connection with one channel.
func (r *rabbit) channel() (*amqp.Channel, error) {
	conn, err := r.dial()
	if err != nil {
		return nil, fault.E("peers.rabbit", fault.Unavailable, "", err)
	}
	r.conns = append(r.conns, conn)
	return conn.Channel()
}

func (r *rabbit) publish(ctx context.Context, m *message) error {
	return r.sender.PublishWithContext(ctx, exchange, m.dotted(), false, false, amqp.Publishing{Body: m.body})
}

func (r *rabbit) flush() error { return nil }

func (r *rabbit) listen(_ context.Context, receive func()) error {
	ch, err := r.channel()
	if err != nil {
		return err
	}
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		return fault.E("peers.rabbit", fault.Unavailable, "queue", err)
	}
	if err := ch.QueueBind(q.Name, "campus.#", exchange, false, nil); err != nil {
		return fault.E("peers.rabbit", fault.Unavailable, "queue", err)
	}
	deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		return fault.E("peers.rabbit", fault.Unavailable, "queue", err)
	}
	r.readers.Go(func() { // ends with the connection
		for range deliveries {
			receive()
		}
	})
	return nil
}

func (r *rabbit) close() error {
	for _, c := range r.conns {
		_ = c.Close() // the broker is stopped next in any case
	}
	r.readers.Wait()
	var errs []error
	for _, s := range slices.Backward(r.servers) {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}
