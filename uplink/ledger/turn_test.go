package ledger_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/uplink/ledger"
	"voltbus/uplink/tree"
)

// yard is a node with a child that answers when the test lets it.
func yard(file string, answers <-chan struct{}) *ledger.Book {
	return ledger.New(ledger.Config{
		Name: "campus", Own: func(context.Context) (answer.Ledger, error) { return answer.Ledger{State: "ok"}, nil },
		Above: func() map[string]uint64 { return nil },
		Below: func() []tree.Node { return []tree.Node{{Name: "plant", Path: []string{"plant"}}} },
		Ask: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
			select {
			case <-answers:
				return json.Marshal([]answer.LedgerNode{{Node: "plant", State: "here"}})
			case <-ctx.Done():
				return nil, fault.E("test", fault.KindOf(ctx.Err()), "plant", ctx.Err())
			}
		},
		File: file, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
}

func TestWhoAsksWhileAChildIsSlowHearsInTimeWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := yard("", nil) // as one whose link is half open
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		body, err := b.Answer(ctx, []byte("1000"))
		if took := time.Since(began); err != nil || !json.Valid(body) || took > time.Second {
			t.Errorf("who has a second got %s after %v, %v", body, took, err)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWhoAsksAndLeavesSpoilsNothingForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		b := yard("", answers)
		ctx, leave := context.WithCancel(t.Context())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			b.Complete(ctx, new(answer.Ledger), true)
		}()
		synctest.Wait()
		leave()
		<-asked
		close(answers)
		var l answer.Ledger
		b.Complete(t.Context(), &l, true)
		if got := l.Nodes[1]; got.State != "current" {
			t.Errorf("for the next one the plant is %+v", got)
		}
	})
}

func TestWhatTheDiskDidNotTakeIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		answers := make(chan struct{}, 1)
		answers <- struct{}{} // it answers once
		b := yard(filepath.Join(dir, "ledgers.json"), answers)
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ledgers.json")); err != nil {
			t.Errorf("what the child said: %v", err)
		}
	})
}
