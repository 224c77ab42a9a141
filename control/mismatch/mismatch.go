// Package mismatch raises an alert of the node while points do not have their commanded values.
package mismatch

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/presence"
)

// Key is the key of the alert.
const Key = "control"

const named = 5 // points that the alert names

// Alert is the alert about points that do not have their commanded values. It is safe for concurrent use.
type Alert struct {
	// Raise opens, changes or closes the alert of a key.
	Raise func(key string, message []byte) error
	Now   func() time.Time
	Log   *slog.Logger

	mu   sync.Mutex
	from map[point.Path]time.Time // since when points have not had their values
}

// Update sets the points that do not have their commanded values now.
func (a *Alert) Update(list []control.MismatchedPoint) {
	a.note(list)
	message := struct {
		Text     string            `json:"text,omitempty"`
		Severity presence.Severity `json:"severity,omitempty"`
		Cleared  bool              `json:"cleared,omitempty"`
	}{Text: sentence(list), Severity: presence.Warning, Cleared: len(list) == 0}
	text, err := json.Marshal(message)
	if err == nil {
		err = a.Raise(Key, text)
	}
	if err != nil {
		a.Log.Warn("an alert cannot be raised", slog.String("alert", Key), slog.Any("err", err))
	}
}

// note records since when points have not had their commanded values.
func (a *Alert) note(list []control.MismatchedPoint) {
	at := a.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	next := make(map[point.Path]time.Time, len(list))
	for _, p := range list {
		next[p.Point] = at
		if before, was := a.from[p.Point]; was {
			next[p.Point] = before
		}
	}
	a.from = next
}

// Since returns since when a point has not had its commanded value; the zero time if unknown.
func (a *Alert) Since(path point.Path) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.from[path]
}

// sentence names the points that do not have their commanded values; "" if there are none.
func sentence(list []control.MismatchedPoint) string {
	if len(list) == 0 {
		return ""
	}
	names := make([]string, 0, named+1)
	for i, a := range list {
		if i == named {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", a.Point, a.Output))
	}
	return fmt.Sprintf("%s %s not have what %s set to: %s; see who holds them, and the device", plural.Of(len(list), "point"),
		plural.Word(len(list), "does", "do"), plural.Word(len(list), "it was", "they were"), strings.Join(names, ", "))
}
