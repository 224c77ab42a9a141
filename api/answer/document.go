package answer

import "time"

// Document is a version of a configuration document.
type Document struct {
	Owner   string    `json:"owner"`
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Text    *string   `json:"text,omitempty"` // not in lists
	Version int       `json:"version"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Note    string    `json:"note"`
	Deleted bool      `json:"deleted"`
}

// Documents is a list of documents, or of versions of one.
type Documents struct {
	Documents []Document `json:"documents"`
}

// DocumentCheck says what is wrong with a document.
type DocumentCheck struct {
	Problems []ConfigProblem `json:"problems"`
}

// DocumentDiff is how two versions differ, in the unified form.
type DocumentDiff struct {
	Diff string `json:"diff"`
}

// DocumentSchema is the JSON Schema that a document is bound to.
type DocumentSchema struct {
	Schema string `json:"schema"` // "" if there is none
}
