package peers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/fault"
	"voltbus/lab/rig/scan"
)

const installMosquitto = "on Debian: apt-get install mosquitto"

// mosquitto is Eclipse Mosquitto: MQTT 5 over TLS at QoS 0, with names and passwords.
func mosquitto() Broker {
	return Broker{
		Name: "Mosquitto",
		Find: func() error { _, err := find("mosquitto", installMosquitto, "/usr/sbin"); return err },
		scrape: func(ctx context.Context, s *Scrapes) ([]scan.Scrape, error) {
			n, err := startMosquitto(ctx, s.Dir)
			if err != nil {
				return nil, err
			}
			return s.over(ctx, n)
		},
	}
}

// mqtt is a network of MQTT clients.
type mqtt struct {
	server  *server
	config  *tls.Config
	clients []*paho.Client
	sender  *paho.Client
	out     *gathering
}

// The name and password of all clients.
const (
	mqttUser     = "lab"
	mqttPassword = "only-on-loopback"
)

func startMosquitto(ctx context.Context, dir string) (*mqtt, error) {
	program, err := find("mosquitto", installMosquitto, "/usr/sbin")
	if err != nil {
		return nil, err
	}
	cert, err := newCertificate(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	file, err := writeMosquitto(ctx, dir, cert, port)
	if err != nil {
		return nil, err
	}
	srv, err := start(ctx, exec.Command(program, "-c", file), loopback(port)) //nolint:noctx // stop ends it
	if err != nil {
		return nil, err
	}
	m := &mqtt{server: srv, config: cert.client}
	if m.sender, m.out, err = m.connect(ctx, func() {}); err != nil {
		return nil, errors.Join(err, m.close())
	}
	m.out.gather = true
	return m, nil
}

// writeMosquitto writes the broker's configuration. Nothing of what clients do not fetch in time is
// dropped.
func writeMosquitto(ctx context.Context, dir string, cert *certificate, port int) (string, error) {
	passwords := filepath.Join(dir, "passwords")
	passwd, err := find("mosquitto_passwd", installMosquitto)
	if err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, passwd, "-b", "-c", passwords, mqttUser, mqttPassword).CombinedOutput(); err != nil {
		return "", fmt.Errorf("write the broker's passwords: %w: %s", err, out)
	}
	me, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("find out who runs this: %w", err)
	}
	file := filepath.Join(dir, "mosquitto.conf")
	text := fmt.Sprintf(`user %s
listener %d 127.0.0.1
cafile %s
certfile %s
keyfile %s
allow_anonymous false
password_file %s
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay true
persistence false
log_type error
`, me.Username, port, cert.certFile, cert.certFile, cert.keyFile, passwords)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// gathering is a connection whose writes may be gathered: the client library writes a message in
// several pieces, each of which would be encrypted and sent alone.
type gathering struct {
	net.Conn
	w      *bufio.Writer
	gather bool // set when nothing is written
}

// Write implements net.Conn.
func (g *gathering) Write(p []byte) (int, error) {
	n, err := g.w.Write(p)
	if err == nil && !g.gather {
		err = g.w.Flush()
	}
	return n, err
}

// connect connects a client; receive is called with each message.
func (m *mqtt) connect(ctx context.Context, receive func()) (*paho.Client, *gathering, error) {
	conn, err := (&tls.Dialer{Config: m.config}).DialContext(ctx, "tcp", m.server.address)
	if err != nil {
		return nil, nil, fault.E("peers.mqtt", fault.Unavailable, m.server.address, err)
	}
	out := &gathering{Conn: conn, w: bufio.NewWriterSize(conn, 64<<10)}
	client := paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(out),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(paho.PublishReceived) (bool, error) { receive(); return true, nil },
		},
	})
	_, err = client.Connect(ctx, &paho.Connect{
		ClientID: fmt.Sprint("lab", len(m.clients)), CleanStart: true, KeepAlive: 600,
		Username: mqttUser, UsernameFlag: true, Password: []byte(mqttPassword), PasswordFlag: true,
	})
	if err != nil {
		return nil, nil, errors.Join(fault.E("peers.mqtt", fault.Unavailable, m.server.address, err), conn.Close())
	}
	m.clients = append(m.clients, client)
	return client, out, nil
}

func (m *mqtt) publish(ctx context.Context, msg *message) error {
	_, err := m.sender.Publish(ctx, &paho.Publish{Topic: msg.topic, Payload: msg.body})
	return err
}

func (m *mqtt) flush() error { return m.out.w.Flush() }

func (m *mqtt) listen(ctx context.Context, receive func()) error {
	client, _, err := m.connect(ctx, receive)
	if err != nil {
		return err
	}
	_, err = client.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "campus/#"}}})
	return err
}

func (m *mqtt) close() error {
	for _, c := range m.clients {
		_ = c.Disconnect(&paho.Disconnect{}) // the broker is stopped next in any case
		<-c.Done()
	}
	return m.server.stop()
}
