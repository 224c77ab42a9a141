package channel_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"voltbus/protocol/dnp3/channel"
)

func TestAListenerTurnsAwayAddressesThatAreNotAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		allowed string
		comes   bool
	}{
		"the address itself":  {"127.0.0.1", true},
		"a range around it":   {"127.0.0.0/8", true},
		"mapped into IPv6":    {"::ffff:127.0.0.1", true},
		"another address":     {"127.0.0.2", false},
		"a range beside it":   {"10.0.0.0/8", false},
		"the other IP's zero": {"::/0", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 0)
			allowed, err := channel.ParseAllowed(c.allowed)
			if err != nil {
				t.Fatal(err)
			}
			inner, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
			if err != nil {
				t.Fatal(err)
			}
			refused := make(chan net.Addr, 10)
			o, there := s.outstation(10)
			s.serve(channel.Allow(inner, []netip.Prefix{allowed}, func(from net.Addr) {
				select {
				case refused <- from:
				default:
				}
			}), there)
			_, handler, here := s.master(10)
			s.dial(channel.DialTCP(inner.Addr().String(), nil), here)
			report(o, 7)
			if c.comes {
				expect(t, handler, 7)
				return
			}
			if from := <-refused; !strings.HasPrefix(from.String(), "127.0.0.1:") {
				t.Errorf("%v was turned away", from)
			}
		})
	}
}

func TestWhatIsNoAddressIsSaidSo(t *testing.T) {
	for text, want := range map[string]string{
		"relay":             "no address",
		"10.0.0.0/33":       "no range",
		"fe80::1%eth0":      "no address",
		"10.0.0.5:20000":    "no address",
		"::ffff:10.0.0.0/8": "no range",
	} {
		if _, err := channel.ParseAllowed(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if p, err := channel.ParseAllowed("10.1.2.3/8"); err != nil || p.String() != "10.0.0.0/8" {
		t.Errorf("%v, %v", p, err)
	}
}

// deaf is an address that nobody listens to.
func deaf(t *testing.T) string {
	t.Helper()
	listener, err := channel.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func TestTheNextAddressIsTriedWhenOneCannotBeReached(t *testing.T) {
	s := newSite(t, 0)
	o, there := s.outstation(10)
	_, handler, here := s.master(10)
	alive := s.listen(there)
	online := s.dial(channel.DialFirst(channel.DialTCP(deaf(t), nil), channel.DialTCP(alive, nil)), here)
	report(o, 7)
	expect(t, handler, 7)
	if peer := <-online; peer != alive {
		t.Errorf("connected to %s instead of %s", peer, alive)
	}
}

func TestAnAddressThatSaysNothingLeavesTimeForTheNext(t *testing.T) {
	silent := func(ctx context.Context) (io.ReadWriteCloser, error) {
		<-ctx.Done()
		return nil, errors.New("the first says nothing")
	}
	refuses := func(context.Context) (io.ReadWriteCloser, error) { return nil, errors.New("the second refuses") }
	ctx, cancel := context.WithTimeout(t.Context(), patience/100)
	defer cancel()
	_, err := channel.DialFirst(silent, refuses)(ctx)
	if err == nil || !strings.Contains(err.Error(), "first says nothing") || !strings.Contains(err.Error(), "second refuses") {
		t.Errorf("%v: does not say what is wrong with each", err)
	}
}
