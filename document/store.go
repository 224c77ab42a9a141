package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"voltbus/fault"
)

// Store keeps documents, and sees to it that each is right together with those it refers to. It is
// safe for concurrent use. Methods return fault.Invalid with Problems as the cause for content that
// is wrong, fault.NotFound for what is not there, fault.Conflict for a version that is not the one
// that was expected.
type Store struct {
	storage  Storage
	now      func() time.Time
	announce func(Change)
	writing  sync.Mutex // what was checked together is written before anything else changes
}

// New returns the documents in a storage. now is the clock. announce is called with each change, also of
// documents that refer to the one that was changed, in order and before the call returns; nil for
// nobody. It must not call the store.
func New(storage Storage, now func() time.Time, announce func(Change)) *Store {
	if announce == nil {
		announce = func(Change) {}
	}
	return &Store{storage: storage, now: now, announce: announce}
}

// Set writes a document as a new version, which it returns. Key, Type, Text, By and Note count. A
// text that is what is there already makes no new version.
func (s *Store) Set(ctx context.Context, d Document, expect int) (Document, error) {
	if err := d.validate(); err != nil {
		return Document{}, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	old, err := s.newest(ctx, d.Key)
	if err != nil {
		return Document{}, err
	}
	if expect != AnyVersion && expect != old.current() {
		return Document{}, stale(d.Key, old.current(), expect)
	}
	if old.current() > 0 && old.Text == d.Text && old.Type == d.Type {
		return old, nil
	}
	action := Changed
	if old.current() == 0 {
		action = Created
	}
	d.Deleted = false
	return s.write(ctx, &d, old, action)
}

// Delete makes a version that says that the document is gone.
func (s *Store) Delete(ctx context.Context, k Key, by, note string, expect int) error {
	d := Document{Key: k, Type: Text, By: by, Note: note}
	if err := d.validate(); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	old, err := s.newest(ctx, k)
	if err != nil {
		return err
	}
	if old.current() == 0 {
		return none(k)
	}
	if expect != AnyVersion && expect != old.current() {
		return stale(k, old.current(), expect)
	}
	d.Deleted, d.Type = true, old.Type
	_, err = s.write(ctx, &d, old, Deleted)
	return err
}

// write checks a version together with all that refer to it, and keeps and announces it. The caller
// holds writing.
func (s *Store) write(ctx context.Context, d *Document, old Document, action string) (Document, error) {
	if old.Version > 0 {
		d.Name = old.Name
	}
	if !d.Deleted {
		if list, err := s.problems(ctx, d, d); err != nil {
			return Document{}, err
		} else if len(list) > 0 {
			return Document{}, fault.E("document.Set", fault.Invalid, d.String(), list)
		}
	}
	affected, err := s.affected(ctx, d)
	if err != nil {
		return Document{}, err
	}
	d.At = s.now().UTC().Truncate(time.Microsecond)
	if d.Version, err = s.storage.PutDocument(ctx, d, old.Version); err != nil {
		return Document{}, err
	}
	s.announce(Change{Key: d.Key, Action: action, Version: d.Version, By: d.By})
	for i := range affected {
		because := d.Key
		s.announce(Change{Key: affected[i].Key, Action: Changed, Version: affected[i].Version, By: d.By, Because: &because})
	}
	return *d, nil
}

// affected returns the documents that refer to d, whatever the way. One that would become wrong is an
// error that names it.
func (s *Store) affected(ctx context.Context, d *Document) ([]Document, error) {
	owner := d.Owner
	if owner == Shared {
		owner = ""
	}
	all, err := s.storage.Referring(ctx, owner)
	if err != nil {
		return nil, err
	}
	var list []Document
	for i := range all {
		other := &all[i]
		used, err := s.uses(ctx, other, d)
		if err != nil {
			return nil, err
		}
		if !used {
			continue
		}
		found, err := s.problems(ctx, other, d)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && s.right(ctx, other) {
			return nil, fault.E("document.Set", fault.Conflict, d.String(), fmt.Errorf(
				"%s refers to it and would become wrong: %w; change that one first", other.Key, found))
		}
		list = append(list, *other)
	}
	return list, nil
}

// Users lists the documents that refer to one, whatever the way, by the owners that may.
func (s *Store) Users(ctx context.Context, k Key) ([]Key, error) {
	owner := k.Owner
	if owner == Shared {
		owner = ""
	}
	all, err := s.storage.Referring(ctx, owner)
	if err != nil {
		return nil, err
	}
	var list []Key
	for i := range all {
		used, err := s.uses(ctx, &all[i], &Document{Key: k, Type: YAML})
		if err != nil {
			return nil, err
		}
		if used {
			list = append(list, all[i].Key)
		}
	}
	return list, nil
}

// uses reports whether a document refers to another one, whatever that says.
func (s *Store) uses(ctx context.Context, other, d *Document) (bool, error) {
	if other.Fold() == d.Fold() || (other.Type != YAML && other.Type != JSON) {
		return false, nil
	}
	r := newResolver(s.storage, d)
	_, _, err := r.document(ctx, other)
	if _, ours := errors.AsType[Problems](err); err != nil && !ours && r.used[d.Fold()] {
		return false, err
	}
	return r.used[d.Fold()], nil
}

// right reports whether a document is right as things stand.
func (s *Store) right(ctx context.Context, d *Document) bool {
	list, err := s.problems(ctx, d)
	return err == nil && len(list) == 0
}

// problems checks a document as if the changed ones were kept already.
func (s *Store) problems(ctx context.Context, d *Document, changed ...*Document) (Problems, error) {
	out, p, err := newResolver(s.storage, changed...).document(ctx, d)
	if list, ok := errors.AsType[Problems](err); ok {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := s.storage.DocumentSchema(ctx, d.Key)
	if err != nil || text == "" {
		return nil, err
	}
	schema, err := compile(text)
	if err != nil {
		return nil, err
	}
	return judge(schema, out.value, &p), nil
}

// Check checks a document as Set does, without writing. An empty list means that it is right.
func (s *Store) Check(ctx context.Context, d Document) (Problems, error) {
	if err := d.validate(); err != nil {
		return nil, err
	}
	return s.problems(ctx, &d, &d)
}

// Get returns a version, 0 for the newest. A deleted document is not there, but its versions are.
func (s *Store) Get(ctx context.Context, k Key, version int) (Document, error) {
	if err := k.Validate(); err != nil {
		return Document{}, err
	}
	d, err := s.storage.Document(ctx, k, version)
	if err == nil && version == 0 && d.Deleted {
		return Document{}, none(k)
	}
	return d, err
}

// Resolved returns the newest content as JSON, with what it refers to in its place.
func (s *Store) Resolved(ctx context.Context, k Key) (json.RawMessage, error) {
	d, err := s.Get(ctx, k, 0)
	if err != nil {
		return nil, err
	}
	out, _, err := newResolver(s.storage).document(ctx, &d)
	if list, ok := errors.AsType[Problems](err); ok {
		return nil, fault.E("document.Resolved", fault.Invalid, k.String(), list)
	}
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(out.value)
	if err != nil {
		return nil, fault.E("document.Resolved", fault.Internal, k.String(), err)
	}
	return b, nil
}

// List returns the documents of an owner, "" for all, without their texts.
func (s *Store) List(ctx context.Context, owner string) ([]Document, error) {
	return s.storage.Documents(ctx, owner)
}

// History returns the versions of a document without their texts, the newest first.
func (s *Store) History(ctx context.Context, k Key) ([]Document, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	list, err := s.storage.DocumentHistory(ctx, k)
	if err == nil && len(list) == 0 {
		return nil, none(k)
	}
	return list, err
}

// Diff returns how two versions differ, in the unified form; 0 for the newest as to, and for the one
// before to as from.
func (s *Store) Diff(ctx context.Context, k Key, from, to int) (string, error) {
	if err := k.Validate(); err != nil {
		return "", err
	}
	b, err := s.storage.Document(ctx, k, to)
	if err != nil {
		return "", err
	}
	if from == 0 {
		from = b.Version - 1
	}
	a := Document{Key: k}
	if from > 0 {
		if a, err = s.storage.Document(ctx, k, from); err != nil {
			return "", err
		}
	}
	name := func(d *Document) string { return fmt.Sprintf("%s version %d", k, d.Version) }
	return string(diff.Diff(name(&a), []byte(a.Text), name(&b), []byte(b.Text))), nil
}

// Rollback writes the text of an older version as a new one.
func (s *Store) Rollback(ctx context.Context, k Key, version int, by string, expect int) (Document, error) {
	d, err := s.Get(ctx, k, version)
	if err != nil {
		return Document{}, err
	}
	if d.Deleted || version == 0 {
		return Document{}, fault.E("document.Rollback", fault.Invalid, "version", fmt.Errorf("version %d has no text; see the history", version))
	}
	d.By, d.Note = by, fmt.Sprintf("back to version %d", version)
	return s.Set(ctx, d, expect)
}

// Schema returns the JSON Schema that documents of the key are bound to, "" if there is none.
func (s *Store) Schema(ctx context.Context, k Key) (string, error) {
	if err := k.Validate(); err != nil {
		return "", err
	}
	return s.storage.DocumentSchema(ctx, k)
}

// SetSchema binds documents of the key to a JSON Schema, "" to none. A document that is there stays;
// what the schema finds wrong with it is returned.
func (s *Store) SetSchema(ctx context.Context, k Key, schema string) (Problems, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if len(schema) > MaxText {
		return nil, fault.E("document.SetSchema", fault.Invalid, "schema", errTooLong)
	}
	if schema != "" {
		if _, err := compile(schema); err != nil {
			return nil, err
		}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.storage.PutDocumentSchema(ctx, k, schema); err != nil {
		return nil, err
	}
	d, err := s.newest(ctx, k)
	if err != nil || d.current() == 0 {
		return nil, err
	}
	return s.problems(ctx, &d)
}

// newest returns the newest version, the zero Document if there is none.
func (s *Store) newest(ctx context.Context, k Key) (Document, error) {
	d, err := s.storage.Document(ctx, k, 0)
	if fault.Is(err, fault.NotFound) {
		return Document{}, nil
	}
	return d, err
}

// current returns what a writer expects: the version, 0 if the document is not there.
func (d *Document) current() int {
	if d.Deleted {
		return 0
	}
	return d.Version
}

func stale(k Key, have, expect int) error {
	return fault.E("document.Set", fault.Conflict, k.String(), fmt.Errorf(
		"has version %d, not %d: somebody else changed it; read it again and repeat your change", have, expect))
}

func none(k Key) error {
	return fault.E("document.Get", fault.NotFound, k.String(), errors.New("there is no such document"))
}
