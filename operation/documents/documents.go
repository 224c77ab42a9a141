// Package documents declares and carries out the operations on configuration documents.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"voltbus/api/answer"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation"
)

// Documents are the configuration documents of agents and devices. See document.Store.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
	History(ctx context.Context, k document.Key) ([]document.Document, error)
	Diff(ctx context.Context, k document.Key, from, to int) (string, error)
	Rollback(ctx context.Context, k document.Key, version int, by string, expect int) (document.Document, error)
	Check(ctx context.Context, d document.Document) (document.Problems, error)
	Resolved(ctx context.Context, k document.Key) (json.RawMessage, error)
	// Users lists the documents that refer to a document.
	Users(ctx context.Context, k document.Key) ([]document.Key, error)
	Schema(ctx context.Context, k document.Key) (string, error)
	SetSchema(ctx context.Context, k document.Key, schema string) (document.Problems, error)
}

// Agents are the agents of this node. An unknown name is fault.NotFound.
type Agents interface {
	Agent(name string) (registry.Agent, error)
}

// The arguments. For an agent the owner defaults to itself.
type (
	// Owner names the owner of documents.
	Owner struct {
		Owner string `json:"owner" api:"query,max=300" doc:"agent/<name>, device/<path>, person/<name>, token/<name> or shared; all if left out"`
	}
	// Key names a document.
	Key struct {
		Owner string `json:"owner" api:"person,query,max=300" doc:"agent/<name>, device/<path>, person/<name>, token/<name> or shared"`
		Name  string `json:"name" api:"required,query,max=256"`
	}
	// Version names a version of a document.
	Version struct {
		Key
		Version int `json:"version" api:"min=1" doc:"The newest if left out"`
	}
	// Text is a new version of a document.
	Text struct {
		Key
		Text   *string `json:"text" api:"required,max=1048576"`
		Type   string  `json:"type" api:"required,one-of=yaml|json|csv|text"`
		Note   string  `json:"note" api:"max=1024" doc:"Why, for the history"`
		Expect *int    `json:"expect" api:"min=-1" doc:"The version that the text was made from, 0 for a document that is not there, -1 for whatever"`
	}
	// Deletion names the document to delete.
	Deletion struct {
		Key
		Expect *int   `json:"expect" api:"min=1" doc:"The version that is meant to go; whatever is there if left out"`
		Note   string `json:"note" api:"max=1024" doc:"Why, for the history"`
	}
	// Versions names two versions to compare.
	Versions struct {
		Key
		From int `json:"from" api:"min=1" doc:"The one before if left out"`
		To   int `json:"to" api:"min=1" doc:"The newest if left out"`
	}
	// Return names the version to restore.
	Return struct {
		Key
		Version int  `json:"version" api:"required,min=1"`
		Expect  *int `json:"expect" api:"min=-1" doc:"The version that is meant to be replaced; whatever is there if left out"`
	}
	// Binding is a JSON Schema for a document.
	Binding struct {
		Key
		Schema *string `json:"schema" api:"required,max=1048576" doc:"A text of JSON, empty for none"`
	}
)

// bodyBytes leaves room for JSON escapes in content of the maximum size.
const bodyBytes = 6*document.MaxText + 64<<10

// smallBody is enough for a few numbers.
const smallBody = 4 << 10

