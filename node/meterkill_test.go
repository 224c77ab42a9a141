package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/metering"
)

const (
	meterKillEnv = "VOLTBUS_TEST_METERKILL"
	// meterStoreEnv holds what more the section metering of the child says.
	meterStoreEnv = "VOLTBUS_TEST_METERSTORE"
)

// A batch is a part of a day of one meter; so many of them make a day.
const (
	killMeters = 20
	killParts  = 4
	killPart   = 24 // readings
)

// killBatch returns the readings of a batch of a writer. Each value is there once.
func killBatch(w, batch int) (id string, day time.Time, list []answer.MeterReadingIn) {
	zone, _ := time.LoadLocation("Europe/Berlin") // load has found it
	n := batch / killParts
	id = fmt.Sprintf("w%d-%d", w, n%killMeters)
	day = time.Date(2026, 2, 1+n/killMeters, 0, 0, 0, 0, zone)
	for i := range killPart {
		at := batch%killParts*killPart + i
		value := float64(batch*killPart + i + 1)
		list = append(list, answer.MeterReadingIn{Meter: id, Channel: 1, End: day.Add(time.Duration(at+1) * 15 * time.Minute).Format(time.RFC3339), Value: &value})
	}
	return id, day, list
}

// meterKillChild runs a metering data system that records, and has the days validated all the time, until it is killed. It
// prints a writer and a batch for each that was acknowledged.
func meterKillChild(arguments string) {
	dir, first, _ := strings.Cut(arguments, "|")
	start, _ := strconv.Atoi(first)
	cfg := load(&testing.T{}, dir, listenAnywhere+meteringConfig+os.Getenv(meterStoreEnv))
	n, err := open(cfg)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	go func() { fmt.Println("error", n.Run(context.Background())) }()
	token, err := identity.ReadToken(filepath.Join(cfg.Node.Data, identity.AdminTokenFile))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	c, err := client.New(n.HTTPAddr(), token, nil)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	ctx := context.Background()
	var meters []answer.MeterEntry
	for i := range 2 * killMeters {
		meters = append(meters, smartMeter(fmt.Sprintf("w%d-%d", i/killMeters, i%killMeters)))
	}
	if _, err := client.Do(ctx, c, metering.Register, metering.Registration{Meters: meters}); err != nil {
		fmt.Println("error", err)
		return
	}
	var mu sync.Mutex
	newest := start
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for batch := start; ; batch++ {
				_, _, list := killBatch(w, batch)
				if _, err := client.Do(ctx, c, metering.Record, metering.Bulk{Readings: list}); err != nil {
					fmt.Println("error", err)
					return
				}
				mu.Lock()
				newest = max(newest, batch)
				fmt.Println(w, batch)
				mu.Unlock()
			}
		})
	}
	for {
		mu.Lock()
		_, day, _ := killBatch(0, newest)
		mu.Unlock()
		_, _ = client.Do(ctx, c, metering.Validate, metering.Validation{Day: day.Format(time.DateOnly)}) // refused while nothing is stored of it
	}
}

// A metering data system is killed again and again while it records and validates. In the end every reading that was
// acknowledged is there once, and is judged once.
func TestKilledWhileItValidatesEveryAcknowledgedReadingIsThereOnce(t *testing.T) {
	killWhileItValidates(t, "")
}

// killWhileItValidates kills a metering data system whose configuration ends with a text.
func killWhileItValidates(t *testing.T, more string) {
	t.Helper()
	dir := t.TempDir()
	acknowledged := []map[int]bool{{}, {}}
	next := 0
	for range 4 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", meterKillEnv, dir, next), meterStoreEnv+"="+more)
		next = max(killAfter(t, child, 40+rand.IntN(120), acknowledged)-2, 0) // some are sent again
	}
	started := time.Now()
	r := run(t, load(t, dir, listenAnywhere+meteringConfig+more))
	eventually(t, "the store has all of the log", func() bool {
		for _, o := range r.ledger().Origins {
			if strings.HasSuffix(o.Origin, "#") {
				return o.BacklogSamples == 0 && o.Balanced
			}
		}
		return false
	})
	days := map[string]bool{}
	for w, batches := range acknowledged {
		for batch := range batches {
			_, day, _ := killBatch(w, batch)
			days[day.Format(time.DateOnly)] = true
		}
	}
	for day := range days {
		if _, err := client.Do(t.Context(), r.Client, metering.Validate, metering.Validation{Day: day}); err != nil {
			t.Fatal(err)
		}
	}
	before := 0
	for w, batches := range acknowledged {
		for batch := range batches {
			before += checkKilledBatch(t, r, w, batch, started)
		}
	}
	if before == 0 {
		t.Log("nothing was validated by those that were killed: this run says nothing of that")
	}
}

// checkKilledBatch compares a batch that was acknowledged with what is stored. It returns how many of its readings were validated
// before a moment.
func checkKilledBatch(t *testing.T, r *running, w, batch int, started time.Time) (before int) {
	t.Helper()
	id, _, list := killBatch(w, batch)
	first, err := time.Parse(time.RFC3339, list[0].End)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Do(t.Context(), r.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: id}, Channel: 1, From: first.Add(-time.Minute).Format(time.RFC3339), To: list[len(list)-1].End, Versions: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, judged := map[int64]int{}, map[int64]int{}
	for _, v := range got.Readings {
		switch at := v.End.Unix(); {
		case v.Stage == "raw" && v.Status == "":
			raw[at]++
			if i := int(v.End.Sub(first) / (15 * time.Minute)); v.Value != *list[i].Value {
				t.Errorf("%s at %s: %v, want %v", id, v.End, v.Value, *list[i].Value)
			}
		case v.Stage == "validated":
			if judged[at]++; !v.Recorded.After(started) {
				before++
			}
		}
	}
	for i := range list {
		at := first.Add(time.Duration(i) * 15 * time.Minute).Unix()
		if raw[at] != 1 || judged[at] != 1 {
			t.Errorf("%s, interval %d of batch %d: %d raw and %d validated versions, want one each", id, i, batch, raw[at], judged[at])
			break
		}
	}
	return before
}
