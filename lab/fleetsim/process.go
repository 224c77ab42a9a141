package fleetsim

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/lab/machine"
)

// process is the part of a fleet in this process.
type process struct {
	fleet   Fleet
	trust   *tls.Config
	http    *http.Client
	dialing chan struct{}
	shards  []*shard
	devices []*device
	posters []*poster
	working sync.WaitGroup

	connected atomic.Int64

	mu    sync.Mutex
	look  Look
	begun time.Time
	used  *machine.Meter
	churn context.CancelFunc
}

// shards of a process keep time by one goroutine each.
const shards = 4

func newProcess(f Fleet) (*process, error) {
	p := &process{fleet: f, dialing: make(chan struct{}, dialers), churn: func() {}}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fault.E("fleetsim", fault.Invalid, f.CA, err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fault.E("fleetsim", fault.Invalid, f.CA, errors.New("holds no certificate"))
		}
		p.trust = &tls.Config{
			RootCAs: pool, MinVersion: tls.VersionTLS12, ServerName: "localhost",
			CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}, // as the TLS of small devices, which knows no others
		}
	}
	for i := range shards {
		p.shards = append(p.shards, newShard(p, uint64(f.First+i+1))) //nolint:gosec // a seed
	}
	p.http = p.newClient()
	p.begun, p.used = time.Now(), machine.NewMeter(os.Getpid())
	return p, nil
}

