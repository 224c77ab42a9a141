package channel_test

import (
	"context"
	"io"
	"os"
	"testing"

	"voltbus/protocol/dnp3/channel"
	"voltbus/testing/peers"
)

func TestEventsArriveOverASerialLine(t *testing.T) {
	s := newSite(t, 0)
	a, b, _ := peers.SerialLine(t)
	open := func(name string) channel.Dialer {
		return func(context.Context) (io.ReadWriteCloser, error) { return os.OpenFile(name, os.O_RDWR, 0) }
	}
	o, there := s.outstation(10)
	_, handler, here := s.master(10)
	s.dial(open(a), there)
	s.dial(open(b), here)
	report(o, 7)
	expect(t, handler, 7)
}