// The operations.
var (
	List = operation.Declare[Owner, answer.Documents](operation.Spec{
		Name: "document.list", ID: "listDocuments", Method: "config_list", HTTP: "GET /documents", Role: identity.Viewer, Remote: true,
		Summary: "List configuration documents without their texts", Result: "By owner and name",
	})
	Get = operation.Declare[Version, answer.Document](operation.Spec{
		Name: "document.get", ID: "getDocumentText", Method: "config_get", HTTP: "GET /documents/text", Role: identity.Viewer, Remote: true,
		Summary: "Read a configuration document", Result: "The document",
	})
	Set = operation.Declare[Text, answer.Document](operation.Spec{
		Name: "document.set", Method: "config_set", HTTP: "PUT /documents/text", Role: identity.Engineer, Remote: true, Audited: true, Body: bodyBytes,
		Summary: "Write a document as a new version", Result: "The document without its text",
		Doc: "400 with all problems if the content is wrong; 409 if expect is another version, or if a document that refers to this one would become wrong.",
	})
	Delete = operation.Declare[Deletion, operation.None](operation.Spec{
		Name: "document.delete", Method: "config_delete", HTTP: "DELETE /documents/text", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Delete a document, whose history stays",
	})
	Check = operation.Declare[Text, answer.DocumentCheck](operation.Spec{
		Name: "document.check", HTTP: "POST /documents/check", Role: identity.Engineer, Remote: true, Body: bodyBytes,
		Summary: "Say what would be wrong with a document", Result: "All problems",
	})
	Resolved = operation.Declare[Key, json.RawMessage](operation.Spec{
		Name: "document.resolved", ID: "getResolvedDocument", HTTP: "GET /documents/resolved", Role: identity.Viewer,
		Summary: "Read the content as JSON, with what it refers to in its place", Result: "The content",
	})
	History = operation.Declare[Key, answer.Documents](operation.Spec{
		Name: "document.history", ID: "getDocumentHistory", Method: "config_history", HTTP: "GET /documents/history", Role: identity.Viewer, Remote: true,
		Summary: "List the versions of a document", Result: "Without texts, the newest first",
	})
	Diff = operation.Declare[Versions, answer.DocumentDiff](operation.Spec{
		Name: "document.diff", HTTP: "GET /documents/diff", Role: identity.Viewer, Remote: true,
		Summary: "Compare two versions", Result: "In the unified form",
	})
	Rollback = operation.Declare[Return, answer.Document](operation.Spec{
		Name: "document.rollback", HTTP: "POST /documents/rollback", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Write the text of an older version as a new one", Result: "The document without its text",
	})
	Schema = operation.Declare[Key, answer.DocumentSchema](operation.Spec{
		Name: "document.schema", ID: "getDocumentSchema", HTTP: "GET /documents/schema", Role: identity.Viewer,
		Summary: "Read the JSON Schema that a document is bound to", Result: "The schema",
	})
	SetSchema = operation.Declare[Binding, answer.DocumentCheck](operation.Spec{
		Name: "document.set-schema", HTTP: "PUT /documents/schema", Role: identity.Engineer, Audited: true, Body: bodyBytes,
		Summary: "Bind a document to a JSON Schema", Result: "What the schema finds wrong with the document that is there",
	})
)

// Part carries out the operations on documents.
type Part struct {
	Documents Documents
	Agents    Agents // nil if agents are unknown
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		operation.Bind(List, reads(func(in *Owner) *string { return &in.Owner }), p.list),
		operation.Bind(Get, reads(func(in *Version) *string { return &in.Owner }), p.get),
		operation.Bind(Set, changes(p, func(in *Text) *Key { return &in.Key }), p.set),
		operation.Bind(Delete, changes(p, func(in *Deletion) *Key { return &in.Key }), p.delete),
		operation.Bind(Check, reads(func(in *Text) *string { return &in.Owner }), p.check),
		operation.Bind(Resolved, reads(func(in *Key) *string { return &in.Owner }), p.resolved),
		operation.Bind(History, reads(func(in *Key) *string { return &in.Owner }), p.history),
		operation.Bind(Diff, reads(func(in *Versions) *string { return &in.Owner }), p.diff),
		operation.Bind(Rollback, changes(p, func(in *Return) *Key { return &in.Key }), p.rollback),
		operation.Bind(Schema, reads(func(in *Key) *string { return &in.Owner }), p.schema),
		operation.Bind(SetSchema, changes(p, func(in *Binding) *Key { return &in.Key }), p.setSchema),
	}
}

func (p *Part) list(ctx context.Context, c *operation.Call, in *Owner) (answer.Documents, error) {
	if in.Owner != "" {
		if err := (document.Key{Owner: in.Owner, Name: "any"}).Validate(); err != nil {
			return answer.Documents{}, err
		}
	}
	list, err := p.Documents.List(ctx, in.Owner)
	list = slices.DeleteFunc(list, func(d document.Document) bool { return !c.IsAgent() && !mayRead(c, d.Owner) })
	return shown(list), err
}

func (p *Part) get(ctx context.Context, c *operation.Call, in *Version) (answer.Document, error) {
	k, err := in.key()
	if err != nil {
		return answer.Document{}, err
	}
	d, err := p.Documents.Get(ctx, k, in.Version)
	if err != nil {
		return answer.Document{}, err
	}
	out := shape(&d)
	out.Text = &d.Text
	if c.IsAgent() && in.Version == 0 {
		out.Content, err = p.Documents.Resolved(ctx, k)
	}
	return out, err
}

