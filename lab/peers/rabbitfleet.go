package peers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"voltbus/fault"
)

// openRabbitFleet starts RabbitMQ with its MQTT plugin in a directory for clients with these names and passwords.
func openRabbitFleet(ctx context.Context, dir string, passwords map[string]string) (b *FleetBroker, err error) {
	d, err := newDoors(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	definitions, err := writeDefinitions(dir, passwords)
	if err != nil {
		return nil, err
	}
	setup := rabbitSetup{cert: d.cert, plugins: "[rabbitmq_mqtt].", address: d.Secure, more: fmt.Sprintf(`load_definitions = %s
mqtt.listeners.tcp.1 = 127.0.0.1:%d
mqtt.listeners.ssl.1 = 127.0.0.1:%d
mqtt.allow_anonymous = false
mqtt.tcp_listen_options.nodelay = true
`, definitions, d.plain, d.secure)}
	r := &rabbit{}
	port, err := r.startServers(ctx, dir, setup)
	d.servers = r.servers
	if err != nil {
		return nil, err
	}
	if err := waitUntilKnown(ctx, d.cert, port, passwords); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		return nil, fmt.Errorf("read which process the broker is: %w", err)
	}
	if d.pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return nil, fmt.Errorf("read which process the broker is: %w", err)
	}
	return d.FleetBroker, nil
}

// writeDefinitions writes a file with users, who may do all.
func writeDefinitions(dir string, passwords map[string]string) (string, error) {
	type user struct {
		Name string   `json:"name"`
		Hash string   `json:"password_hash"`
		How  string   `json:"hashing_algorithm"`
		Tags []string `json:"tags"`
	}
	type permission struct {
		User      string `json:"user"`
		Host      string `json:"vhost"`
		Configure string `json:"configure"`
		Write     string `json:"write"`
		Read      string `json:"read"`
	}
	var all struct {
		Hosts       []map[string]string `json:"vhosts"`
		Users       []user              `json:"users"`
		Permissions []permission        `json:"permissions"`
	}
	all.Hosts = []map[string]string{{"name": "/"}}
	for name, password := range passwords {
		salt := make([]byte, 4)
		_, _ = rand.Read(salt) // never fails
		sum := sha256.Sum256(append(salt[:4:4], password...))
		hash := base64.StdEncoding.EncodeToString(append(salt, sum[:]...))
		all.Users = append(all.Users, user{name, hash, "rabbit_password_hashing_sha256", []string{}})
		all.Permissions = append(all.Permissions, permission{name, "/", ".*", ".*", ".*"})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "definitions.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("write the broker's users: %w", err)
	}
	return file, nil
}

// sample is how many users are tried.
const sample = 20

// waitUntilKnown waits until the broker has taken its users, which it may do after it listens. It tries some of them.
func waitUntilKnown(ctx context.Context, cert *certificate, port int, passwords map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	tried := 0
	for name, password := range passwords {
		if tried++; tried > sample {
			break
		}
		for {
			conn, err := amqp.DialTLS("amqps://"+name+":"+password+"@"+loopback(port)+"/", cert.client)
			if err == nil {
				_ = conn.Close()
				break
			}
			select {
			case <-ctx.Done():
				return fault.E("peers.start", fault.Timeout, "RabbitMQ", fmt.Errorf("it does not know its user %s: %w", name, err))
			case <-tick.C:
			}
		}
	}
	return nil
}
