package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// crowd is readers of the live stream. It counts what they get without parsing it, so that it
// leaves the machine to the node.
type crowd struct {
	events, points, reads atomic.Int64

	cancel context.CancelFunc
	group  *errgroup.Group
	client *http.Client
}

// counts is what readers got.
type counts struct{ events, points, reads int64 }

func (c counts) minus(o counts) counts {
	return counts{c.events - o.events, c.points - o.points, c.reads - o.reads}
}

// join opens the streams and waits until all are subscribed.
func join(ctx context.Context, at place, readers, patterns int) (*crowd, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &crowd{cancel: cancel, client: &http.Client{Transport: &http.Transport{}}}
	c.group, ctx = errgroup.WithContext(ctx)
	var joined sync.WaitGroup
	joined.Add(readers)
	for i := range readers {
		// Each repeat is another text, and selects the same.
		pattern := strings.Repeat("**/", 1+i%patterns) + "p*"
		c.group.Go(func() error { return c.read(ctx, at, pattern, joined.Done) })
	}
	done := make(chan struct{})
	go func() { joined.Wait(); close(done) }()
	select {
	case <-done:
		return c, nil
	case <-ctx.Done():
		return nil, errors.Join(c.leave(), context.Cause(ctx))
	}
}

// read counts what one reader gets until ctx ends.
func (c *crowd) read(ctx context.Context, at place, pattern string, joined func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.url+"/api/v1/stream?pattern="+url.QueryEscape(pattern), http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+at.token)
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("a reader gets %s", resp.Status)
	}
	buf := make([]byte, 64<<10)
	for first := true; ; first = false {
		n, err := resp.Body.Read(buf)
		if first {
			joined()
		}
		c.reads.Add(1)
		c.events.Add(int64(bytes.Count(buf[:n], []byte("event: scan"))))
		c.points.Add(int64(bytes.Count(buf[:n], []byte(`"p`)) - bytes.Count(buf[:n], []byte(`"points`))))
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the node ended a stream: its reader was too slow")
		case err != nil:
			return err
		}
	}
}

func (c *crowd) counts() counts {
	return counts{c.events.Load(), c.points.Load(), c.reads.Load()}
}

// leave ends all streams.
func (c *crowd) leave() error {
	c.cancel()
	defer c.client.CloseIdleConnections()
	return c.group.Wait()
}
