package blocklog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// only returns the log of a replica that is alone, with so many blocks.
func only(t *testing.T, blocks int) *Log {
	t.Helper()
	store := &server.JetStreamConfig{StoreDir: t.TempDir()}
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: store.StoreDir})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	l, err := Open(t.Context(), Engine{Server: s, Conn: conn, Store: store, Log: slog.New(slog.DiscardHandler)},
		Config{MaxBytes: 1 << 20, Replica: "a", Replicas: func() int { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range blocks {
		add(t, l, i)
	}
	return l
}

// add appends a block behind so many.
func add(t *testing.T, l *Log, behind int) {
	t.Helper()
	wait, err := l.Append(fmt.Append(nil, behind+1), uint64(behind))
	if err == nil {
		err = wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatAReaderWasNotGivenIsAskedFor(t *testing.T) {
	l := only(t, 6)
	if err := l.stream.DeleteMsg(t.Context(), 4); err != nil { // nobody has it any more
		t.Fatal(err)
	}
	if err := l.stream.Purge(t.Context(), jetstream.WithPurgeSequence(2)); err != nil {
		t.Fatal(err)
	}
	var got []string
	take := func(sequence uint64, data []byte) error {
		got = append(got, fmt.Sprint(sequence, " ", string(data)))
		return nil
	}
	if err := fill(t.Context(), l, gap{1, 6}, take); err != nil {
		t.Fatal(err)
	}
	if want := []string{"2 2", "3 3", "5 5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = nil
	ctx, stop := context.WithCancel(t.Context())
	err := l.Read(ctx, 1, func(sequence uint64, data []byte) error {
		if sequence == 6 {
			stop()
		}
		return take(sequence, data)
	})
	if want := []string{"2 2", "3 3", "5 5", "6 6"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("read %q, want %q; %v", got, want, err)
	}
}
