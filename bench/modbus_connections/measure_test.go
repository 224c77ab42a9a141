package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/lab/modbusfarm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAFewConnectionsArePolledWithoutAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := modbusfarm.Serve(ctx, "127.0.0.1:0", modbusfarm.Config{Ready: func(a string) { ready <- a }}); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	defer serving.Wait()
	defer cancel()
	o := options{
		address: <-ready, connections: 10, period: 100 * time.Millisecond, duration: 300 * time.Millisecond,
		timeout: 5 * time.Second, registers: 100,
	}
	var out strings.Builder
	if err := poll(ctx, o, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| 10 | 100ms |") || !strings.Contains(out.String(), "| 0 |") {
		t.Errorf("printed\n%s\nwant a row for 10 connections with 0 errors", out.String())
	}
	r, err := measure(ctx, o)
	if err != nil || r.reads != 30 || r.samples != 3000 || r.errors != 0 {
		t.Errorf("got %d reads, %d samples, %d errors, %v; want 30, 3000 and no error", r.reads, r.samples, r.errors, err)
	}
}
