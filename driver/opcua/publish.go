package opcua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/protocol/opcua/client"
)

// hub has the subscriptions of a line: one for each sampling, and one queue of requests that the server answers with reports. The
// lock of the line guards it.
type hub struct {
	line       *line
	subs       map[time.Duration]uint32
	watches    map[uint32]*watch
	next       uint32
	publishers int
	acks       []*ua.SubscriptionAcknowledgement
}

// watch is a monitored item.
type watch struct {
	session *session
	key     monitored
	items   []int
	sub, id uint32
	last    time.Time // the server's time of the last value
}

func (h *hub) init(l *line) {
	h.line, h.subs, h.watches = l, make(map[time.Duration]uint32), make(map[uint32]*watch)
}

const (
	// keepAlive is how long a subscription without changes stays silent.
	keepAlive = 10 * time.Second
	// publishers is how many Publish requests the server holds, so that it has one while another is on its way.
	publishers = 2
	// lifetimes is how many times keepAlive a subscription lives without a Publish request.
	lifetimes = 6
)

// subscription returns the subscription of a sampling, and creates it if there is none (Part 4, clause 5.14.2).
func (h *hub) subscription(ctx context.Context, sampling time.Duration) (uint32, error) {
	h.line.mu.Lock()
	id, there := h.subs[sampling]
	h.line.mu.Unlock()
	if there {
		return id, nil
	}
	count := uint32(max(1, keepAlive/sampling)) //nolint:gosec // at most 1000
	resp, err := h.line.conn.Do(ctx, &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: float64(sampling) / float64(time.Millisecond), RequestedMaxKeepAliveCount: count, RequestedLifetimeCount: lifetimes * count, PublishingEnabled: true,
	}, h.line.cfg.Timeout)
	if err != nil {
		return 0, err
	}
	created, is := resp.(*ua.CreateSubscriptionResponse)
	if !is {
		return 0, fmt.Errorf("the server answers %T to the request for a subscription", resp)
	}
	silence := time.Duration(created.RevisedPublishingInterval*float64(created.RevisedMaxKeepAliveCount)) * time.Millisecond
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	h.subs[sampling] = created.SubscriptionID
	for h.publishers < publishers {
		h.publishers++
		h.line.work.Go(func() {
			h.publish(context.WithoutCancel(ctx), (publishers+1)*max(keepAlive, silence)+h.line.cfg.Timeout)
		})
	}
	return created.SubscriptionID, nil
}

