package answer

import (
	"encoding/json"
	"time"
)

// Document is a version of a configuration document.
type Document struct {
	Owner   string    `json:"owner"`
	Name    string    `json:"name"`
	Type    string    `json:"type" api:"one-of=yaml|json|csv|text"`
	Text    *string   `json:"text,omitempty" doc:"Not in lists"`
	Version int       `json:"version" api:"schema=Count"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Note    string    `json:"note"`
	Deleted bool      `json:"deleted" doc:"This version says that the document is gone"`
	// Content is the newest version as agents receive it.
	Content json.RawMessage `json:"content,omitempty" doc:"What the text says, with what it refers to in its place; for agents that ask for the newest version"`
}

// Documents is a list of documents, or of versions of one.
type Documents struct {
	Documents []Document `json:"documents"`
}

// DocumentCheck lists what is wrong with a document.
type DocumentCheck struct {
	Problems []ConfigProblem `json:"problems"`
}

// DocumentDiff is the difference between two versions, in unified format.
type DocumentDiff struct {
	Diff string `json:"diff"`
}

// DocumentSchema is the JSON Schema that a document is bound to.
type DocumentSchema struct {
	Schema string `json:"schema" doc:"A text of JSON; empty if there is none"`
}
