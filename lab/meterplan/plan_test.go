package meterplan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/meterplan"
	"voltbus/lab/report"
)

const day = 24 * time.Hour

func order() meterplan.Order {
	return meterplan.Order{Meters: 1_200_000, Channels: 1, Interval: 15 * time.Minute, Keep: 1000 * day, Use: 0.5, Spare: 1}
}

func limits() meterplan.Limits {
	return meterplan.Limits{Run: "r1", Cores: 2, Concentrator: 500, MDS: 4000, Validated: 1000, MemoryBase: 1e8, MemoryPerMeter: 1000, DiskPerReading: 10}
}

func TestAPlanFollowsFromTheLimits(t *testing.T) {
	p, err := meterplan.Make(order(), limits())
	if err != nil {
		t.Fatal(err)
	}
	// 1.2 M readings in 900 s are 1,333/s; half of 1,000 validated a second is what a system may get: 3, and one to spare.
	if p.Systems != 4 || p.Cores != 8 || p.MetersEach != 225_000 || p.Concentrator != 7 {
		t.Errorf("%+v", p)
	}
	if p.Memory != 1e8+1000*400_000 || p.Disk < 1.151e12 || p.Disk > 1.153e12 {
		t.Errorf("memory %v, disk %v", p.Memory, p.Disk)
	}
	if words := strings.Join(p.Words(), "\n"); !strings.Contains(words, "run r1") {
		t.Error(words)
	}
}

func TestAnOrderThatCannotBeIsRefused(t *testing.T) {
	for name, change := range map[string]func(*meterplan.Order){
		"meters":   func(o *meterplan.Order) { o.Meters = 0 },
		"channels": func(o *meterplan.Order) { o.Channels = 0 },
		"interval": func(o *meterplan.Order) { o.Interval = 0 },
		"keep":     func(o *meterplan.Order) { o.Keep = time.Hour },
		"use":      func(o *meterplan.Order) { o.Use = 1.5 },
		"spare":    func(o *meterplan.Order) { o.Spare = -1 },
	} {
		o := order()
		change(&o)
		if _, err := meterplan.Make(o, limits()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheNewestWholeRunOfAMachineLikeThisCounts(t *testing.T) {
	dir, here := t.TempDir(), machine.Description{CPU: "this", Cores: 2}
	write := func(id, cpu string, quick bool, mds float64) {
		t.Helper()
		l := limits()
		l.MDS = mds
		r := &experiment.Result{Format: experiment.Format, Experiment: meterplan.Experiment, Quick: quick, Machine: machine.Description{CPU: cpu, Cores: 2}, Findings: l.Findings()}
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := report.Write(filepath.Join(dir, id), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, found, err := meterplan.Latest(dir, here); found || err != nil {
		t.Errorf("without runs: %v, %v", found, err)
	}
	write("20260101-000000-ami-tables-a", "this", false, 1)
	write("20260102-000000-ami-tables-b", "this", false, 2)
	write("20260103-000000-ami-tables-c", "other", false, 3)
	write("20260104-000000-ami-tables-d", "this", true, 4)
	l, found, err := meterplan.Latest(dir, here)
	if err != nil || !found || l.MDS != 2 || l.Run != "20260102-000000-ami-tables-b" || l.DiskPerReading != 10 {
		t.Errorf("%+v, %v, %v", l, found, err)
	}
}

func TestTheShippedLimitsSayThatTheyAre(t *testing.T) {
	l, err := meterplan.Reference()
	if err != nil || !l.Shipped || l.CPU == "" || l.Measured.IsZero() || l.Concentrator <= 0 || l.MDS <= 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	p, err := meterplan.Make(order(), l)
	if words := strings.Join(p.Words(), "\n"); err != nil || !strings.Contains(words, "came with the program") || !strings.Contains(words, "voltbus lab run") {
		t.Errorf("%s, %v", words, err)
	}
}