// monitor creates monitored items in requests of a size that the server takes (Part 4, clause 5.13.2).
func (h *hub) monitor(ctx context.Context, sampling time.Duration, list []*watch) error {
	sub, err := h.subscription(ctx, sampling)
	if err != nil {
		return err
	}
	for len(list) > 0 {
		n := min(len(list), h.line.most.monitor)
		err := h.create(ctx, sub, list[:n])
		if errors.Is(err, ua.StatusBadTooManyOperations) && n > 1 {
			h.line.most.monitor = n / 2
			continue
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

func (h *hub) create(ctx context.Context, sub uint32, list []*watch) error {
	req := &ua.CreateMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: ua.TimestampsToReturnBoth}
	handles := make([]uint32, len(list))
	h.line.mu.Lock()
	for i, w := range list {
		h.next++
		handles[i] = h.next
		w.sub = sub
		h.watches[h.next] = w // the first report may come before the answer
		w.session.handles = append(w.session.handles, h.next)
		req.ItemsToCreate = append(req.ItemsToCreate, w.request(h.next))
	}
	h.line.mu.Unlock()
	resp, err := h.line.conn.Do(ctx, req, h.line.cfg.Timeout)
	var results []*ua.MonitoredItemCreateResult
	if created, is := resp.(*ua.CreateMonitoredItemsResponse); is && len(created.Results) == len(list) {
		results = created.Results
	} else if err == nil {
		err = fmt.Errorf("the server does not answer as asked: %T for %d monitored items", resp, len(list))
	}
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	for i, handle := range handles {
		if results == nil {
			delete(h.watches, handle)
			continue
		}
		if list[i].id = results[i].MonitoredItemID; isBad(results[i].StatusCode) {
			delete(h.watches, handle)
			list[i].session.refused[list[i].key.node] = results[i].StatusCode
		}
	}
	return err
}

// request is what creates the monitored item (Part 4, clause 7.21).
func (w *watch) request(handle uint32) *ua.MonitoredItemCreateRequest {
	p := &ua.MonitoringParameters{
		ClientHandle: handle, SamplingInterval: float64(w.key.sampling) / float64(time.Millisecond), QueueSize: uint32(w.session.cfg.Queue), DiscardOldest: true, //nolint:gosec // checked
	}
	if w.key.deadband > 0 {
		kind := uint32(ua.DeadbandTypeAbsolute)
		if w.key.percent {
			kind = uint32(ua.DeadbandTypePercent)
		}
		p.Filter = ua.NewExtensionObject(&ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: kind, DeadbandValue: w.key.deadband})
	}
	return &ua.MonitoredItemCreateRequest{ItemToMonitor: valueOf(w.key.node.id), MonitoringMode: ua.MonitoringModeReporting, RequestedParameters: p}
}

// forget ends monitored items.
func (h *hub) forget(ctx context.Context, handles []uint32) {
	ids := make(map[uint32][]uint32) // of items, by subscription
	h.line.mu.Lock()
	for _, handle := range handles {
		if w := h.watches[handle]; w != nil {
			delete(h.watches, handle)
			ids[w.sub] = append(ids[w.sub], w.id)
		}
	}
	most := max(1, h.line.most.monitor)
	h.line.mu.Unlock()
	for sub, list := range ids {
		for len(list) > 0 && h.line.conn.Err() == nil {
			n := min(len(list), most)
			_, err := h.line.conn.Do(ctx, &ua.DeleteMonitoredItemsRequest{SubscriptionID: sub, MonitoredItemIDs: list[:n]}, min(h.line.cfg.Timeout, time.Second))
			if err != nil {
				return // what comes of them is dropped
			}
			list = list[n:]
		}
	}
}

// publish keeps one Publish request at the server (Part 4, clause 5.14.5).
func (h *hub) publish(ctx context.Context, patience time.Duration) {
	for {
		h.line.mu.Lock()
		acks := h.acks
		h.acks = nil
		h.line.mu.Unlock()
		_, err := h.line.conn.Do(ctx, &ua.PublishRequest{SubscriptionAcknowledgements: acks}, patience)
		switch {
		case err == nil:
		case errors.Is(err, client.ErrLost):
			return
		case errors.Is(err, ua.StatusBadTooManyPublishRequests) && h.leave():
			return
		default:
			h.line.conn.End(fmt.Errorf("the server has stopped reporting: %w", explain(err)))
			return
		}
	}
}

// leave ends one of several publishers.
func (h *hub) leave() bool {
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	if h.publishers <= 1 {
		return false
	}
	h.publishers--
	return true
}

// published takes an answer to a Publish request.
func (h *hub) published(resp *ua.PublishResponse) {
	if resp.NotificationMessage == nil {
		return
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	if len(resp.NotificationMessage.NotificationData) > 0 {
		h.acks = append(h.acks, &ua.SubscriptionAcknowledgement{SubscriptionID: resp.SubscriptionID, SequenceNumber: resp.NotificationMessage.SequenceNumber})
	}
	touched := make(map[*session]bool)
	for _, data := range resp.NotificationMessage.NotificationData {
		if data == nil {
			continue
		}
		switch n := data.Value.(type) {
		case *ua.DataChangeNotification:
			for _, item := range n.MonitoredItems {
				if w := h.watches[item.ClientHandle]; w != nil && item.Value != nil {
					w.session.report(w, item.Value, now)
					touched[w.session] = true
				}
			}
		case *ua.StatusChangeNotification:
			h.line.conn.End(fmt.Errorf("the server has ended a subscription: %w", explain(n.Status)))
		}
	}
	for s := range touched {
		s.news()
	}
}
