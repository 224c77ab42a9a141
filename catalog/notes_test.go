package catalog_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
)

// commits counts the transactions in the write-ahead log: the last page of each tells the size of the database.
func commits(t *testing.T, dir string) (n int) {
	t.Helper()
	const header, frame = 32, 24
	wal, err := os.ReadFile(filepath.Join(dir, catalog.File+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	page := int(binary.BigEndian.Uint32(wal[8:]))
	for at := header; at+frame+page <= len(wal); at += frame + page {
		if binary.BigEndian.Uint32(wal[at+4:]) != 0 {
			n++
		}
	}
	return n
}

// atOnce has all of n calls wait, then lets them go on together, and returns their errors.
func atOnce(c *catalog.Catalog, n int, call func(i int) error) error {
	errs := make([]error, n)
	release := c.HoldRepeats()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = call(i) })
	}
	synctest.Wait()
	release()
	group.Wait()
	return errors.Join(errs...)
}

func TestWritesAtTheSameTimeShareATransaction(t *testing.T) {
	const callers = 100
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, dir)
		repeats := c.Repeats(0)
		of := func(i int) catalog.Repeat {
			return catalog.Repeat{User: "u", Key: fmt.Sprintf("k%d", i/2), Hash: [32]byte{byte(i / 2)}, At: clock().Add(time.Duration(i/2) * time.Second)}
		}
		begin(t, c, catalog.Repeat{User: "v", Key: "k", At: clock()})
		before := commits(t, dir)
		err := atOnce(c, callers, func(i int) error { // each key twice
			got, err := repeats.BeginRepeat(t.Context(), of(i))
			if want := of(i); err == nil && (got.Hash != want.Hash || !got.At.Equal(want.At) || got.Status != 0) {
				return fmt.Errorf("%d: got %+v, want %+v", i, got, want)
			}
			return err
		})
		if err != nil {
			t.Error("begin:", err)
		}
		if n := commits(t, dir) - before; n != 1 {
			t.Errorf("%d calls that begin made %d transactions, want 1", callers, n)
		}
		before = commits(t, dir)
		err = atOnce(c, callers/2, func(i int) error {
			r := of(2 * i)
			r.Status, r.Answer = 200, []byte(r.Key)
			return repeats.EndRepeat(t.Context(), r)
		})
		if err != nil {
			t.Error("end:", err)
		}
		if n := commits(t, dir) - before; n != 1 {
			t.Errorf("%d calls that end made %d transactions, want 1", callers/2, n)
		}
		for i := range callers / 2 {
			if got := begin(t, c, of(2*i)); string(got.Answer) != of(2*i).Key {
				t.Errorf("%s was answered %q", got.Key, got.Answer)
			}
		}
	})
}

func TestAnAnswerThatWasSentIsKeptWithTheNextWrite(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, dir)
		begin(t, c, catalog.Repeat{User: "v", Key: "k", At: clock()})
		var group sync.WaitGroup
		end := func(key string) {
			r := catalog.Repeat{User: "u", Key: key, At: clock()}
			begin(t, c, r)
			r.Status, r.Answer, r.Sent = 200, []byte(key), true
			group.Go(func() {
				if err := c.Repeats(0).EndRepeat(t.Context(), r); err != nil {
					t.Errorf("%s: %v", key, err)
				}
			})
		}
		before := commits(t, dir)
		end("a")
		synctest.Wait()
		begin(t, c, catalog.Repeat{User: "u", Key: "next", At: clock()})
		group.Wait()
		if n := commits(t, dir) - before; n != 2 {
			t.Errorf("two writes that begin, and the end of the first in between, made %d transactions, want 2", n)
		}
		end("b")
		group.Wait() // nobody else writes
		for _, key := range []string{"a", "b"} {
			if got := begin(t, c, catalog.Repeat{User: "u", Key: key, At: clock()}); string(got.Answer) != key {
				t.Errorf("%s was answered %q", key, got.Answer)
			}
		}
	})
}

func TestACallThatIsGivenUpHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, dir)
		ctx, giveUp := context.WithCancel(t.Context())
		release := c.HoldRepeats()
		var err error
		var group sync.WaitGroup
		group.Go(func() {
			_, err = c.Repeats(0).BeginRepeat(ctx, catalog.Repeat{User: "u", Key: "given up", At: clock()})
		})
		synctest.Wait()
		giveUp()
		group.Wait()
		release()
		if !fault.Is(err, fault.Canceled) {
			t.Errorf("the call that was given up returned %v", err)
		}
		err = atOnce(c, 10, func(i int) error {
			_, err := c.Repeats(0).BeginRepeat(t.Context(), catalog.Repeat{User: "u", Key: strconv.Itoa(i), At: clock()})
			return err
		})
		if err != nil {
			t.Error("the others:", err)
		}
	})
}

func TestAllWhoWriteAtTheSameTimeHearThatItFailed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c, err := catalog.Open(t.Context(), dir, clock)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		err = atOnce(c, 10, func(i int) error {
			_, err := c.Repeats(0).BeginRepeat(t.Context(), catalog.Repeat{User: "u", Key: strconv.Itoa(i), At: clock()})
			if err == nil {
				return fmt.Errorf("call %d succeeded with a closed catalogue", i)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
