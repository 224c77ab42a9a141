package peers

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"testing"
)

// FreePort returns a port of loopback for a program that has to be told one. See Reserve.
func FreePort(t testing.TB) string {
	t.Helper()
	port, claim, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = claim.Close() })
	return port
}

// Reserve returns a port of loopback that nobody has, by TCP or UDP. The kernel gives it to no
// connection and to nobody who asks for any port, and Reserve to no other until the claim is closed.
func Reserve() (port string, claim io.Closer, err error) {
	first, last := besides(ephemeral())
	const tries = 1000
	var l net.ListenConfig
	for range tries {
		port = strconv.Itoa(first + rand.IntN(last-first+1)) //nolint:gosec // any will do
		claim, err = l.Listen(context.Background(), "unix", "@voltbus-test-port-"+port)
		if err != nil {
			continue // another test has it
		}
		if err = vacant(net.JoinHostPort("127.0.0.1", port)); err == nil {
			return port, claim, nil
		}
		_ = claim.Close()
	}
	return "", nil, fmt.Errorf("found no free port from %d to %d: %w", first, last, err)
}

// vacant returns an error if somebody has a port.
func vacant(address string) error {
	var l net.ListenConfig
	stream, err := l.Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	defer stream.Close()
	packets, err := l.ListenPacket(context.Background(), "udp", address)
	if err != nil {
		return err
	}
	return packets.Close()
}

// besides returns the larger range of ports that the kernel does not choose from.
func besides(low, high int) (first, last int) {
	const least, most = 12_000, 1<<16 - 1 // below are ports of known services, some of which browsers refuse
	if most-high > low-least {
		return high + 1, most
	}
	return least, low - 1
}

// ephemeral returns the ports that the kernel chooses from.
func ephemeral() (low, high int) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(b), &low, &high)
	}
	if err != nil {
		return 32768, 60999 // the kernel's default
	}
	return low, high
}
