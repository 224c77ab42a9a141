package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"voltbus/api/answer"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
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
	// Users lists the documents that refer to one.
	Users(ctx context.Context, k document.Key) ([]document.Key, error)
	Schema(ctx context.Context, k document.Key) (string, error)
	SetSchema(ctx context.Context, k document.Key, schema string) (document.Problems, error)
}

// documentBody leaves room for what JSON escapes in a text of the most bytes.
const documentBody = 6*document.MaxText + 64<<10

const noDocuments = "documents"

func documentRoutes() []route {
	const viewer, engineer = identity.Viewer, identity.Engineer
	const at = prefix + "/documents"
	named := []string{"owner", "name"}
	list := []route{
		{method: "GET", path: at, remote: "document.list", role: viewer, serve: (*server).documents, params: []string{"owner"}},
		{method: "GET", path: at + "/text", remote: "document.get", role: viewer, serve: (*server).document, params: []string{"owner", "name", "version"}},
		{method: "PUT", path: at + "/text", remote: "document.set", role: engineer, body: documentBody, serve: (*server).setDocument, params: named, audit: "document.set"},
		{
			method: "DELETE", path: at + "/text", remote: "document.delete", role: engineer, serve: (*server).deleteDocument, audit: "document.delete",
			params: []string{"owner", "name", "expect", "note"},
		},
		{method: "POST", path: at + "/check", remote: "document.check", role: engineer, body: documentBody, serve: (*server).checkDocument, params: named},
		{method: "GET", path: at + "/resolved", role: viewer, serve: (*server).resolvedDocument, params: named},
		{method: "GET", path: at + "/history", remote: "document.history", role: viewer, serve: (*server).documentHistory, params: named},
		{method: "GET", path: at + "/diff", remote: "document.diff", role: viewer, serve: (*server).documentDiff, params: []string{"owner", "name", "from", "to"}},
		{method: "POST", path: at + "/rollback", remote: "document.rollback", role: engineer, body: loginBody, serve: (*server).rollbackDocument, params: named, audit: "document.rollback"},
		{method: "GET", path: at + "/schema", role: viewer, serve: (*server).documentSchema, params: named},
		{method: "PUT", path: at + "/schema", role: engineer, body: documentBody, serve: (*server).setDocumentSchema, params: named, audit: "document.schema"},
	}
	for i := range list {
		serve := list[i].serve
		list[i].serve = func(s *server, w http.ResponseWriter, r *request) error {
			if s.cfg.Documents == nil {
				return absent(noDocuments)
			}
			return unproblem(serve(s, w, r))
		}
	}
	return list
}

// unproblem gives what is wrong with a document the form that the API shows.
func unproblem(err error) error {
	list, ok := errors.AsType[document.Problems](err)
	if !ok {
		return err
	}
	// A problem of another document, which would become wrong, stays in words.
	if e, is := errors.AsType[*fault.Error](err); is && e.Kind == fault.Invalid {
		return fault.E("api.document", fault.Invalid, e.Subject, Problems(documentProblems(list)))
	}
	return err
}

func documentProblems(list document.Problems) []answer.ConfigProblem {
	out := make([]answer.ConfigProblem, len(list))
	for i, p := range list {
		out[i] = answer.ConfigProblem{Line: p.Line, Path: p.Path, Detail: p.Text}
	}
	return out
}

// key returns the document that the parameters name.
func (r *reading) key() document.Key {
	var k document.Key
	k.Owner, _ = r.text("owner")
	k.Name, _ = r.text("name")
	if err := k.Validate(); err != nil && r.err == nil {
		r.err = err
	}
	return k
}

func documentOf(d *document.Document, text bool) answer.Document {
	out := answer.Document{
		Owner: d.Owner, Name: d.Name, Type: string(d.Type), Version: d.Version, By: d.By, At: d.At, Note: d.Note, Deleted: d.Deleted,
	}
	if text {
		out.Text = &d.Text
	}
	return out
}

func documentList(list []document.Document) answer.Documents {
	out := answer.Documents{Documents: make([]answer.Document, len(list))}
	for i := range list {
		out.Documents[i] = documentOf(&list[i], false)
	}
	return out
}

func (s *server) documents(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	owner, _ := in.text("owner")
	if in.err != nil {
		return in.err
	}
	if owner != "" {
		if err := (document.Key{Owner: owner, Name: "any"}).Validate(); err != nil {
			return err
		}
	}
	list, err := s.cfg.Documents.List(r.Context(), owner)
	if err != nil {
		return err
	}
	return writeJSON(w, documentList(list))
}

