package configuration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/fault"
	"voltbus/operation"
)

// trial is a configuration that must be confirmed.
type trial struct {
	mu   sync.Mutex
	end  time.Time // when the node reverts it; zero if no trial is known
	note string    // that the node reverted a trial; kept until the next change
	wake chan struct{}
}

// begin sets the time by which a trial must be confirmed; zero: there is no trial any more.
func (t *trial) begin(end time.Time) {
	t.mu.Lock()
	t.end = end
	if !end.IsZero() {
		t.note = ""
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default: // a check is already pending
	}
}

func (t *trial) until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end
}

func (t *trial) say(note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = note
}

func (t *trial) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note
}

var errTrialBefore = errors.New("holds what this node cannot apply, so it could not go back to it; repair it on the node itself, or change it over the node's own address")

var errTrialRestart = errors.New("changes when the node is started again, which cannot be tried; change it on the node itself, or over its own address")

// tryOut is change for a configuration that must be confirmed.
func (p *Part) tryOut(ctx context.Context, c *operation.Call, to *change) (answer.ConfigApplied, error) {
	before, err := p.inFile()
	if err != nil {
		return answer.ConfigApplied{}, fault.E("configuration.change", fault.Rejected, p.file.Name(), errTrialBefore)
	}
	if err := tryable(before, to.means); err != nil {
		return answer.ConfigApplied{}, err
	}
	var done config.Changes
	err = p.file.Try(to.text, to.version, userOf(c), to.bound, func() error {
		var err error
		done, err = p.opts.Apply(context.WithoutCancel(ctx), to.means) // a half-applied change is of no use
		return err
	})
	if err != nil {
		if _, is, failed := p.file.Trial(); failed == nil && is && p.trial.until().IsZero() {
			p.trial.begin(time.Now().Add(backAgain)) // the previous content could not be restored
		}
		return answer.ConfigApplied{}, err
	}
	p.trial.begin(time.Now().Add(to.bound))
	return answer.ConfigApplied{Version: versionOf(to.text), Changes: Changes(done)}, nil
}

// tryable reports whether a change takes effect at once, as a trial must.
func tryable(before, after *config.Config) error {
	if later := config.Compare(before, after).Restart; len(later) > 0 {
		return fault.E("configuration.change", fault.Rejected, strings.Join(later, ", "), errTrialRestart)
	}
	return nil
}

func (p *Part) confirm(_ context.Context, _ *operation.Call, in *Trial) (operation.None, error) {
	err := p.file.Confirm(in.Version)
	if err == nil {
		p.trial.begin(time.Time{})
	}
	return operation.None{}, err
}

// backAgain is how long a node waits before it tries again to revert.
const backAgain = 5 * time.Second

// Run restores the previous configuration when nobody confirms the one on trial, until ctx ends. A
// trial still pending then ends at the next start.
func (p *Part) Run(ctx context.Context) error {
	if t, is, err := p.file.Trial(); err == nil && is {
		p.trial.begin(time.Now().Add(t.Bound))
	}
	for {
		var over <-chan time.Time
		if end := p.trial.until(); !end.IsZero() {
			over = time.After(time.Until(end))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.trial.wake:
		case <-over:
			p.goBack(ctx)
		}
	}
}

// goBack restores the configuration from before the trial, and reports it.
func (p *Part) goBack(ctx context.Context) {
	t, is, err := p.file.Trial()
	if err == nil && !is {
		p.trial.begin(time.Time{})
		return
	}
	if err == nil {
		err = p.file.Back(func(text []byte) error {
			cfg, err := p.load(text)
			if err == nil {
				_, err = p.opts.Apply(ctx, cfg)
			}
			return err
		})
	}
	if err != nil {
		p.trial.begin(time.Now().Add(backAgain))
	} else {
		p.trial.begin(time.Time{})
		p.trial.say(wentBack(&t, p.opts.Now()))
	}
	p.TellBack(ctx, &t, err)
}

// Note says that the node reverted a trial, until the next change; "" for none.
func (p *Part) Note() string { return p.trial.said() }

// OnTrial returns the configuration that awaits confirmation, and until when.
func (p *Part) OnTrial() (t revision.Trial, until time.Time, is bool) {
	if until = p.trial.until(); until.IsZero() {
		return t, until, false
	}
	t, is, err := p.file.Trial()
	return t, until, is && err == nil
}

// WentBack records that the node started with the configuration from before a trial.
func (p *Part) WentBack(t *revision.Trial, at time.Time) { p.trial.say(wentBack(t, at)) }

// wentBack describes a reverted trial.
func wentBack(t *revision.Trial, at time.Time) string {
	return fmt.Sprintf("went back to the configuration before at %s: nobody confirmed the one of %s", at.UTC().Format(time.RFC3339), t.User)
}

// TellBack records in the log and the audit log that the node reverted a trial, or why it cannot.
func (p *Part) TellBack(ctx context.Context, t *revision.Trial, err error) {
	attrs := []any{slog.String("version", t.Version), slog.String("user", t.User)}
	if err != nil {
		p.opts.Log.WarnContext(ctx, "the configuration on trial stays, since the one before cannot be put back yet", append(attrs, slog.Any("err", err))...)
	} else {
		p.opts.Log.WarnContext(ctx, "nobody confirmed the configuration on trial; the one before is back", attrs...)
	}
	p.opts.Tell(ctx, "config.rollback", err, map[string]string{
		"from": t.Version, "to": revision.VersionOf([]byte(t.Text)), "tried_by": t.User, "begun": t.Begun.Format(time.RFC3339),
	})
}
