package stream

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhoOpensAFeedGetsItsFirstMessage(t *testing.T) {
	l, leave, err := newFeeds(1<<20).join("key", func(f *feed) (func(), error) {
		f.deliver(json.RawMessage(`{"n":1}`)) // at once
		return func() {}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	parts, _, err := l.take(nil)
	if err != nil || len(parts) != 1 || !strings.Contains(string(parts[0]), `{"n":1}`) {
		t.Errorf("it gets %s, %v", parts, err)
	}
}
