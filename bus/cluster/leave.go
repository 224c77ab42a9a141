package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/fault"
	"voltbus/internal/plural"
)

// The subjects of the account of the server itself where the leader of the consensus is asked.
const (
	removeSubject   = "$JS.API.SERVER.REMOVE"
	evacuateSubject = "$JS.API.SERVER.EVACUATE"
	stepDownSubject = "$JS.API.META.LEADER.STEPDOWN"
)

// LeaveTime is how long Remove waits until a replica has left.
const LeaveTime = 2 * time.Minute

// Remove takes a replica out of the cluster, and returns when nothing depends on it any more: the others have all logs on their disks
// without it, and it does not count in the consensus. fault.Conflict if too few would be left; fault.Timeout if it takes longer than
// LeaveTime, which says what remains: it goes on, and Remove may be called again.
func (m *Membership) Remove(ctx context.Context, name string) error {
	if err := m.change(ctx, func(d Document) (Document, error) { return d.leave(name, time.Now()) }); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, LeaveTime)
	defer cancel()
	again := time.NewTicker(lookEvery / 4)
	defer again.Stop()
	for remains := "move its logs"; ; {
		now, err := m.remains(ctx, name)
		switch {
		case err == nil && now == "":
			return nil
		case err == nil:
			remains = now
		case ctx.Err() == nil:
			remains = err.Error()
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fault.E("cluster.remove", fault.Timeout, name, fmt.Errorf(
				"has not left yet, and goes on to: %s; look with voltbus cluster status, and call remove again to wait on, or add to keep it", remains))
		}
	}
}

// remains says what a replica that is being removed still has to do, "" for nothing.
func (m *Membership) remains(ctx context.Context, name string) (string, error) {
	if m.cfg.Members.gone() {
		return "", nil // it is this one, and the others do the rest
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	kv, err := m.bucket(ctx)
	if err != nil {
		return "", err
	}
	d, err := m.read(ctx, kv)
	if err != nil {
		return "", err
	}
	if !d.has(name) {
		if m.cfg.Members.admits(name) { // so that this replica does not list it after the answer
			return "read the new list at " + m.cfg.Self, nil
		}
		return "", m.expelOne(ctx, name)
	}
	if d.leaving() != name {
		return "", errors.New("it was added again meanwhile")
	}
	what, err := m.held(ctx, &d, name)
	if err == nil && what == "" {
		what = "nothing is left there, and it has to confirm that; stop it if it does not"
	}
	return what, err
}

// part moves everything away from the replica that is being removed. The one that leads the consensus does so. Who leaves confirms that
// it has left; for one that is not reached, the leader does.
func (m *Membership) part(ctx context.Context, kv jetstream.KeyValue, d Document) error {
	m.settled = false
	ctx, cancel := context.WithTimeout(ctx, 2*tryTime)
	defer cancel()
	name, leads := d.leaving(), m.srv.JetStreamIsLeader()
	switch {
	case name == m.cfg.Self && leads:
		return m.askServer(ctx, stepDownSubject, nil)
	case leads:
		err := m.askServer(ctx, evacuateSubject, server.JSApiMetaServerEvacuateRequest{Peer: peerID(name)})
		if err = errors.Join(err, m.spread(ctx, d.voting(), true)); err != nil {
			return err
		}
		if status := m.cfg.Look(m.srv); status.reaches(name) {
			return nil
		}
	case name != m.cfg.Self:
		return nil
	}
	if what, err := m.held(ctx, &d, name); err != nil || what != "" {
		return err
	}
	return m.put(ctx, kv, d.without(name, time.Now()))
}

func (s *Status) reaches(name string) bool {
	return slices.ContainsFunc(s.Replicas, func(p Peer) bool { return p.Name == name && p.Connected })
}

// held names the streams that a replica still has, and those that the others do not all have; "" for none.
func (m *Membership) held(ctx context.Context, d *Document, name string) (string, error) {
	var there, behind []string
	list := m.js.ListStreams(ctx)
	for info := range list.Info() {
		switch {
		case info.Cluster == nil:
		case info.Cluster.Leader == "" || hasPeer(info.Cluster, name):
			there = append(there, info.Config.Name)
		case info.Config.Replicas > 1 && (info.Config.Replicas != d.voting() || len(info.Cluster.Replicas)+1 != d.voting() || lags(info.Cluster)):
			behind = append(behind, info.Config.Name)
		}
	}
	if err := list.Err(); err != nil {
		return "", fmt.Errorf("list the streams: %w", err)
	}
	var parts []string
	if len(there) > 0 {
		parts = append(parts, fmt.Sprintf("move %s away from it (%s)", plural.Of(len(there), "stream"), strings.Join(there, ", ")))
	}
	if len(behind) > 0 {
		parts = append(parts, fmt.Sprintf("bring %s up to date at the others (%s)", plural.Of(len(behind), "stream"), strings.Join(behind, ", ")))
	}
	return strings.Join(parts, ", and "), nil
}

func hasPeer(c *jetstream.ClusterInfo, name string) bool {
	return c.Leader == name || slices.ContainsFunc(c.Replicas, func(p *jetstream.PeerInfo) bool { return p.Name == name })
}

// few is how many entries a replica may still have to fetch while a stream is written to: what was acknowledged is at a majority anyway.
const few = 1000

// lags reports whether a replica that is reached has to fetch much of a stream.
func lags(c *jetstream.ClusterInfo) bool {
	return slices.ContainsFunc(c.Replicas, func(p *jetstream.PeerInfo) bool { return !p.Current && !p.Offline && p.Lag > few })
}

// expel takes replicas that were removed out of the consensus, where this replica leads it.
func (m *Membership) expel(ctx context.Context, d *Document) error {
	if !m.srv.JetStreamIsLeader() {
		return nil
	}
	var errs []error
	for _, f := range d.Former {
		errs = append(errs, m.expelOne(ctx, f.Name))
	}
	return errors.Join(errs...)
}

// expelOne takes a replica out of the consensus, if it is not out of it.
func (m *Membership) expelOne(ctx context.Context, name string) error {
	err := m.askServer(ctx, removeSubject, server.JSApiMetaServerRemoveRequest{Peer: peerID(name)})
	if known := (*server.ApiError)(nil); errors.As(err, &known) && known.ErrCode == uint16(server.JSClusterServerNotMemberErr) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take %s out of the consensus: %w", name, err)
	}
	m.log.InfoContext(ctx, "a replica was removed", slog.String("replica", name))
	return nil
}

// askServer asks whoever leads the consensus.
func (m *Membership) askServer(ctx context.Context, subject string, question any) error {
	conn, err := m.system()
	if err != nil {
		return err
	}
	defer conn.Close()
	var request []byte
	if question != nil {
		if request, err = json.Marshal(question); err != nil {
			return fmt.Errorf("ask %s: %w", subject, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, subject, request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", subject, err)
	}
	var answered server.ApiResponse
	if err := json.Unmarshal(reply.Data, &answered); err != nil {
		return fmt.Errorf("ask %s: %w", subject, err)
	}
	if answered.Error != nil {
		return answered.Error
	}
	return nil
}

// peerID is what the consensus calls a server: the server can be asked by name only for as long as it was seen since the start of who leads.
func peerID(name string) string {
	const digits, size = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 8
	sum := sha256.Sum256([]byte(name))
	for i := range size {
		sum[i] = digits[int(sum[i])%len(digits)]
	}
	return string(sum[:size])
}
