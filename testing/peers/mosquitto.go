package peers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Mosquitto is a broker of Eclipse Mosquitto on loopback. It is used by one goroutine.
type Mosquitto struct {
	Addr   string // host:port
	Secure string // the same with TLS, "" without a certificate
	CA     string // the PEM file with the authority of the certificate

	program string
	dir     string
	cmd     *exec.Cmd
	ended   chan struct{}
}

// StartMosquitto starts a broker that lets anybody in, also over TLS if a certificate and its key are given as PEM. It is ended
// when the test ends. The test is skipped, loudly, where the broker is not installed.
func StartMosquitto(t testing.TB, certificate, key []byte) *Mosquitto {
	t.Helper()
	program, err := exec.LookPath("mosquitto")
	if err != nil {
		program = "/usr/sbin/mosquitto" // which is not on every path
		if _, err := os.Stat(program); err != nil {
			t.Skip("NOT TESTED: Mosquitto is not installed: on Debian, apt-get install mosquitto")
		}
	}
	m := &Mosquitto{program: program, dir: t.TempDir(), Addr: net.JoinHostPort("127.0.0.1", FreePort(t))}
	conf := "allow_anonymous true\npersistence false\nmax_queued_messages 0\nuser root\nlistener " + port(m.Addr) + " 127.0.0.1\n"
	if certificate != nil {
		m.Secure, m.CA = net.JoinHostPort("127.0.0.1", FreePort(t)), filepath.Join(m.dir, "cert.pem")
		m.write(t, "cert.pem", certificate)
		m.write(t, "key.pem", key)
		conf += fmt.Sprintf("listener %s 127.0.0.1\ncertfile %s\nkeyfile %s\n", port(m.Secure), m.CA, filepath.Join(m.dir, "key.pem"))
	}
	m.write(t, "mosquitto.conf", []byte(conf))
	m.Start(t)
	t.Cleanup(m.Kill)
	return m
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func (m *Mosquitto) write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Start starts a broker that was killed, on the same ports, and waits until it answers.
func (m *Mosquitto) Start(t testing.TB) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), m.program, "-c", filepath.Join(m.dir, "mosquitto.conf"))
	log, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	m.cmd, m.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for _, address := range []string{m.Addr, m.Secure} {
		if address != "" {
			m.await(t, address)
		}
	}
}

// await waits until something listens at an address.
func (m *Mosquitto) await(t testing.TB, address string) {
	t.Helper()
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var d net.Dialer
	for {
		conn, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-tick.C:
			continue
		case <-m.ended:
		case <-limit.C:
		}
		said, _ := os.ReadFile(filepath.Join(m.dir, "log"))
		t.Fatalf("mosquitto does not listen at %s\n%s", address, said)
	}
}

// Kill ends the broker at once. It may be called twice.
func (m *Mosquitto) Kill() {
	_ = m.cmd.Process.Kill()
	<-m.ended
}
