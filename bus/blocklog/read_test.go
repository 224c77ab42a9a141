package blocklog

import (
	"testing"
	"time"
)

// A consumer that is paused says that it is there, and gives nothing: so does that of a replica that was behind when it was made.
func TestAReaderLeavesAConsumerThatGivesNothing(t *testing.T) {
	const limit = 30 * time.Second
	l := only(t, 1)
	got, ended := make(chan string, 2), make(chan error, 1)
	go func() {
		ended <- l.Read(t.Context(), 1, func(_ uint64, data []byte) error { got <- string(data); return nil })
	}()
	await := func(want string) {
		t.Helper()
		select {
		case data := <-got:
			if data != want {
				t.Fatalf("it reads %s, want %s", data, want)
			}
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(limit):
			t.Fatalf("it never reads %s", want)
		}
	}
	await("1")
	names := l.stream.ConsumerNames(t.Context())
	for name := range names.Name() {
		if _, err := l.stream.PauseConsumer(t.Context(), name, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	add(t, l, 1)
	await("2")
}
