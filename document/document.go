// Package document stores versioned configuration documents of agents and devices, which may refer to each other and be validated by a
// JSON Schema.
package document

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/internal/problem"
)

// Limits.
const (
	MaxText     = 1 << 20  // bytes of a document
	MaxName     = 256      // bytes of a name
	MaxNote     = 1 << 10  // bytes of a note
	MaxVersions = 1000     // that are kept of a document; older ones are forgotten
	maxResolved = 16 << 20 // bytes of a document with all it refers to
	maxDepth    = 32       // of references
)

// Limit is how much there may be when a document is written. Older versions are forgotten before it is reached.
type Limit struct {
	Documents int // of the owner
	Octets    int // of all versions of the owner's documents
	All       int // bytes of all documents of the node
}

// LimitOf returns the limit for a document of an owner. What an agent writes leaves room for
// people: half of what its owner and a quarter of what the node may have.
func LimitOf(owner, by string) Limit {
	l := Limit{Documents: 10_000, Octets: 512 << 20, All: 1 << 30}
	switch {
	case strings.HasPrefix(owner, "agent/"):
		l.Documents, l.Octets = 1000, 64<<20
	case Personal(owner):
		l.Documents, l.Octets = 200, 16<<20
	}
	if strings.HasPrefix(by, "agent:") {
		l.Documents, l.Octets, l.All = l.Documents/2, l.Octets/2, l.All/4*3
	}
	return l
}

// Shared is the owner of documents that everybody may refer to.
const Shared = "shared"

// OwnerOf returns the owner of the documents that a person or program keeps for itself: person/ada for the caller person:ada.
func OwnerOf(caller string) string { return strings.Replace(caller, ":", "/", 1) }

// Personal reports whether documents of an owner are a person's or program's own, which others do not read.
func Personal(owner string) bool {
	return strings.HasPrefix(owner, "person/") || strings.HasPrefix(owner, "token/")
}

// Key names a document. Names are without regard to case, owners are not.
type Key struct {
	Owner string // "agent/<name>", "device/<path>", "person/<name>", "token/<name>" or Shared
	Name  string // as it was written first, such as "config" or "devices/b1/registry.csv"
}

// String returns owner and name with a colon between them.
func (k Key) String() string { return k.Owner + ":" + k.Name }

// Fold returns the key that all spellings of it have in common.
func (k Key) Fold() Key { return Key{k.Owner, strings.ToLower(k.Name)} }

// Type is the form of a text.
type Type string

// The types. References are possible in YAML and JSON.
const (
	YAML Type = "yaml"
	JSON Type = "json"
	CSV  Type = "csv"
	Text Type = "text"
)

// Document is one version of a document.
type Document struct {
	Key
	Type    Type
	Text    string
	Version int // from 1
	By      string
	At      time.Time
	Note    string
	Deleted bool // this version says that the document is gone
}

// What becomes of a document.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Change says that what a document means has changed.
type Change struct {
	Key
	Action  string // Created, Changed, Deleted
	Version int
	By      string
	// Because is the document that was changed, if it is another one, to which this one refers.
	Because *Key
}

// AnyVersion as what is expected means that it does not matter.
const AnyVersion = -1

// Storage keeps versions. Keys are given in any spelling. Methods are safe for concurrent use.
type Storage interface {
	// PutDocument adds the version behind another one, 0 for the first, and returns its number.
	// fault.Conflict if that is not the newest one, fault.Unavailable if the owner has too many.
	PutDocument(ctx context.Context, d *Document, behind int) (version int, err error)
	// Document returns a version, 0 for the newest, also if it is deleted; fault.NotFound.
	Document(ctx context.Context, k Key, version int) (Document, error)
	// Documents lists the newest versions that are not deleted, without texts, by owner and name;
	// owner "" for all.
	Documents(ctx context.Context, owner string) ([]Document, error)
	// DocumentHistory lists all versions without texts, the newest first.
	DocumentHistory(ctx context.Context, k Key) ([]Document, error)
	// Referring returns the newest documents of an owner, "" for all, whose texts hold a reference.
	Referring(ctx context.Context, owner string) ([]Document, error)
	// PutDocumentSchema binds documents of the key to a JSON Schema, "" to none.
	PutDocumentSchema(ctx context.Context, k Key, schema string) error
	// DocumentSchema returns the schema, "" if there is none.
	DocumentSchema(ctx context.Context, k Key) (string, error)
}

var (
	agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

	errOwner   = errors.New(`must be agent/<name>, device/<path>, person/<name>, token/<name> or shared`)
	errName    = fmt.Errorf("must have 1 to %d bytes without control characters, and no segment that is empty, . or .., or begins or ends with a space", MaxName)
	errOwn     = errors.New("must not begin with shared/, which refers to a shared document; use the owner shared")
	errType    = errors.New("must be yaml, json, csv or text")
	errUTF8    = errors.New("must be UTF-8 without NUL")
	errTooLong = fmt.Errorf("has more than %d bytes; split it and refer to the parts with config://<name>", MaxText)
	errNote    = fmt.Errorf("must be UTF-8 of at most %d bytes", MaxNote)
)

// Validate returns what is wrong with the key.
func (k Key) Validate() error {
	kind, rest, _ := strings.Cut(k.Owner, "/")
	switch {
	case k.Owner == Shared:
	case kind == "agent" && agentName.MatchString(rest) && rest != "node":
	case (kind == "device" || Personal(k.Owner)) && tidyPath(rest):
	default:
		return fault.E("document.Validate", fault.Invalid, "owner", errOwner)
	}
	if !tidyPath(k.Name) {
		return fault.E("document.Validate", fault.Invalid, "name", errName)
	}
	if strings.HasPrefix(strings.ToLower(k.Name), Shared+"/") {
		return fault.E("document.Validate", fault.Invalid, "name", errOwn)
	}
	return nil
}

func tidyPath(s string) bool {
	if s == "" || len(s) > MaxName || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.TrimSpace(segment) != segment {
			return false
		}
	}
	return true
}

// validate returns what is wrong with a document, its content excepted.
func (d *Document) validate() error {
	if err := d.Key.Validate(); err != nil {
		return err
	}
	invalid := func(what string, err error) error { return fault.E("document.Set", fault.Invalid, what, err) }
	switch {
	case d.Type != YAML && d.Type != JSON && d.Type != CSV && d.Type != Text:
		return invalid("type", errType)
	case len(d.Text) > MaxText:
		return invalid("text", errTooLong)
	case !utf8.ValidString(d.Text) || strings.Contains(d.Text, "\x00"):
		return invalid("text", errUTF8)
	case len(d.Note) > MaxNote || !utf8.ValidString(d.Note):
		return invalid("note", errNote)
	}
	return nil
}

// Problem is one thing that is wrong with a document.
type Problem struct {
	Line int    // from 1; 0 if it is unknown
	Path string // such as "limits.max" or "points.3.name"; "" for the whole
	Text string // what is wrong, and what would be right
}

// Problems is the cause of an error: everything that is wrong.
type Problems []Problem

// Error returns the first problem, and how many there are more.
func (p Problems) Error() string {
	if len(p) == 0 {
		return "the document is wrong"
	}
	return problem.First(p[0].Line, p[0].Path, p[0].Text, len(p))
}
