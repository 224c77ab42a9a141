//go:build !linux

package channel

import (
	"context"
	"net"
	"sync"

	"voltbus/protocol/dnp3/station"
)

// poller is not there: each connection has a goroutine of its own.
type poller struct{}

func newPoller(int) *poller { return nil }

func (*poller) start(context.Context, *sync.WaitGroup, *station.Pool) {}

// polled is never made.
type polled struct{}

func newPolled(*conn, *net.TCPConn) *polled { return nil }

func (*polled) Read([]byte) (int, error)  { return 0, net.ErrClosed }
func (*polled) Write([]byte) (int, error) { return 0, net.ErrClosed }
func (*polled) Close() error              { return net.ErrClosed }
func (*polled) run() error                { return net.ErrClosed }
func (*polled) hold(bool)                 {}
