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

// openMosquittoFleet starts Mosquitto in a directory for clients with these names and passwords. It keeps nothing on disk.
func openMosquittoFleet(ctx context.Context, dir string, passwords map[string]string) (*FleetBroker, error) {
	program, err := find("mosquitto", installMosquitto, "/usr/sbin")
	if err != nil {
		return nil, err
	}
	d, err := newDoors(dir)
	if err != nil {
		return nil, err
	}
	users, err := writePasswords(ctx, dir, passwords)
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
`, me.Username, users, d.plain, d.secure, d.cert.certFile, d.cert.keyFile)
	file := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the broker's configuration: %w", err)
	}
	return d.start(ctx, exec.Command(program, "-c", file)) //nolint:noctx // stop ends it
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
