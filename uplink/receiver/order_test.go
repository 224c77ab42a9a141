package receiver_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/receiver"
	"voltbus/wire"
)

// slow is a recorder whose blocks are on disk when the test says so.
type slow struct {
	disk chan struct{} // closed: they are

	mu  sync.Mutex
	had []uint64 // first and last sequence of each block that it was given
}

func (s *slow) Forward(_ context.Context, b *point.Block, _ []byte) (func(context.Context) error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had = append(s.had, b.FirstSequence(), b.Sequence)
	return func(ctx context.Context) error {
		select {
		case <-s.disk:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

func (s *slow) Paused() error { return nil }

// nest is a receiver over it, with the child "plant", in a bubble.
func nest(t *testing.T, cfg receiver.Config) (*receiver.Receiver, *slow) {
	t.Helper()
	cfg.Name, cfg.Own = "campus", func(string) bool { return false }
	cfg.Child = func(name string) (receiver.Child, bool) {
		return receiver.Child{Grants: identity.Grants{Record: []point.Pattern{"plant/**"}}}, name == "plant"
	}
	s := &slow{disk: make(chan struct{})}
	r := receiver.New(cfg, s, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return r, s
}

// frameOf is a frame with blocks from one sequence to another, with a sample each.
func frameOf(t *testing.T, first, last uint64) []byte {
	t.Helper()
	b := &point.Block{Origin: plantOrigin, First: first, Sequence: last, Before: first - 1, Points: []point.Path{"plant/temp"}}
	for range last - first + 1 {
		b.Append(0, &point.Sample{Value: point.IntOf(1)})
	}
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	frame := uplink.Frame{Epoch: 1, Previous: first - 1, Block: data}
	return frame.Append(nil)
}

func TestABlockThatComesAgainWhileItIsOnItsWayToTheDiskIsAnsweredWhenItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, recorder := nest(t, receiver.Config{})
		r.Receive("plant", uplink.Normal, frameOf(t, 1, 1), func(uplink.Answer) {}) // the connection is lost before the answer
		synctest.Wait()
		answers := make(chan uplink.Answer, 2)
		r.Receive("plant", uplink.Normal, frameOf(t, 1, 1), func(a uplink.Answer) { answers <- a })
		synctest.Wait()
		select {
		case a := <-answers:
			t.Errorf("before it is on disk: %+v", a)
		default:
		}
		close(recorder.disk)
		synctest.Wait()
		select {
		case a := <-answers:
			if a.Sequence != 1 || a.Failure != nil {
				t.Errorf("when it is on disk: %+v", a)
			}
		default:
			t.Error("it is on disk, and nobody is told")
		}
	})
}

func TestABlockWhoseWayCannotBeRememberedStandsInTheLogOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		r, recorder := nest(t, receiver.Config{File: filepath.Join(dir, "origins.json")})
		close(recorder.disk)
		give := func(first, last uint64) uplink.Answer {
			answers := make(chan uplink.Answer, 1)
			r.Receive("plant", uplink.Normal, frameOf(t, first, last), func(a uplink.Answer) { answers <- a })
			return <-answers
		}
		if a := give(1, 3); !fault.Is(a.Err(), fault.Unavailable) || a.Sequence != 0 {
			t.Errorf("without a place for the file: %+v", a)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if a := give(1, 5); !a.Expected || a.Sequence != 3 { // the sender merges anew
			t.Errorf("with one, together with what follows: %+v", a)
		}
		if a := give(4, 5); a.Failure != nil || a.Sequence != 5 {
			t.Errorf("what follows: %+v", a)
		}
		if want := []uint64{1, 3, 4, 5}; !slices.Equal(recorder.had, want) {
			t.Errorf("the recorder got %v, want %v", recorder.had, want)
		}
	})
}

func TestANodeThatIsStartingGreetsNobody(t *testing.T) {
	r := receiver.New(receiver.Config{
		Name: "campus", Child: func(string) (receiver.Child, bool) { return receiver.Child{}, true },
	}, ready{}, nil)
	if _, err := r.Hello("plant", &uplink.Hello{Protocol: uplink.Protocol}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("before it takes blocks: %v", err)
	}
}