func (s *server) document(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k, version := in.key(), in.number("version", 0, 1, 1<<31-1)
	if in.err != nil {
		return in.err
	}
	d, err := s.cfg.Documents.Get(r.Context(), k, version)
	if err != nil {
		return err
	}
	return writeJSON(w, documentOf(&d, true))
}

// written is a body with a document.
type written struct {
	Text   *string `json:"text"`
	Type   string  `json:"type"`
	Note   string  `json:"note"`
	Expect *int    `json:"expect"`
}

// readDocument reads key and body.
func (s *server) readDocument(w http.ResponseWriter, r *request) (d document.Document, expect int, err error) {
	in := s.read(r)
	d.Key = in.key()
	r.did(d.Key.String(), nil)
	if in.err != nil {
		return d, 0, in.err
	}
	var body written
	if err := readJSON(w, r, &body); err != nil {
		return d, 0, err
	}
	if body.Text == nil {
		return d, 0, fault.E("api.document", fault.Invalid, "text", errMissing)
	}
	d.Text, d.Type, d.Note, d.By, expect = *body.Text, document.Type(body.Type), body.Note, actorOf(r.user), document.AnyVersion
	if body.Expect != nil {
		expect = *body.Expect
	}
	return d, expect, nil
}

func (s *server) setDocument(w http.ResponseWriter, r *request) error {
	d, expect, err := s.readDocument(w, r)
	if err != nil {
		return err
	}
	if err := s.mayWrite(r, d.Key); err != nil {
		return err
	}
	if d, err = s.cfg.Documents.Set(r.Context(), d, expect); err != nil {
		return err
	}
	r.did(d.Key.String(), map[string]any{"version": d.Version, "note": d.Note})
	return writeJSON(w, documentOf(&d, false))
}

func (s *server) deleteDocument(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k, expect := in.key(), in.number("expect", document.AnyVersion, 1, 1<<31-1)
	note, _ := in.text("note")
	r.did(k.String(), map[string]any{"note": note})
	if in.err != nil {
		return in.err
	}
	if err := s.mayWrite(r, k); err != nil {
		return err
	}
	if err := s.cfg.Documents.Delete(r.Context(), k, actorOf(r.user), note, expect); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) checkDocument(w http.ResponseWriter, r *request) error {
	d, _, err := s.readDocument(w, r)
	if err != nil {
		return err
	}
	list, err := s.cfg.Documents.Check(r.Context(), d)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.DocumentCheck{Problems: documentProblems(list)})
}

func (s *server) resolvedDocument(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k := in.key()
	if in.err != nil {
		return in.err
	}
	content, err := s.cfg.Documents.Resolved(r.Context(), k)
	if err != nil {
		return err
	}
	return writeJSON(w, content)
}

func (s *server) documentHistory(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k := in.key()
	if in.err != nil {
		return in.err
	}
	list, err := s.cfg.Documents.History(r.Context(), k)
	if err != nil {
		return err
	}
	return writeJSON(w, documentList(list))
}

func (s *server) documentDiff(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k, from, to := in.key(), in.number("from", 0, 1, 1<<31-1), in.number("to", 0, 1, 1<<31-1)
	if in.err != nil {
		return in.err
	}
	text, err := s.cfg.Documents.Diff(r.Context(), k, from, to)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.DocumentDiff{Diff: text})
}

func (s *server) rollbackDocument(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k := in.key()
	r.did(k.String(), nil)
	if in.err != nil {
		return in.err
	}
	var body struct {
		Version int  `json:"version"`
		Expect  *int `json:"expect"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	expect := document.AnyVersion
	if body.Expect != nil {
		expect = *body.Expect
	}
	if err := s.mayWrite(r, k); err != nil {
		return err
	}
	d, err := s.cfg.Documents.Rollback(r.Context(), k, body.Version, actorOf(r.user), expect)
	if err != nil {
		return err
	}
	r.did(k.String(), map[string]any{"version": d.Version, "back_to": body.Version})
	return writeJSON(w, documentOf(&d, false))
}

func (s *server) documentSchema(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k := in.key()
	if in.err != nil {
		return in.err
	}
	text, err := s.cfg.Documents.Schema(r.Context(), k)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.DocumentSchema{Schema: text})
}

func (s *server) setDocumentSchema(w http.ResponseWriter, r *request) error {
	in := s.read(r)
	k := in.key()
	r.did(k.String(), nil)
	if in.err != nil {
		return in.err
	}
	var body struct {
		Schema *string `json:"schema"`
	}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Schema == nil {
		return fault.E("api.document", fault.Invalid, "schema", errMissing)
	}
	if err := s.mayWrite(r, k); err != nil {
		return err
	}
	list, err := s.cfg.Documents.SetSchema(r.Context(), k, *body.Schema)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.DocumentCheck{Problems: documentProblems(list)})
}
