package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/internal/memory"
	"voltbus/lab/metersim"
	"voltbus/node"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
)

// web is a measurement over the web services of a node: simulated senders, in a process of their own, send without pause.
type web struct {
	form    string
	bulk    int
	kept    bool
	senders int
	meters  int // behind each sender
	time    time.Duration
	dir     string
	peer    string // what else takes the same readings; "" for nothing

	client *client.Client
	tokens []string
}

// run measures, and accounts for what was acknowledged.
func (w *web) run() (err error) {
	memory.Tune()
	n, err := w.open()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done)
	}()
	if err := w.prepare(ctx, n); err != nil {
		return err
	}
	f := metersim.Fleet{
		URL: n.HTTPAddr(), Tokens: w.tokens, Form: w.form, Kept: w.kept, Members: w.senders, Batch: w.bulk, Meters: w.meters,
		From: metersim.FirstDay(time.Now()), Slots: metersim.Days * metersim.PerDay(metersim.Minute), Interval: metersim.Minute,
		Rhythm: metersim.Closed, For: w.time, WarmUp: min(500*time.Millisecond, w.time/2),
	}
	before := processor()
	o, err := f.Run(ctx, []string{os.Args[0]}, nil, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d readings a request, %s: %.0f readings/s, %.0f requests/s; processor a reading: node %.2f µs, senders %.2f µs; %.0f bytes a reading\n",
		w.form, w.bulk, map[bool]string{true: "kept connections", false: "a new connection each"}[w.kept], o.Rate, o.Asked,
		(processor()-before).Seconds()/float64(o.Accepted)*1e6, o.Processor/float64(o.Accepted)*1e6, float64(o.Bytes)/float64(o.Sent))
	pprof.StopCPUProfile() // what follows is the account
	return w.account(ctx, o)
}

// open opens a metering data system in this process, so that a profile shows it.
func (w *web) open() (*node.Node, error) {
	file, err := metersim.Site{}.Write(w.dir)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return node.Open(context.Background(), node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Version: answer.Version{Version: "bench"}})
}

// prepare registers the meters, and has tokens issued: a node bounds the requests that one may have under way.
func (w *web) prepare(ctx context.Context, n *node.Node) error {
	token, err := identity.ReadToken(filepath.Join(w.dir, "data", identity.AdminTokenFile))
	if err != nil {
		return err
	}
	if w.client, err = client.New(n.HTTPAddr(), token, nil); err != nil {
		return err
	}
	for i := range min(w.senders, 16) {
		issued, err := client.Do(ctx, w.client, tokens.Issue, tokens.Recorder{Name: fmt.Sprint("sender-", i+1), Under: "meters"})
		if err != nil {
			return err
		}
		w.tokens = append(w.tokens, issued.Token)
	}
	const part = 10_000
	from := metersim.FirstDay(time.Now())
	for first := 0; first < w.senders*w.meters; first += part {
		var list []answer.MeterEntry
		for i := first; i < min(first+part, w.senders*w.meters); i++ {
			list = append(list, answer.MeterEntry{
				ID: metersim.MeterID(i), Commodity: "electricity", From: &from,
				Channels: []answer.MeterChannel{{Number: 1, ReadingType: metersim.ReadingType(metersim.Minute), Interval: 60}},
			})
		}
		if _, err := client.Do(ctx, w.client, metering.Register, metering.Registration{Meters: list}); err != nil {
			return err
		}
	}
	return nil
}

var errLost = errors.New("acknowledged readings are not in the store")

// account waits until the store has what was acknowledged.
func (w *web) account(ctx context.Context, o *metersim.Outcome) error {
	began, grown, most := time.Now(), time.Now(), uint64(0)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		found := uint64(0)
		for day := range metersim.Days {
			m, err := client.Do(ctx, w.client, metering.Missing, metering.Lacking{Day: metersim.FirstDay(time.Now()).AddDate(0, 0, day).Format(time.DateOnly), Limit: 1})
			if err != nil {
				return err
			}
			found += m.Received
		}
		if found > most {
			most, grown = found, time.Now()
		}
		if found >= o.Accepted || time.Since(grown) > 20*time.Second {
			break
		}
	}
	took := time.Since(began).Seconds()
	fmt.Printf("       sent %d, acknowledged %d, refused %d, failed %d; found in the store %d, %.1f s after the last answer\n", o.Sent, o.Accepted, o.Refused, o.Failed, most, took)
	if most < o.Accepted {
		return errLost
	}
	return nil
}
