package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// anchor is the content of the file beside the log: where the log ended when it was written.
type anchor struct {
	Head
	Segment uint64 `json:"segment"`
	// Closed says that nothing followed the head: the log was closed properly.
	Closed bool `json:"closed"`
}

// errNoAnchor says that the anchor's file has another content.
var errNoAnchor = errors.New("does not hold what the log wrote there")

// readAnchor reads the anchor beside the log, and reports whether there is one. A file that is not an anchor
// is errNoAnchor; any other error means that the file could not be read, and says nothing about its content.
func readAnchor(log string) (a anchor, there bool, err error) {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(log), Anchor))
	if errors.Is(err, fs.ErrNotExist) {
		return anchor{}, false, nil
	}
	if err != nil {
		return anchor{}, false, fmt.Errorf("the file %s, which says where the log ended, cannot be read: %w", Anchor, err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return anchor{}, false, fmt.Errorf("the file %s, which says where the log ended, %w: %w", Anchor, errNoAnchor, err)
	}
	return a, true, nil
}
