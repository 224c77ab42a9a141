package keeper

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"voltbus/presence"
)

// Key is the key of the alert.
const Key = "schedules"

// tell raises or ends the alert that schedules cannot do what they should.
func (k *Keeper) tell(ctx context.Context) {
	var parts []string
	for _, s := range k.Schedules() {
		switch {
		case s.Wrong != nil:
			parts = append(parts, fmt.Sprintf("%s: %v", s.Name, s.Wrong))
		case len(s.Problems) > 1:
			parts = append(parts, fmt.Sprintf("%s cannot command %d points, such as %s: %s", s.Name, len(s.Problems), s.Problems[0].Point, s.Problems[0].Text))
		case len(s.Problems) == 1:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s cannot command %s", s.Name, s.Problems[0].Point))+": "+s.Problems[0].Text)
		}
	}
	text := ""
	if len(parts) > 0 {
		text = "schedules do not do what they should: " + strings.Join(parts, "; ")
	}
	k.mu.Lock()
	same := k.told != nil && *k.told == text
	k.told = &text
	k.mu.Unlock()
	if !same {
		k.raise(ctx, text)
	}
}

// raise opens, changes or, without a text, closes the alert.
func (k *Keeper) raise(ctx context.Context, text string) {
	message, err := json.Marshal(struct {
		Text     string            `json:"text,omitempty"`
		Severity presence.Severity `json:"severity,omitempty"`
		Cleared  bool              `json:"cleared,omitempty"`
	}{Text: text, Severity: presence.Warning, Cleared: text == ""})
	if err == nil {
		err = k.o.Raise(Key, message)
	}
	if err != nil {
		k.o.Log.WarnContext(ctx, "an alert cannot be raised", slog.String("alert", Key), slog.Any("err", err))
	}
}
