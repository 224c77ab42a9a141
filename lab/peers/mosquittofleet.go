package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
)

// FleetBroker is an MQTT broker of another project that serves a fleet of devices, with and without TLS.
type FleetBroker struct {
	Plain, Secure string // where clients connect
	CA            string // file with what signed its certificate
	server        *server
}

// FindMosquitto returns nil if Mosquitto is here, else how to get it.
func FindMosquitto() error { return mosquitto().Find() }

// OpenMosquitto starts Mosquitto in a directory for clients with these names and passwords. It keeps nothing on disk.
func OpenMosquitto(ctx context.Context, dir string, passwords map[string]string) (*FleetBroker, error) {
	program, err := find("mosquitto", installMosquitto, "/usr/sbin")
	if err != nil {
		return nil, err
	}
	cert, err := newCertificate(dir)
	if err != nil {
		return nil, err
	}
	users, err := writePasswords(ctx, dir, passwords)
	if err != nil {
		return nil, err
	}
	plain, err := freePort()
	if err != nil {
		return nil, err
	}
	secure, err := freePort()
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("find out who runs this: %w", err)
	}
	text := fmt.Sprintf(`user %s
per_listener_settings false
allow_anonymous false
password_file %s
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay true
persistence false
log_type error
listener %d 127.0.0.1
listener %d 127.0.0.1
certfile %s
keyfile %s
`, me.Username, users, plain, secure, cert.certFile, cert.keyFile)
	file := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the broker's configuration: %w", err)
	}
	b := &FleetBroker{Plain: loopback(plain), Secure: loopback(secure), CA: cert.certFile}
	b.server, err = start(ctx, exec.Command(program, "-c", file), b.Secure) //nolint:noctx // stop ends it
	return b, err
}

// writePasswords writes a file of hashed passwords.
func writePasswords(ctx context.Context, dir string, passwords map[string]string) (file string, err error) {
	passwd, err := find("mosquitto_passwd", installMosquitto)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for name, password := range passwords {
		fmt.Fprintf(&b, "%s:%s\n", name, password)
	}
	file = filepath.Join(dir, "passwords")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return "", fmt.Errorf("write the broker's passwords: %w", err)
	}
	if out, err := exec.CommandContext(ctx, passwd, "-U", file).CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("hash the broker's passwords: %w", err), errors.New(string(out)))
	}
	return file, nil
}

// Process is the number of the broker's process.
func (b *FleetBroker) Process() int { return b.server.process() }

// Close stops the broker.
func (b *FleetBroker) Close() error { return b.server.stop() }
