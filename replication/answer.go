package replication

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"voltbus/bus/cluster"
	"voltbus/internal/plural"
	"voltbus/operation/cluster/report"
)

// Cluster returns how the replicas are.
func (r *Replicas) Cluster() report.Cluster {
	if r == nil {
		return report.Cluster{State: StateOK, Sentence: "This node is alone: its configuration has no section cluster.", Replicas: []report.Replica{}}
	}
	status := r.cfg.Look()
	trouble := status.Trouble()
	r.trouble.Store(&trouble)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reach(&status)
	now := r.cfg.Now()
	out := report.Cluster{
		Replicated: true, Self: status.Self, Reached: status.Connected, Majority: status.Majority, State: StateOK, Confirmed: r.proof.confirmed,
	}
	for i := range status.Replicas {
		out.Replicas = append(out.Replicas, r.replica(&status.Replicas[i], now))
	}
	switch {
	case status.Connected < status.Majority || status.Removed:
		out.State = StateMinority
	case status.Connected < status.Voting:
		out.State = StateDegraded
	}
	out.Sentence = r.sentence(&status)
	if !r.proof.until.IsZero() {
		until := r.proof.until.UTC()
		out.Until = &until
	}
	out.Ledger, out.Lossless = r.ledger(now)
	return out
}

// The states of a cluster.
const (
	StateOK       = "ok"
	StateDegraded = "degraded"
	StateMinority = "minority"
)

func (r *Replicas) replica(p *cluster.Peer, now time.Time) report.Replica {
	s := r.of(p.Name)
	st := &s.state
	out := report.Replica{
		Name: p.Name, Address: p.Address, Reached: s.reached, Since: s.since.UTC(), State: cmp.Or(st.Drain, "member"), Note: st.Note, Version: st.Version,
		Clients: st.Clients, Disk: st.Disk, DiskSize: st.DiskSize, Store: st.Store,
		Log: report.ReplicaLog{Leader: st.Log.Leader, First: st.Log.First, Last: st.Log.Last, Bytes: st.Log.Bytes, Acknowledged: st.acknowledged()},
	}
	if !s.heard.IsZero() {
		started := st.Started.UTC()
		out.Started = &started
	}
	switch {
	case p.Joining:
		out.State = "joining"
	case p.Leaving:
		out.State, out.Note = "leaving", cmp.Or(out.Note, "it is removed when the logs are at the others")
	case p.Witness:
		out.State = "witness"
	}
	if p.Name != r.cfg.Self && !s.reached {
		out.Clients = 0
	}
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		if name != p.Name && !p.Joining && !r.seen[name].joining {
			out.Copies = append(out.Copies, r.copyOf(s, name, now))
		}
	}
	return out
}

// copyOf returns how far another replica has what one recorded.
func (r *Replicas) copyOf(of *seen, at string, now time.Time) report.ReplicaCopy {
	other := &r.seen[at].state
	c := report.ReplicaCopy{Replica: at, Behind: of.state.Log.Lag[at]}
	if other.Store == StoreNone {
		return c
	}
	var stored uint64
	for _, origin := range of.state.Own {
		want, has := of.state.Acknowledged[origin], other.Stored[origin]
		c.Samples += want.Samples - min(want.Samples, has.Samples)
		c.Blocks += want.Sequence - min(want.Sequence, has.Sequence)
		c.Missing += has.Missing
		stored += min(want.Samples, has.Samples)
	}
	if c.Samples > 0 {
		c.Seconds = of.course.waits(now, stored).Round(100 * time.Millisecond).Seconds()
	}
	return c
}

// word is a number in words.
func word(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five"}
	return words[min(n, len(words)-1)]
}

// sentence says in words whom this replica reaches, and what that means.
func (r *Replicas) sentence(s *cluster.Status) string {
	if why := s.Trouble(); why != nil {
		return upper(errors.Unwrap(why).Error()) + "."
	}
	if s.Connected == s.Voting {
		return fmt.Sprintf("All %d replicas: everything is acknowledged by at least %s.", s.Connected, word(s.Majority))
	}
	var away []string
	for _, p := range s.Replicas {
		if !p.Connected && !p.Joining && !p.Leaving {
			away = append(away, fmt.Sprintf("%s is not reached since %s", p.Name, clock(r.of(p.Name).since)))
		}
	}
	return fmt.Sprintf("%d of %d replicas; %s: everything is acknowledged by %s.",
		s.Connected, s.Voting, strings.Join(away, ", "), word(s.Majority))
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// ledger says what the ledgers of all replicas say together, and whether nothing was lost by them.
func (r *Replicas) ledger(now time.Time) (sentence string, lossless bool) {
	if lost := r.lost(); lost != "" {
		return lost, false
	}
	var silent []string
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		if s := r.seen[name]; !s.joining && (!s.reached || now.Sub(s.heard) > fresh) {
			silent = append(silent, name)
		}
	}
	known := ""
	if !r.proof.until.IsZero() {
		known = fmt.Sprintf("all %s that the replicas had acknowledged at %s are stored at each of them", plural.Of(r.proof.confirmed, "sample"), clock(r.proof.until))
	}
	switch {
	case len(silent) > 0 && known != "":
		return fmt.Sprintf("What %s acknowledged since then is not known here; %s.", strings.Join(silent, " and "), known), false
	case len(silent) > 0:
		return fmt.Sprintf("What %s acknowledged is not known here.", strings.Join(silent, " and ")), false
	case known == "":
		return "Not all that was acknowledged is stored at each replica yet.", false
	case now.Sub(r.proof.until) > late:
		return fmt.Sprintf("Storing is behind since then: %s.", known), false
	}
	return "Nothing acknowledged was lost: " + known + ".", true
}

// late is how old the last full comparison may be.
const late = 15 * time.Second

// lost names a replica that lacks samples for good; "" for none.
func (r *Replicas) lost() string {
	for _, at := range slices.Sorted(maps.Keys(r.seen)) {
		for _, of := range slices.Sorted(maps.Keys(r.seen)) {
			for _, origin := range r.seen[of].state.Own {
				if n := r.seen[at].state.Stored[origin].Missing; n > 0 {
					return fmt.Sprintf("%s of %s %s missing at %s: the log had dropped them before they were stored there.",
						plural.Of(n, "sample"), of, plural.Word(n, "is", "are"), at)
				}
			}
		}
	}
	return ""
}

// Concern says why somebody should look at the cluster, since when, and whether nothing is recorded here; "" if all is well.
func (r *Replicas) Concern() (sentence string, since time.Time, critical bool) {
	if r == nil {
		return "", since, false
	}
	all := r.Cluster()
	if all.State == StateOK {
		if lost := !all.Lossless && strings.Contains(all.Ledger, "missing"); lost {
			return strings.TrimSuffix(all.Ledger, "."), since, false
		}
		return "", since, false
	}
	for i := range all.Replicas {
		if p := &all.Replicas[i]; !p.Reached && p.State != "joining" && p.Since.After(since) {
			since = p.Since
		}
	}
	return strings.TrimSuffix(all.Sentence, "."), since, all.State == StateMinority
}
