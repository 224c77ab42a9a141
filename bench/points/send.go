package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// sending sends readings of n points over HTTP.
type sending struct {
	bench   *bench
	node    *process
	bodies  [][]byte // of one round: all points once
	times   [][]int  // where seconds stand in each
	ofRound int      // bodies of one round; those behind are copies, so that all senders have one
	media   string
	second  atomic.Int64
}

const (
	ofMeter    = 4    // points of a meter
	ofDistrict = 1000 // meters of a district
)

func quantity(i int) string { return [ofMeter]string{"energy", "power", "voltage", "current"}[i] }

func path(i int) string {
	meter := i / ofMeter
	return fmt.Sprintf("city/district%d/meter%07d/%s", meter/ofDistrict, meter, quantity(i%ofMeter))
}

// newSending makes the bodies of one round. Each has the readings of points that stand together, as a
// gateway sends them; scattered, of any.
func newSending(b *bench, p *process, n int) *sending {
	s := &sending{bench: b, node: p, media: "application/json"}
	s.second.Store(1_750_000_000)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if b.scattered {
		rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for len(order) > 0 {
		size := min(b.batch, len(order))
		body, times := make([]byte, 0, size*96), make([]int, 0, size)
		body = append(body, '[')
		for _, i := range order[:size] {
			body = fmt.Appendf(body, `{"point":%q,"time":`, path(i))
			times = append(times, len(body))
			body = fmt.Appendf(body, `0000000000000,"value":%d.%d},`, 20+i%10, i%7)
		}
		body[len(body)-1] = ']'
		s.bodies, s.times, order = append(s.bodies, body), append(s.times, times), order[size:]
	}
	s.ofRound = len(s.bodies)
	for i := 0; len(s.bodies) < 2*b.senders; i++ {
		s.bodies, s.times = append(s.bodies, bytes.Clone(s.bodies[i])), append(s.times, s.times[i])
	}
	return s
}

// round sends readings of all points once.
func (s *sending) round(ctx context.Context) (time.Duration, error) {
	begin := time.Now()
	var next atomic.Int64
	second := s.second.Add(1)
	err := s.together(func(c *http.Client) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= s.ofRound {
				return nil
			}
			if err := s.post(ctx, c, i, second); err != nil {
				return err
			}
		}
	})
	return time.Since(begin), err
}

// readings sends readings of points that are known, and returns how many a second are acknowledged.
func (s *sending) readings(ctx context.Context) (float64, error) {
	begin := time.Now()
	var next, sent atomic.Int64
	base := s.second.Load() + 1
	busy := make([]atomic.Bool, len(s.bodies)) // a body is changed by one sender at a time
	err := s.together(func(c *http.Client) error {
		for time.Since(begin) < s.bench.time {
			n := next.Add(1) - 1
			i := int(n) % len(s.bodies)
			if !busy[i].CompareAndSwap(false, true) {
				continue
			}
			if err := s.post(ctx, c, i, base+n/int64(s.ofRound)); err != nil {
				return err
			}
			busy[i].Store(false)
			sent.Add(int64(len(s.times[i])))
		}
		return nil
	})
	return float64(sent.Load()) / time.Since(begin).Seconds(), err
}

// together runs the function in each sender.
func (s *sending) together(send func(*http.Client) error) error {
	var group errgroup.Group
	for range s.bench.senders {
		group.Go(func() error {
			transport := &http.Transport{MaxIdleConnsPerHost: 1, WriteBufferSize: 256 << 10}
			defer transport.CloseIdleConnections()
			return send(&http.Client{Transport: transport})
		})
	}
	return group.Wait()
}

// post sends a body with all its readings at a second.
func (s *sending) post(ctx context.Context, c *http.Client, i int, second int64) error {
	body := s.bodies[i]
	text := fmt.Appendf(nil, "%d000", second)
	for _, at := range s.times[i] {
		copy(body[at:], text)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.node.url+"/api/v1/samples", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.node.token)
	req.Header.Set("Content-Type", s.media)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", resp.StatusCode, answer)
	}
	return err
}
