package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/fault"
	"voltbus/identity"
)

// trial is a configuration that must be confirmed.
type trial struct {
	mu   sync.Mutex
	end  time.Time // when the node goes back; zero while nothing is known to be on trial
	note string    // that the node went back, until the next change
	wake chan struct{}
}

// begin notes until when a trial must be confirmed; zero: there is none any more.
func (t *trial) begin(end time.Time) {
	t.mu.Lock()
	t.end = end
	if !end.IsZero() {
		t.note = ""
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default: // it looks anyway
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

// tryConfig is change for a text that must be confirmed.
func (s *settings) tryConfig(ctx context.Context, c api.ConfigChange, cfg *config.Config) (answer.ConfigApplied, error) {
	before, err := s.inFile()
	if err != nil {
		return answer.ConfigApplied{}, fault.E("node.ChangeConfig", fault.Rejected, s.file.Name(), errTrialBefore)
	}
	if err := tryable(before, cfg); err != nil {
		return answer.ConfigApplied{}, err
	}
	var done config.Changes
	err = s.file.Try([]byte(c.Text), c.Version, c.User.Name, c.Bound, func() error {
		var err error
		done, err = s.node.apply(context.WithoutCancel(ctx), cfg) // half a change helps nobody
		return err
	})
	if err != nil {
		if _, is, failed := s.file.Trial(); failed == nil && is && s.trial.until().IsZero() {
			s.trial.begin(time.Now().Add(backAgain)) // the text before could not be put back
		}
		return answer.ConfigApplied{}, err
	}
	s.trial.begin(time.Now().Add(c.Bound))
	return answer.ConfigApplied{Version: revision.VersionOf([]byte(c.Text)), Changes: changes(done)}, nil
}

// tryable reports whether a change holds at once, as one on trial must.
func tryable(before, after *config.Config) error {
	if later := config.Compare(before, after).Restart; len(later) > 0 {
		return fault.E("node.ChangeConfig", fault.Rejected, strings.Join(later, ", "), errTrialRestart)
	}
	return nil
}

// ConfirmConfig implements api.Settings.
func (s *settings) ConfirmConfig(_ context.Context, version string, user identity.User) error {
	if err := s.permitConfirm(user); err != nil {
		return err
	}
	err := s.file.Confirm(version)
	if err == nil {
		s.trial.begin(time.Time{})
	}
	return err
}

// ReloadConfig implements api.Settings.
func (s *settings) ReloadConfig(ctx context.Context, user identity.User) (answer.ConfigApplied, error) {
	text, err := s.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	cfg, err := s.load(text)
	if err != nil {
		return answer.ConfigApplied{}, s.invalid(err, text)
	}
	if user.Visitor { // somebody of this node lets a wider uplink.allow of the file hold
		if err := noWider("node.ReloadConfig", &s.node.Config().Uplink, &cfg.Uplink); err != nil {
			return answer.ConfigApplied{}, err
		}
	}
	done, err := s.node.apply(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	s.node.log.InfoContext(ctx, "configuration read again", slog.String("user", user.Name))
	return answer.ConfigApplied{Version: revision.VersionOf(text), Changes: changes(done)}, nil
}

// backAgain is how long a node waits before it tries once more to go back.
const backAgain = 5 * time.Second

// watchTrial goes back to the configuration before when nobody confirmed the one on trial, until ctx ends.
// A trial that is left then ends with the next start.
func (s *settings) watchTrial(ctx context.Context) error {
	if t, is, err := s.file.Trial(); err == nil && is {
		s.trial.begin(time.Now().Add(t.Bound))
	}
	for {
		var over <-chan time.Time
		if end := s.trial.until(); !end.IsZero() {
			over = time.After(time.Until(end))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.trial.wake:
		case <-over:
			s.goBack(ctx)
		}
	}
}

// goBack puts back the configuration before the trial, and says so.
func (s *settings) goBack(ctx context.Context) {
	t, is, err := s.file.Trial()
	if err == nil && !is {
		s.trial.begin(time.Time{})
		return
	}
	if err == nil {
		err = s.file.Back(func(text []byte) error {
			cfg, err := s.load(text)
			if err == nil {
				_, err = s.node.apply(ctx, cfg)
			}
			return err
		})
	}
	if err != nil {
		s.trial.begin(time.Now().Add(backAgain))
	} else {
		s.trial.begin(time.Time{})
		s.trial.say(wentBack(&t, now()))
	}
	s.node.tellBack(ctx, &t, err)
}

// wentBack says that a node went back.
func wentBack(t *revision.Trial, at time.Time) string {
	return fmt.Sprintf("went back to the configuration before at %s: nobody confirmed the one of %s", at.UTC().Format(time.RFC3339), t.User)
}

// tellBack writes into log and audit log that the node went back, or why it cannot.
func (n *Node) tellBack(ctx context.Context, t *revision.Trial, err error) {
	attrs := []any{slog.String("version", t.Version), slog.String("user", t.User)}
	if err != nil {
		n.log.WarnContext(ctx, "the configuration on trial stays, since the one before cannot be put back yet", append(attrs, slog.Any("err", err))...)
	} else {
		n.log.WarnContext(ctx, "nobody confirmed the configuration on trial; the one before is back", attrs...)
	}
	n.tell(ctx, n.deed("config.rollback", err, map[string]string{
		"from": t.Version, "to": revision.VersionOf([]byte(t.Text)), "tried_by": t.User, "begun": t.Begun.Format(time.RFC3339),
	}))
}