// Serve plays the part of a fleet's process until in is closed.
func Serve(ctx context.Context, kind string, in io.Reader, out io.Writer) error {
	memory.Tune()
	lines := bufio.NewScanner(in)
	lines.Scan()
	var f Fleet
	if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
		return fault.E("fleetsim.Serve", fault.Invalid, kind, err)
	}
	p, err := newProcess(f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer p.working.Wait()
	defer cancel()
	defer p.http.CloseIdleConnections()
	for _, s := range p.shards {
		p.working.Go(func() { s.run(ctx) })
	}
	orders := make(chan order)
	p.working.Go(func() { // ends with the input, and everything with it
		defer cancel()
		defer close(orders)
		for lines.Scan() {
			var o order
			if json.Unmarshal(lines.Bytes(), &o) != nil {
				return
			}
			select {
			case orders <- o:
			case <-ctx.Done():
				return
			}
		}
	})
	for o := range orders {
		began := time.Now()
		a, err := p.follow(ctx, o)
		if a.Took == 0 {
			a.Took = time.Since(began).Seconds()
		}
		if err != nil {
			a.Error = err.Error()
		}
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) follow(ctx context.Context, o order) (a answer, err error) {
	switch o.Do {
	case doConnect:
		return a, p.connect(ctx, o)
	case doPrime:
		p.prime()
		return a, p.wait(ctx, o.Within, "published to each topic", p.settled)
	case doBegin:
		p.begin()
	case doStorm:
		return a, p.storm(ctx, o.Within)
	case doChurn:
		p.startChurn(ctx, o.Rate)
	case doLook:
		a.Look = p.report()
	case doHush:
		p.hush()
		return a, p.wait(ctx, o.Within, "been answered", p.settled)
	default:
		return a, fmt.Errorf("there is no order %q", o.Do)
	}
	return a, nil
}

// begin plans the messages of all devices that have no plan.
func (p *process) begin() {
	for _, d := range p.devices {
		if !d.planned {
			d.planned = true
			d.shard.begin(d, p.fleet.Profiles)
		}
	}
	for _, d := range p.posters {
		if !d.planned {
			d.planned = true
			d.shard.begin(d, p.fleet.Profiles)
		}
	}
}

// hush forgets all plans.
func (p *process) hush() {
	for _, s := range p.shards {
		s.stop()
	}
	for _, d := range p.devices {
		d.planned = false
	}
	for _, d := range p.posters {
		d.planned = false
	}
}

// connect starts devices until there are so many, and waits for their connections.
func (p *process) connect(ctx context.Context, o order) error {
	if len(p.posters) == 0 {
		p.startPosters(ctx, o.Devices)
	}
	began, from := time.Now(), len(p.devices)
	for n := from; n < o.Devices; n++ {
		if o.Rate > 0 {
			if wait := time.Until(began.Add(time.Duration(float64(n-from) / o.Rate * float64(time.Second)))); wait > 0 {
				pause(ctx, wait)
			}
		}
		d := newDevice(p, p.fleet.First+n, p.shards[n%shards])
		p.devices = append(p.devices, d)
		p.working.Go(func() { d.run(ctx) })
	}
	return p.wait(ctx, o.Within, "connected", func() bool { return int(p.connected.Load()) >= len(p.devices) })
}

// startPosters starts the devices that use HTTP, whose numbers follow those of devices.
func (p *process) startPosters(ctx context.Context, behind int) {
	for i := range p.fleet.Posters {
		d := &poster{p: p, number: p.fleet.First + behind + i, shard: p.shards[i%shards], wishes: make(chan wish, p.fleet.Patience+1)}
		p.posters = append(p.posters, d)
		p.working.Go(func() { d.run(ctx) })
	}
}

// prime has each device publish once to each of its topics.
func (p *process) prime() {
	now := time.Now()
	for _, d := range p.devices {
		for range p.fleet.Topics {
			d.prime(wish{due: now, octets: p.fleet.Profiles[0].Octets})
		}
	}
	for _, d := range p.devices {
		d.kick()
	}
}

func (p *process) settled() bool {
	for _, d := range p.devices {
		if !d.settled() {
			return false
		}
	}
	for _, d := range p.posters {
		if !d.settled() {
			return false
		}
	}
	return true
}

// storm cuts all connections and waits until all are back.
func (p *process) storm(ctx context.Context, within time.Duration) error {
	for _, d := range p.devices {
		d.sever()
	}
	return p.wait(ctx, within, "connected again", func() bool { return int(p.connected.Load()) >= len(p.devices) && p.back() })
}

// back reports whether no connection is cut and not yet replaced.
func (p *process) back() bool {
	for _, d := range p.devices {
		if d.wasCut() {
			return false
		}
	}
	return true
}

// startChurn cuts connections in turn, so many a second, until it is told otherwise.
func (p *process) startChurn(ctx context.Context, rate float64) {
	p.churn()
	p.churn = func() {}
	if rate <= 0 || len(p.devices) == 0 {
		return
	}
	ctx, p.churn = context.WithCancel(ctx)
	list := p.devices
	p.working.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			pause(ctx, time.Duration(float64(time.Second)/rate))
			list[n%len(list)].sever()
		}
	})
}

// checkEvery is how often what is waited for is looked at.
const checkEvery = 5 * time.Millisecond

// wait waits until something is so.
func (p *process) wait(ctx context.Context, within time.Duration, what string, so func() bool) error {
	deadline := time.Now().Add(within)
	for !so() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return fmt.Errorf("not all devices have %s within %s; %d of %d are connected; the first trouble: %s", what, within, p.connected.Load(), len(p.devices), p.look.First)
		}
		pause(ctx, checkEvery)
	}
	return nil
}

func (p *process) online(n int64) { p.connected.Add(n) }

func (p *process) lost(err error)   { p.note(&p.look.Lost, err) }
func (p *process) failed(err error) { p.note(&p.look.Failed, err) }

func (p *process) note(count *uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*count++
	if p.look.First == "" && err != nil {
		p.look.First = err.Error()
	}
}

// report returns what happened since it was asked before.
func (p *process) report() *Look {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.look
	p.look = Look{}
	for _, s := range p.shards {
		s.take(&l)
	}
	now := time.Now()
	l.Seconds = now.Sub(p.begun).Seconds()
	l.Connected = int(p.connected.Load())
	if u, err := p.used.Usage(); err == nil {
		l.Processor, l.Memory = u.CPU, u.Memory
	}
	p.begun, p.used = now, machine.NewMeter(os.Getpid())
	return &l
}
