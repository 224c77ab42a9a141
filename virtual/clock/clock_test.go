//go:build linux

package clock_test

import (
	"io"
	"net"
	"syscall"
	"testing"

	"voltbus/virtual/clock"
)

func TestSocketsAreServedWhileTheClockIsHeld(t *testing.T) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	h, err := clock.NewHold(pipe[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { // writes to the held pipe what came by a socket
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		if err == nil {
			_, _ = syscall.Write(pipe[1], text) // what is missing is seen below
		}
		_ = syscall.Close(pipe[1])
	}()
	go func() {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("go on"))
		_ = conn.Close()
	}()
	text, err := io.ReadAll(h)
	if err != nil || string(text) != "go on" {
		t.Errorf("it read %q, %v", text, err)
	}
}
