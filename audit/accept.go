package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
)

// Accepted is the action that acknowledges known damage of the log, such as after a restore. Its Detail names
// each problem, so that it covers nothing found later.
const Accepted = "audit.accept"

// maxShown bounds the length of a problem's text in such an entry.
const maxShown = 200

// acceptance is the detail of an entry Accepted.
type acceptance struct {
	Reason   string            `json:"reason"`
	Problems []acceptedProblem `json:"problems"`
}

type acceptedProblem struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"` // may be truncated
	Sum  string `json:"sum"`  // hexadecimal SHA-256 of place and text, as Problem.String formats them
}

func (p *Problem) sum() string {
	sum := sha256.Sum256([]byte(p.String()))
	return hex.EncodeToString(sum[:])
}

var (
	errNoDamage   = errors.New("there is no damage that was not accepted before")
	errNoReason   = errors.New("say in at most 1,000 characters why it is accepted, such as: restored from the backup of 1 November")
	errManyDamage = fmt.Errorf("more than %d problems: keep audit.db, audit.head and audit.archive elsewhere, and start the node without them", maxProblems)
)

// Accept writes an entry of the actor that names the existing damage and the reason for accepting it. Status no
// longer reports it; Verify does, with who accepted it. Damage found later is reported as before. It fails with
// fault.NotFound if there is none, and with fault.Invalid without a reason or for more problems than a Report lists.
func (l *Log) Accept(ctx context.Context, actor, reason string) error {
	const op = "audit.Accept"
	if reason = strings.TrimSpace(reason); reason == "" || len(reason) > 1000 {
		return fault.E(op, fault.Invalid, "reason", errNoReason)
	}
	if _, err := l.Verify(ctx, nil); err != nil {
		return err
	}
	// That is a problem, too, and must be among the accepted ones.
	if err := l.writer.beginAnew(); err != nil { //nolint:contextcheck // what waits is written, whoever waits
		return err
	}
	found, err := l.Verify(ctx, nil)
	if err != nil {
		return err
	}
	if found.More > 0 {
		return fault.E(op, fault.Invalid, "", errManyDamage)
	}
	detail := acceptance{Reason: reason, Problems: []acceptedProblem{}}
	for i := range found.Problems {
		if p := &found.Problems[i]; p.Accepted == "" {
			detail.Problems = append(detail.Problems, acceptedProblem{p.Seq, bound(p.Text, maxShown), p.sum()})
		}
	}
	if len(detail.Problems) == 0 && l.Status().Damage == "" {
		return fault.E(op, fault.NotFound, "", errNoDamage)
	}
	if err := l.Append(ctx, Entry{Actor: actor, Action: Accepted, Subject: File, Outcome: "ok", Detail: mustJSON(detail)}); err != nil {
		return err
	}
	l.state.accept()
	_, err = l.Verify(ctx, nil) // what came up meanwhile is reported again
	return err
}

// hearAccepted records which damage an entry accepts. Agents and other nodes cannot accept any.
func (c *checker) hearAccepted(e *Entry) {
	var a acceptance
	if e.Action != Accepted || e.Outcome != "ok" || strings.HasPrefix(e.Actor, "agent:") || strings.HasPrefix(e.Actor, "child:") ||
		json.Unmarshal(e.Detail, &a) != nil {
		return
	}
	if c.accepted == nil {
		c.accepted = map[string]string{}
	}
	for _, p := range a.Problems {
		if c.accepted[p.Sum] == "" {
			c.accepted[p.Sum] = fmt.Sprintf("by %s on %s: %s", e.Actor, e.Time.UTC().Format(time.DateOnly), a.Reason)
		}
	}
}

// compareAccepted marks the accepted problems, once all entries have been read.
func (c *checker) compareAccepted() {
	for i := range c.problems {
		c.problems[i].Accepted = c.accepted[c.problems[i].sum()]
	}
}
