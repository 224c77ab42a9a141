package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"voltbus/internal/plural"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/rig"
)

// recorderKill studies what a killed node loses.
func recorderKill() experiment.Experiment {
	return experiment.Experiment{
		Name:     "recorder-kill",
		Title:    "A recorder under load is killed again and again",
		Question: "Is every acknowledged sample in the history, once, after the node was killed at random moments?",
		Method: []string{
			"A whole node in a process of its own records numbered samples from several writers without pause, each writer waiting for the answer to its call. The lab notes every call before it is made and every answer.",
			"At a random number of answers the process gets SIGKILL, which it cannot notice, and is started again on the same data directory. At the end the node is started without writers, settles, and every row is read through the HTTP API.",
			"A sample whose call got no answer may be there or not; both are right. An acknowledged one must be there once, and with the value that belongs to its time.",
			"The metric is acknowledged samples a second while the node was up, its start and the recovery of its log included.",
		},
		Limits: []string{
			"SIGKILL ends the process, not the machine: what the kernel holds for the disk survives. Each block is flushed before the answer, so that a power cut should lose no more; this study does not cut power.",
			"The writers are in the node's process, so the way over the network is not part of it.",
		},
		Metric: experiment.Metric{Name: "acknowledged while being killed", Unit: "samples/s", Axis: "kills", Higher: true},
		Settings: []experiment.Setting{
			{Name: "kills", Default: "20", Quick: "3", Doc: "how often the node is killed in a repeat"},
			{Name: "writers", Default: "4", Doc: "writers, each waiting for the answer to its call"},
			{Name: "batch", Default: "50", Doc: "samples in a call"},
			{Name: "answers", Default: "500", Quick: "100", Doc: "most answers between two kills"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			kills := max(1, b.Int("kills"))
			c := experiment.Case{Name: fmt.Sprintf("%d kills", kills), X: float64(kills)}
			return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
				s := killStudy{bench: b, trial: t, book: account.NewBook(), random: rand.New(rand.NewPCG(uint64(b.Seed()), uint64(t.Repeat)))}
				return s.run(ctx, kills)
			})
		},
	}
}

// killStudy is one trial.
type killStudy struct {
	bench  *experiment.Bench
	trial  *experiment.Trial
	book   *account.Ledger
	random *rand.Rand
	next   int64 // number of the next sample of each writer
	acks   int
}

func (s *killStudy) run(ctx context.Context, kills int) error {
	file, err := rig.Site{}.Write(s.trial.Dir)
	if err != nil {
		return err
	}
	var up time.Duration
	for i := range kills {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := time.Now()
		if err := s.kill(file); err != nil {
			return err
		}
		up += time.Since(begin)
		s.trial.Report(experiment.Progress{
			Rate: float64(s.acks) / up.Seconds(), Message: fmt.Sprintf("kill %d, %s acknowledged", i+1, plural.Of(s.acks, "sample")),
		})
	}
	s.trial.Value(float64(s.acks) / up.Seconds())
	return s.audit(ctx, file)
}

// kill starts the node, lets it answer for a while, and kills it. What it said before it died is
// read to the end.
func (s *killStudy) kill(file string) (err error) {
	w := rig.Writers{Config: file, Count: max(1, s.bench.Int("writers")), Batch: max(1, s.bench.Int("batch")), First: s.next}
	child, err := w.Start(s.bench.Program())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, child.Kill()) }()
	enough, answers := 1+s.random.IntN(max(1, s.bench.Int("answers"))), 0
	for {
		var o rig.Wrote
		if err := child.Next(&o); err != nil {
			if answers >= enough {
				s.book.Interrupted()
				return nil
			}
			return err
		}
		s.next = max(s.next, o.First+int64(o.Samples))
		if !o.Acknowledged {
			s.book.Sent(o.Writer, o.First, o.Samples)
			continue
		}
		s.book.Acknowledged(o.Writer, o.First, o.Samples)
		s.acks += o.Samples
		if answers++; answers == enough {
			if err := child.Signal(); err != nil {
				return err
			}
		}
	}
}

// portion is how many numbers one query asks for.
const portion = 50_000

// audit reads everything back through the API.
func (s *killStudy) audit(ctx context.Context, file string) (err error) {
	n, err := rig.Open(ctx, s.bench.Program(), file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if _, err := n.Settled(ctx); err != nil {
		return err
	}
	audit := s.book.Audit()
	for writer := range max(1, s.bench.Int("writers")) {
		for first := int64(0); first < s.next; first += portion {
			statement := fmt.Sprintf("SELECT value::BIGINT FROM samples WHERE point = '%s' AND value >= %d AND value < %d ORDER BY time",
				rig.WriterPoint(writer), first, first+portion)
			if err := n.Numbers(ctx, statement, 2*portion, func(v int64) { audit.Row(writer, v) }); err != nil {
				return err
			}
		}
	}
	s.trial.Account(audit.Balance())
	return nil
}
