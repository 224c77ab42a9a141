// Command metering measures the metering store: registration, appending, validation, one meter's month, a day's missing list, and bytes
// per reading. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"voltbus/lab/metersim"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/meter/store/postgres"
	"voltbus/meter/vee"
	"voltbus/store/postgres/connection"
	"voltbus/testing/peers"
)

func main() {
	if len(os.Args) == 2 && metersim.Serves(os.Args[1]) { // this program again, as the senders
		check(metersim.Serve(context.Background(), os.Args[1], os.Stdin, os.Stdout))
		return
	}
	var w web
	flag.StringVar(&w.form, "over", "", "measure the web services of a node: "+strings.Join(metersim.Forms(), ", "))
	flag.IntVar(&w.bulk, "bulk", 100, "with -over: readings in a request")
	flag.BoolVar(&w.kept, "kept", false, "with -over: connections stay open")
	flag.IntVar(&w.senders, "senders", 64, "with -over: senders, each with one request at a time")
	flag.DurationVar(&w.time, "time", 5*time.Second, "with -over: how long readings are sent")
	flag.StringVar(&w.peer, "peer", "", "with -over: postgres, for the same readings as rows inserted into PostgreSQL in the same run")
	flag.IntVar(&w.meters, "behind", 200, "with -over: meters behind each sender")
	meters := flag.Int("meters", 200_000, "meters with one channel of 15 minutes")
	days := flag.Int("days", 3, "days of readings")
	intervals := flag.Int("intervals", 96, "intervals of each day that have readings: the first ones")
	commit := flag.Int("commit", 400_000, "readings in a commit")
	engine := flag.String("engine", "duckdb", "duckdb or postgres: the server of this machine, started for the run")
	register := flag.Int("register", 0, "register so many meters of two channels, and open again; nothing else")
	profile := flag.String("cpuprofile", "", "write a processor profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		check(err)
		check(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	dir, err := os.MkdirTemp("", "metering")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	if w.form != "" {
		w.dir = dir
		check(w.conventional())
		check(w.run())
		return
	}
	b := &bench{engine: *engine, dir: dir, meters: *meters, commit: *commit, intervals: min(*intervals, 96), clock: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	b.zone, err = time.LoadLocation("Europe/Berlin")
	check(err)
	if *engine == "postgres" {
		b.server, err = peers.StartPostgreSQL("max_wal_size=4GB", "shared_buffers=1GB")
		check(err)
		defer func() { check(b.server.Remove()) }()
	}
	if *register > 0 {
		b.registration(*register)
		return
	}
	b.readings(*days)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type bench struct {
	engine, dir    string
	server         *peers.PostgreSQL
	zone           *time.Location
	meters, commit int
	intervals      int
	clock          time.Time
	s              store.Store
	random         *rand.Rand
}

func (b *bench) open() {
	var err error
	now := func() time.Time { return b.clock }
	if b.engine == "postgres" {
		b.s, err = postgres.Open(context.Background(), postgres.Options{
			Settings: connection.Settings{URL: b.server.URL("voltbus", "voltbus")}, Writer: "bench", Zone: b.zone, Now: now,
		})
	} else {
		b.s, err = duckdb.Open(context.Background(), duckdb.Options{Dir: filepath.Join(b.dir, "store"), Zone: b.zone, Now: now})
	}
	check(err)
}

// vacuum has the server give back what validation left free, as it does by itself after a while, and shows the largest tables.
func (b *bench) vacuum() {
	if b.server == nil {
		return
	}
	out, err := exec.CommandContext(context.Background(), "psql", "-X", "-q", "-t", "-A", b.server.URL("voltbus", "voltbus"), "-c", "VACUUM voltbus.meter_arrived", "-c", "VACUUM voltbus.meter_bucket",
		"-c", "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'meter%' ORDER BY 2 DESC LIMIT 3").CombinedOutput()
	check(err)
	fmt.Print("bytes of the largest tables: ", strings.Join(strings.Fields(string(out)), ", "), "\n")
}

func id(n int) string { return fmt.Sprintf("1EMH%010d", n) }

func channels(n int) []meter.Channel {
	profile, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	check(err)
	counter, err := meter.ParseReadingType("0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	check(err)
	return []meter.Channel{
		{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1},
		{Number: 2, ReadingType: counter, Multiplier: 1},
	}[:n]
}

func (b *bench) registerMeters(n, of int) {
	const part = 100_000
	began := time.Now()
	all := channels(of)
	for from := 0; from < n; from += part {
		var list []store.Registration
		for i := from; i < min(from+part, n); i++ {
			list = append(list, store.Registration{Meter: meter.Meter{ID: id(i), Commodity: meter.Electricity, Channels: all}})
		}
		_, err := b.s.Register(context.Background(), list)
		check(err)
	}
	took := time.Since(began)
	fmt.Printf("register %d meters of %d channels: %.1f s, %.0f meters/s\n", n, of, took.Seconds(), float64(n)/took.Seconds())
}

func (b *bench) registration(n int) {
	b.open()
	b.registerMeters(n, 2)
	check(b.s.Close())
	runtime.GC()
	began := time.Now()
	b.open()
	took := time.Since(began)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("open again: %.1f s, Go heap %d MB, resident %s\n", took.Seconds(), m.HeapInuse>>20, resident())
	check(b.s.Close())
}

// processor is the time that the process has computed, on all cores.
func processor() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func resident() string {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	var kb int
	for line := range strings.SplitSeq(string(text), "\n") {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			return fmt.Sprintf("%d MB", kb>>10)
		}
	}
	return "unknown"
}

// value is energy in kWh with three decimals: a daily shape with noise.
func (b *bench) value(m, s int) float64 {
	base := 0.05 + 0.1*float64(m%17)/17
	shape := 1 + math.Sin(float64(s)/96*2*math.Pi-2)
	return math.Round(base*(0.2+shape*math.Exp(b.random.NormFloat64()*0.5))*1000) / 1000
}

func (b *bench) readings(days int) {
	b.random = rand.New(rand.NewPCG(1, 2))
	b.open()
	b.registerMeters(b.meters, 1)
	for d := range days {
		b.day(d)
	}
	b.vacuum()
	stats, err := b.s.Stats(context.Background())
	check(err)
	fmt.Printf("rows %d, %d bytes: %.2f bytes a reading\n", stats.Rows, stats.Bytes, float64(stats.Bytes)/float64(b.meters*b.intervals*days))
	b.questions(days)
	check(b.s.Close())
	b.open()
	stats, err = b.s.Stats(context.Background())
	check(err)
	fmt.Printf("after it was closed and opened: %.2f bytes a reading, resident %s\n", float64(stats.Bytes)/float64(b.meters*b.intervals*days), resident())
	check(b.s.Close())
}

// day appends a day, all meters for each interval, of which one in a hundred is missing, and judges it.
func (b *bench) day(d int) {
	start := time.Date(2026, 2, 1+d, 0, 0, 0, 0, b.zone)
	var spent, used time.Duration
	stored := 0
	batch := &store.Batch{}
	flush := func() {
		began := time.Now()
		before := processor()
		r, err := b.s.Append(context.Background(), batch)
		check(err)
		spent += time.Since(began)
		used += processor() - before
		stored += r.Stored
		batch.Reset()
	}
	for s := range b.intervals {
		end := start.Add(time.Duration(s+1) * 15 * time.Minute)
		b.clock = end.Add(time.Second)
		batch.Senders = append(batch.Senders[:0], "c")
		for i := range b.meters {
			m := int(uint64(i) * 7919 % uint64(b.meters))
			if i%1000 == 0 {
				batch.Senders = append(batch.Senders, fmt.Sprintf("concentrator:%d", i/1000))
			}
			if b.random.IntN(100) == 0 {
				continue
			}
			batch.Keys = append(batch.Keys, store.ChannelKey{Meter: id(m), Channel: 1})
			batch.Add(end.UnixMicro(), b.value(m, s))
			if batch.Len() == b.commit {
				flush()
				batch.Senders = append(batch.Senders[:0], "c")
				b.clock = b.clock.Add(time.Second)
			}
		}
		if batch.Len() > 0 {
			flush()
		}
	}
	fmt.Printf("day %d: appended %d readings in %.1f s: %.2f M/s; processor %.1f s, %.2f M/s of one core\n", d, stored, spent.Seconds(), float64(stored)/spent.Seconds()/1e6, used.Seconds(), float64(stored)/used.Seconds()/1e6)
	y, m, dd := start.Date()
	day := store.DayOf(y, m, dd)
	b.missing("a day that is not judged", day)
	b.clock = start.Add(24*time.Hour + time.Minute) // before the next interval ends
	p, err := vee.New(vee.Rules{Negative: true, SpikeRatio: 9, SpikeFloor: 2, HighRatio: 9, LowRatio: 0.1, StuckCount: 12, SumTolerance: 1, DemandTolerance: 9, MaxRatio: 9})
	check(err)
	status := make([]vee.Status, 100)
	began, before := time.Now(), processor()
	j, err := b.s.Judge(context.Background(), day, func(c *store.ChannelDay) error { return judge(p, status, c) })
	check(err)
	took, used := time.Since(began), processor()-before
	fmt.Printf("       judged %d channels, %d validated, %d estimated in %.1f s: %.2f M/s; processor %.1f s, %.2f M/s of one core; resident %s\n", j.Channels, j.Validated, j.Estimated, took.Seconds(), float64(j.Validated)/took.Seconds()/1e6, used.Seconds(), float64(j.Validated)/used.Seconds()/1e6, resident())
}

func judge(p *vee.Pipeline, status []vee.Status, c *store.ChannelDay) error {
	block := vee.Block{
		Values: c.Values, Status: status[:len(c.Values)], Length: c.Channel.Interval, WantLength: c.Channel.Interval, Multiplier: 1, WantMultiplier: 1,
		UsualSum: 20, HighestValue: 3,
	}
	if err := p.Validate(&block); err != nil {
		return err
	}
	profile := make([]float64, len(c.Values))
	c.Rule = "bench 1"
	doubted := false
	for i, s := range block.Status {
		c.Status[i] = uint32(s)
		doubted = doubted || s != 0
	}
	if !doubted {
		return nil
	}
	found, err := vee.Estimate(&block, vee.Gap, func() vee.Past { return vee.Past{Class: profile} })
	if err != nil {
		return err
	}
	for i, m := range found.Methods {
		if m != vee.Measured {
			c.Estimates[i], c.Rules[i] = found.Values[i], m.String()
		}
	}
	return nil
}

func (b *bench) missing(what string, day store.Day) {
	began, before := time.Now(), processor()
	m, err := b.s.Missing(context.Background(), store.MissingQuery{Day: day, Limit: 1000})
	check(err)
	fmt.Printf("       missing list of %s: %d of %d, %d channels, in %.2f s; processor %.2f s\n", what, m.Expected-m.Received, m.Expected, m.Channels, time.Since(began).Seconds(), (processor() - before).Seconds())
}

func (b *bench) questions(days int) {
	start := time.Date(2026, 2, 1, 0, 0, 0, 0, b.zone)
	worst, sum := time.Duration(0), time.Duration(0)
	const n = 20
	rows := 0
	for range n {
		began := time.Now()
		h, err := b.s.History(context.Background(), store.ChannelKey{Meter: id(b.random.IntN(b.meters)), Channel: 1}, start, start.AddDate(0, 0, days))
		check(err)
		took := time.Since(began)
		worst, sum, rows = max(worst, took), sum+took, h.Len()
	}
	fmt.Printf("one meter's %d days with versions (%d): mean %.1f ms, worst %.1f ms\n", days, rows, float64(sum.Microseconds())/n/1000, float64(worst.Microseconds())/1000)
	b.missing("a judged day", store.DayOf(2026, 2, 1))
}
