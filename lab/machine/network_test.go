package machine_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"voltbus/fault"
	"voltbus/lab/machine"
)

func TestMachinesOfANetworkAreReached(t *testing.T) {
	n, err := machine.NewNetwork(2)
	if fault.Is(err, fault.Unavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Remove(); err != nil {
			t.Error(err)
		}
		if err := n.Remove(); err != nil {
			t.Errorf("what is removed is removed again: %v", err)
		}
	})
	if n.Address(0) == n.Address(1) {
		t.Errorf("both machines have the address %s", n.Address(0))
	}
	// This test at a machine accepts one connection, and says so.
	program := n.Program(1, []string{os.Args[0], "-test.run=^TestAtAMachine$"})
	cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
	cmd.Env = append(os.Environ(), "VOLTBUS_TEST_MACHINE="+n.Address(1))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	port := make([]byte, 5)
	if _, err := io.ReadFull(out, port); err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", net.JoinHostPort(n.Address(1), string(port)))
	if err != nil {
		t.Fatalf("the machine is not reached: %v", err)
	}
	_ = conn.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAtAMachine(t *testing.T) {
	address := os.Getenv("VOLTBUS_TEST_MACHINE")
	if address == "" {
		t.Skip("runs at a machine of another test")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_, _ = os.Stdout.WriteString(port)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
