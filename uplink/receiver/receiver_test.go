package receiver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/receiver"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ready is a recorder that has each block on disk at once.
type ready struct{}

func (ready) Forward(context.Context, *point.Block, []byte) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

func (ready) Paused() error { return nil }

// parent runs a receiver with the child "plant", which may record below "plant".
func parent(t *testing.T, cfg receiver.Config) *receiver.Receiver {
	t.Helper()
	cfg.Name, cfg.Own = "campus", func(string) bool { return false }
	cfg.Child = func(name string) (receiver.Child, bool) {
		return receiver.Child{Grants: identity.Grants{Record: []point.Pattern{"plant/**"}}}, name == "plant"
	}
	r := receiver.New(cfg, ready{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// send sends the first block of an origin until it is answered.
func send(t *testing.T, r *receiver.Receiver, origin string, path point.Path) uplink.Answer {
	t.Helper()
	b := &point.Block{Origin: origin, Sequence: 1, Points: []point.Path{path}}
	b.Append(0, &point.Sample{Value: point.IntOf(1)})
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	frame := uplink.Frame{Epoch: 1, Block: data}
	answers := make(chan uplink.Answer, 1)
	for { // what comes before Run is not answered
		r.Receive("plant", uplink.Normal, frame.Append(nil), func(a uplink.Answer) {
			select {
			case answers <- a:
			default: // to one that was sent again
			}
		})
		select {
		case a := <-answers:
			return a
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// remembered returns the origins in a file.
func remembered(t *testing.T, file string) []string {
	t.Helper()
	owners := map[string]string{}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &owners)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(owners))
}

func TestOriginsThatAChildInventsAreBounded(t *testing.T) {
	cfg := receiver.Config{File: filepath.Join(t.TempDir(), "origins.json"), Origins: 3}
	r := parent(t, cfg)
	for i := range 3 {
		if a := send(t, r, fmt.Sprintf("elsewhere~%d", i), "elsewhere/temp"); a.Failure == nil || a.Failure.Missing == "" {
			t.Errorf("a point that it may not record: %+v", a)
		}
		if a := send(t, r, fmt.Sprintf("good~%d", i), "plant/temp"); a.Failure != nil || a.Sequence != 1 {
			t.Errorf("origin %d: %+v", i, a)
		}
	}
	for _, r := range []*receiver.Receiver{r, parent(t, cfg)} { // also after a restart
		a := send(t, r, "invented~1", "plant/temp")
		if !fault.Is(a.Err(), fault.Refused) || !strings.Contains(a.Failure.Message, "sent from 3 origins already") {
			t.Errorf("one more: %+v", a)
		}
		if a := send(t, r, "good~1", "plant/temp"); a.Failure != nil || a.Sequence != 1 {
			t.Errorf("one that is known: %+v", a)
		}
		if got := remembered(t, cfg.File); !slices.Equal(got, []string{"good~0", "good~1", "good~2"}) {
			t.Errorf("remembered: %v", got)
		}
	}
}
