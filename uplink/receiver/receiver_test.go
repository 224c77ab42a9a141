package receiver_test

import (
	"bytes"
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
func parent(t testing.TB, cfg receiver.Config) *receiver.Receiver {
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
func send(t testing.TB, r *receiver.Receiver, origin string, path point.Path) uplink.Answer {
	t.Helper()
	return sendBlock(t, r, &point.Block{Origin: origin, Sequence: 1, Points: []point.Path{path}})
}

// sendBlock sends a block with a sample of its first point until it is answered.
func sendBlock(t testing.TB, r *receiver.Receiver, b *point.Block) uplink.Answer {
	t.Helper()
	b.Append(0, &point.Sample{Value: point.IntOf(1)})
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	frame := uplink.Frame{Epoch: 1, Previous: r.Positions([]string{b.Origin})[b.Origin].Sequence, Block: data}
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
	for d := json.NewDecoder(bytes.NewReader(data)); err == nil && d.More(); {
		var some map[string]string
		err = d.Decode(&some)
		maps.Copy(owners, some)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(owners))
}

func TestAttackOriginsThatAChildInventsAreBounded(t *testing.T) {
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

func TestOriginsThatAChildOnlyNamesAreNotRemembered(t *testing.T) {
	r := parent(t, receiver.Config{Origins: 3})
	if a := send(t, r, "good~1", "plant/temp"); a.Failure != nil {
		t.Fatalf("%+v", a)
	}
	answers := make(chan uplink.Answer, 1)
	for i := range 10 { // a part is answered before the block that it is of can be judged
		p := uplink.Part{Epoch: 1, Previous: 1, Origin: fmt.Sprintf("part~%d", i), Sequence: 2, Size: 10}
		r.Receive("plant", uplink.Normal, p.Append(nil), func(a uplink.Answer) { answers <- a })
		if a := <-answers; !a.Expected {
			t.Errorf("a part of nothing: %+v", a)
		}
	}
	r.Gone("plant", time.Time{})
	h := uplink.Hello{Protocol: uplink.Protocol, Origins: map[string]uplink.Position{}}
	for i := range 10 {
		h.Origins[fmt.Sprintf("greeted~%d", i)] = uplink.Position{Sequence: 1, Samples: 1}
	}
	h.Origins[strings.Repeat("long", 100)] = uplink.Position{Sequence: 1, Samples: 1}
	if _, err := r.Hello("plant", &h); err != nil {
		t.Fatal(err)
	}
	if got := r.Outages("plant"); len(got) != 1 || got[0].Coming != 3 {
		t.Errorf("what waits is told of at most three origins: %+v", got)
	}
	if got := r.Known(); got != 1 {
		t.Errorf("%d origins are remembered, and blocks came of one", got)
	}
}

func TestTheFileOfOriginsIsReadAlsoAsItWasBeforeAndWhenItsEndIsTorn(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"of before":       {"{\n \"old~1\": \"plant\",\n \"old~2\": \"plant\"\n}", []string{"new~1", "new~2", "old~1", "old~2"}},
		"with a torn end": {"{\"old~1\":\"plant\"}\n{\"old~2\":\"pl", []string{"new~1", "new~2", "old~1"}},
		"empty":           {"", []string{"new~1", "new~2"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := receiver.Config{File: filepath.Join(t.TempDir(), "origins.json")}
			if err := os.WriteFile(cfg.File, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := parent(t, cfg)
			for _, origin := range []string{"new~1", "new~2"} {
				if a := send(t, r, origin, "plant/temp"); a.Failure != nil {
					t.Fatalf("%+v", a)
				}
			}
			if got := remembered(t, cfg.File); !slices.Equal(got, tt.want) {
				t.Errorf("remembered: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNoBlockIsAnsweredBeforeItsWayIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	cfg := receiver.Config{File: filepath.Join(dir, "origins.json")}
	r := parent(t, cfg)
	if a := send(t, r, "plant~1", "plant/temp"); !fault.Is(a.Err(), fault.Unavailable) || a.Sequence != 0 {
		t.Errorf("without a place for the file: %+v", a)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if a := send(t, r, "plant~1", "plant/temp"); a.Failure != nil || a.Sequence != 1 {
		t.Errorf("with one: %+v", a)
	}
	if got := remembered(t, cfg.File); !slices.Equal(got, []string{"plant~1"}) {
		t.Errorf("remembered: %v", got)
	}
}
