package dispatch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/fault"
)

// keeper puts decisions on disk: into the journal and the audit log.
type keeper struct {
	journal Journal
	audit   Audit
	log     *slog.Logger

	unsaved map[[2]string]control.Record // records that could not be stored
	untold  []audit.Entry                // entries that could not be written to the audit log
	waiting []audit.Entry                // outcomes about to be written to the audit log
	keepBy  time.Duration                // when deferred outcomes are stored, on the steady clock; 0: none
	tellBy  time.Duration                // when the audit log gets them; 0: none pending

	mu      sync.Mutex
	trouble error // why nothing can be stored
}

const (
	retryKeep = time.Second // before a failed disk is tried again
	maxUntold = 10_000      // entries pending for an audit log that failed

	tellSoon   = 50 * time.Millisecond // until outcomes are written to the audit log
	maxWaiting = 4096                  // outcomes pending for that, at most
)

func newKeeper(cfg *Config) keeper {
	return keeper{journal: cfg.Journal, audit: cfg.Audit, log: cfg.Log, unsaved: make(map[[2]string]control.Record)}
}

// why returns why nothing can be stored; nil if there is no problem. It is safe for concurrent use.
func (k *keeper) why() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trouble
}

// due returns the time until something is to be stored.
func (k *keeper) due(now control.Instant) time.Duration {
	wait := time.Minute
	if k.keepBy > 0 {
		wait = min(wait, k.keepBy-now.Steady)
	}
	if k.tellBy > 0 {
		wait = min(wait, k.tellBy-now.Steady)
	}
	if len(k.unsaved)+len(k.untold) > 0 {
		wait = min(wait, retryKeep)
	}
	return wait
}

// keep stores the changes and writes the audit log, concurrently.
func (k *keeper) keep(t *turn, changes func() []control.Record) error {
	k.waiting = behind(k.waiting, t.entries)
	var records []control.Record
	var entries []audit.Entry
	if k.canWait(t) {
		k.keepBy, k.tellBy = cmp.Or(k.keepBy, t.now.Steady+retryKeep), cmp.Or(k.tellBy, t.now.Steady+tellSoon)
	} else {
		k.keepBy = 0
		records = k.withUnsaved(changes())
	}
	if late := k.tellBy > 0 && t.now.Steady >= k.tellBy; late || k.keepBy == 0 || len(k.waiting) > maxWaiting {
		entries, k.waiting, k.tellBy = behind(k.untold, k.waiting), nil, 0
	}
	ctx := context.Background() // decisions are stored, whether or not callers still wait
	var kept, told error
	var both sync.WaitGroup
	if len(records) > 0 {
		both.Go(func() { kept = k.journal.Keep(ctx, records) })
	}
	if len(entries) > 0 {
		told = k.audit.Append(ctx, entries...)
	}
	both.Wait()
	if len(records) > 0 {
		clear(k.unsaved)
	}
	if kept != nil {
		for _, r := range records {
			k.unsaved[[2]string{r.Kind, r.Key}] = r
		}
	}
	if len(entries) > 0 {
		k.untold = nil
	}
	if told != nil {
		k.untold = slices.Clone(entries[:min(len(entries), maxUntold)])
	}
	return k.settle(errors.Join(kept, told))
}

// behind returns entries followed by more, without a copy if one of them is empty.
func behind(entries, more []audit.Entry) []audit.Entry {
	if len(entries) == 0 {
		return more
	}
	return append(entries, more...)
}

// canWait reports whether only outcomes of writes occurred, with no further effects. They are stored and
// reported a moment later, together with what follows: a node that is killed meanwhile finds those writes in
// progress, says so in the audit log, and reads the points.
func (k *keeper) canWait(t *turn) bool {
	due := k.keepBy > 0 && t.now.Steady >= k.keepBy
	idle := t.outcomes || k.keepBy > 0 && len(t.entries) == 0
	return idle && len(t.jobs)+len(t.writes)+len(k.unsaved)+len(k.untold) == 0 && !t.last && !due
}

// withUnsaved adds the records that could not be stored before to those that changed since.
func (k *keeper) withUnsaved(records []control.Record) []control.Record {
	if len(k.unsaved) == 0 {
		return records
	}
	for _, r := range records {
		k.unsaved[[2]string{r.Kind, r.Key}] = r
	}
	records = make([]control.Record, 0, len(k.unsaved))
	for _, r := range k.unsaved {
		records = append(records, r)
	}
	return records
}

// settle records whether storing works.
func (k *keeper) settle(err error) error {
	before := k.trouble
	if err != nil {
		err = fault.E("dispatch.keep", fault.Unavailable, "", &unkept{err})
	}
	k.mu.Lock()
	k.trouble = err
	k.mu.Unlock()
	switch {
	case err != nil && before == nil:
		k.log.Error("control cannot keep what it decides, and refuses commands", slog.Any("err", err))
	case err == nil && before != nil:
		k.log.Info("control keeps what it decides again")
	}
	return err
}

// unkept is the error about a decision that is not on disk.
type unkept struct{ err error }

// Error implements error.
func (u *unkept) Error() string {
	return "what was decided cannot be kept: " + u.err.Error() + "; nothing new is written to devices until it can; see the node's health"
}

// Unwrap returns the cause.
func (u *unkept) Unwrap() error { return u.err }