func (p *Part) set(ctx context.Context, c *operation.Call, in *Text) (answer.Document, error) {
	d, err := p.Documents.Set(ctx, in.document(c), expected(in.Expect))
	if err != nil {
		return answer.Document{}, problems(err)
	}
	c.Did(d.Key.String(), map[string]any{"version": d.Version, "note": d.Note})
	return shape(&d), nil
}

func (p *Part) delete(ctx context.Context, c *operation.Call, in *Deletion) (operation.None, error) {
	k := document.Key(in.Key)
	c.Did(k.String(), map[string]any{"note": in.Note})
	return operation.None{}, p.Documents.Delete(ctx, k, c.Name, in.Note, expected(in.Expect))
}

func (p *Part) check(ctx context.Context, c *operation.Call, in *Text) (answer.DocumentCheck, error) {
	if _, err := in.key(); err != nil {
		return answer.DocumentCheck{}, err
	}
	list, err := p.Documents.Check(ctx, in.document(c))
	return answer.DocumentCheck{Problems: listed(list)}, problems(err)
}

func (p *Part) resolved(ctx context.Context, _ *operation.Call, in *Key) (json.RawMessage, error) {
	k, err := in.key()
	if err != nil {
		return nil, err
	}
	content, err := p.Documents.Resolved(ctx, k)
	return content, problems(err)
}

func (p *Part) history(ctx context.Context, _ *operation.Call, in *Key) (answer.Documents, error) {
	k, err := in.key()
	if err != nil {
		return answer.Documents{}, err
	}
	list, err := p.Documents.History(ctx, k)
	return shown(list), err
}

func (p *Part) diff(ctx context.Context, _ *operation.Call, in *Versions) (answer.DocumentDiff, error) {
	k, err := in.key()
	if err != nil {
		return answer.DocumentDiff{}, err
	}
	text, err := p.Documents.Diff(ctx, k, in.From, in.To)
	return answer.DocumentDiff{Diff: text}, err
}

func (p *Part) rollback(ctx context.Context, c *operation.Call, in *Return) (answer.Document, error) {
	d, err := p.Documents.Rollback(ctx, document.Key(in.Key), in.Version, c.Name, expected(in.Expect))
	if err != nil {
		return answer.Document{}, problems(err)
	}
	c.Did(d.Key.String(), map[string]any{"version": d.Version, "back_to": in.Version})
	return shape(&d), nil
}

func (p *Part) schema(ctx context.Context, _ *operation.Call, in *Key) (answer.DocumentSchema, error) {
	k, err := in.key()
	if err != nil {
		return answer.DocumentSchema{}, err
	}
	text, err := p.Documents.Schema(ctx, k)
	return answer.DocumentSchema{Schema: text}, err
}

func (p *Part) setSchema(ctx context.Context, _ *operation.Call, in *Binding) (answer.DocumentCheck, error) {
	list, err := p.Documents.SetSchema(ctx, document.Key(in.Key), *in.Schema)
	return answer.DocumentCheck{Problems: listed(list)}, problems(err)
}

func (k *Key) key() (document.Key, error) {
	key := document.Key(*k)
	return key, key.Validate()
}

func (in *Text) document(c *operation.Call) document.Document {
	return document.Document{Key: document.Key(in.Key), Text: *in.Text, Type: document.Type(in.Type), Note: in.Note, By: c.Name}
}

func expected(version *int) int {
	if version == nil {
		return document.AnyVersion
	}
	return *version
}

// problems converts the problems of a document to the form that callers see.
func problems(err error) error {
	list, ok := errors.AsType[document.Problems](err)
	if !ok {
		return err
	}
	// A problem of another document, which would become invalid, stays in words.
	if e, is := errors.AsType[*fault.Error](err); is && e.Kind == fault.Invalid {
		return fault.E("documents.Set", fault.Invalid, e.Subject, answer.Problems(listed(list)))
	}
	return err
}

func listed(list document.Problems) []answer.ConfigProblem {
	out := make([]answer.ConfigProblem, len(list))
	for i, p := range list {
		out[i] = answer.ConfigProblem{Line: p.Line, Path: p.Path, Detail: p.Text}
	}
	return out
}

func shown(list []document.Document) answer.Documents {
	out := answer.Documents{Documents: make([]answer.Document, len(list))}
	for i := range list {
		out.Documents[i] = shape(&list[i])
	}
	return out
}

// shape returns a document without its content.
func shape(d *document.Document) answer.Document {
	return answer.Document{
		Owner: d.Owner, Name: d.Name, Type: string(d.Type), Version: d.Version, By: d.By, At: d.At.UTC(), Note: d.Note, Deleted: d.Deleted,
	}
}
