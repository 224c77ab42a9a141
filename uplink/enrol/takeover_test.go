package enrol_test

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"testing"

	"voltbus/identity"
	"voltbus/testing/link"
	"voltbus/uplink/enrol"
)

// telling is a door that tells of each answer that it got.
type telling struct {
	enrol.Door
	answered chan error
}

// Ask implements enrol.Door.
func (d telling) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	b, err := d.Door.Ask(ctx, method, body)
	d.answered <- err
	return b, err
}

func TestANewKeyWaitsForTheConnectionThatTakesTheNameOver(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	way := link.New(t)
	way.Lead(h.bus.Addr())
	silent, _, err := p.Open(t.Context(), func(ctx context.Context, _ string, c *tls.Config, k *identity.Key, n string) (enrol.Door, error) {
		return stay(ctx, way.Addr(), c, k, n)
	})
	must(t, err)
	defer silent.Close()
	way.Hold(link.Up, true)
	way.Hold(link.Down, true)
	before := p.Keyring.Print()
	answered, rotated := make(chan error, 100), make(chan error, 1)
	go func() {
		_, err := p.Rotate(t.Context(), func(ctx context.Context, a string, c *tls.Config, k *identity.Key, n string) (enrol.Door, error) {
			d, err := knock(ctx, a, c, k, n)
			return telling{d, answered}, err
		})
		rotated <- err
	}()
	if err := <-answered; err == nil {
		t.Fatal("the silent connection lost its name before it was asked")
	}
	for {
		door, _, err := p.Open(t.Context(), stay)
		must(t, err)
		if _, err = door.Ask(t.Context(), enrol.MethodWho, nil); err == nil {
			defer door.Close()
			defer p.Connection.Attach(door.Ask)()
			break
		}
		door.Close()
	}
	if err := <-rotated; err != nil {
		t.Errorf("the new key: %v", err)
	}
	if p.Keyring.Print() == before {
		t.Error("the key is the old one")
	}
}

func TestAConnectionThatSettlesLateDoesNotTakeAnotherKeyForItsOwn(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	crashed := errors.New("the answer is lost")
	lost := func(after bool) enrol.Dial {
		return func(ctx context.Context, a string, c *tls.Config, k *identity.Key, n string) (enrol.Door, error) {
			d, err := knock(ctx, a, c, k, n)
			return broken{d, crashed, after}, err
		}
	}
	if _, err := p.Rotate(t.Context(), lost(true)); err == nil {
		t.Fatal("the answer was not lost")
	}
	late, err := p.Keyring.Read() // as a connection reads them that is slow to come about
	must(t, err)
	_, err = p.Rotate(t.Context(), knock)
	must(t, err)
	known := p.Keyring.Print()
	if _, err := p.Rotate(t.Context(), lost(false)); err == nil {
		t.Fatal("the question was not lost")
	}
	must(t, p.Keyring.Settled(late[0]))
	if p.Keyring.Print() != known {
		t.Error("the key that the parent knows was replaced by one that it never saw")
	}
	must(t, check(t, p))
}

func TestRotationsAtOnceLeaveAKeyThatTheParentTakes(t *testing.T) {
	h := openHouse(t, "campus", t.TempDir(), &clock{})
	p, _ := h.joined("plant")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := p.Rotate(t.Context(), knock); err != nil {
				t.Errorf("one of several: %v", err)
			}
		})
	}
	group.Wait()
	must(t, check(t, p))
}
