package service

import (
	"context"
	"encoding/json"

	"voltbus/api/answer"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
)

// Documents keeps configuration documents, as document.Store does.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
	History(ctx context.Context, k document.Key) ([]document.Document, error)
	Resolved(ctx context.Context, k document.Key) (json.RawMessage, error)
}

// documented is a document with what it says.
type documented struct {
	answer.Document
	Content json.RawMessage `json:"content,omitempty"` // with references resolved; of the newest version
}

// The arguments of the methods on documents. Owner "" is the agent itself.
type (
	configOwner struct {
		Owner string `json:"owner"`
	}
	configName struct {
		Owner string `json:"owner"`
		Name  string `json:"name"`
	}
	configVersion struct {
		configName
		Version int `json:"version"`
	}
	configSet struct {
		configName
		Text   string `json:"text"`
		Type   string `json:"type"`
		Note   string `json:"note"`
		Expect *int   `json:"expect"`
	}
	configDelete struct {
		configName
		Note   string `json:"note"`
		Expect *int   `json:"expect"`
	}
)

// documentMethods lists the methods on documents.
func documentMethods() map[string]method {
	return map[string]method{
		"config_list": {"List the documents of an owner, without texts.", configOwner{}, "{documents}", (*Service).configList},
		"config_get": {
			"Read a document, the newest version unless one is named.",
			configVersion{},
			"{owner, name, type, text, version, by, at, note, content}", (*Service).configGet,
		},
		"config_set": {
			"Write a new version, which must be the one behind expect.",
			configSet{},
			"{owner, name, type, version, by, at, note}", (*Service).configSet,
		},
		"config_delete":  {"Delete a document; its versions stay.", configDelete{}, "null", (*Service).configDelete},
		"config_history": {"List all versions, without texts.", configName{}, "{documents}", (*Service).configHistory},
	}
}

// owned returns the owner that is meant, if the agent may see its documents, or change them.
func (s *Service) owned(r *request, owner string, change bool) (string, error) {
	own := "agent/" + r.agent.Name
	switch {
	case s.cfg.Documents == nil:
		return "", absent("documents")
	case owner == "" || owner == own:
		return own, nil
	case r.grants.Administer, owner == document.Shared && !change:
		return owner, nil
	}
	return "", fault.E("service.config", fault.Refused, owner, &identity.Missing{Capability: "administer"})
}

func (s *Service) configList(ctx context.Context, r *request) ([]byte, error) {
	var in configOwner
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	owner, err := s.owned(r, in.Owner, false)
	if err != nil {
		return nil, err
	}
	list, err := s.cfg.Documents.List(ctx, owner)
	if err != nil {
		return nil, err
	}
	return encode(listed(list))
}

func (s *Service) configGet(ctx context.Context, r *request) ([]byte, error) {
	var in configVersion
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	owner, err := s.owned(r, in.Owner, false)
	if err != nil {
		return nil, err
	}
	key := document.Key{Owner: owner, Name: in.Name}
	d, err := s.cfg.Documents.Get(ctx, key, in.Version)
	if err != nil {
		return nil, err
	}
	out := documented{Document: described(&d)}
	out.Text = &d.Text
	if in.Version == 0 {
		if out.Content, err = s.cfg.Documents.Resolved(ctx, key); err != nil {
			return nil, err
		}
	}
	return encode(out)
}

func (s *Service) configSet(ctx context.Context, r *request) ([]byte, error) {
	var in configSet
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	owner, err := s.owned(r, in.Owner, true)
	if err != nil {
		return nil, err
	}
	d, err := s.cfg.Documents.Set(ctx, document.Document{
		Key: document.Key{Owner: owner, Name: in.Name}, Type: document.Type(in.Type), Text: in.Text,
		By: "agent:" + r.agent.Name, Note: in.Note,
	}, expected(in.Expect))
	if err != nil {
		return nil, err
	}
	return encode(described(&d))
}

func (s *Service) configDelete(ctx context.Context, r *request) ([]byte, error) {
	var in configDelete
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	owner, err := s.owned(r, in.Owner, true)
	if err != nil {
		return nil, err
	}
	key := document.Key{Owner: owner, Name: in.Name}
	return []byte("null"), s.cfg.Documents.Delete(ctx, key, "agent:"+r.agent.Name, in.Note, expected(in.Expect))
}

func (s *Service) configHistory(ctx context.Context, r *request) ([]byte, error) {
	var in configName
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	owner, err := s.owned(r, in.Owner, false)
	if err != nil {
		return nil, err
	}
	list, err := s.cfg.Documents.History(ctx, document.Key{Owner: owner, Name: in.Name})
	if err != nil {
		return nil, err
	}
	return encode(listed(list))
}

func expected(version *int) int {
	if version == nil {
		return document.AnyVersion
	}
	return *version
}

func listed(list []document.Document) answer.Documents {
	out := answer.Documents{Documents: make([]answer.Document, len(list))}
	for i := range list {
		out.Documents[i] = described(&list[i])
	}
	return out
}

// described returns a document without its text.
func described(d *document.Document) answer.Document {
	return answer.Document{
		Owner: d.Owner, Name: d.Name, Type: string(d.Type), Version: d.Version,
		By: d.By, At: d.At.UTC(), Note: d.Note, Deleted: d.Deleted,
	}
}
