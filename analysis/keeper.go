package analysis

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/document"
	"voltbus/fault"
)

// Documents keep what analysts write. See document.Store.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
}

// Where the documents are among the shared ones.
const (
	annotations = "annotations/"
	views       = "views/"
	reports     = "reports/"
)

// mostKept bounds the annotations, so that other documents keep their room.
const mostKept = 2000

// mostRemembered bounds the documents that are not read again.
const mostRemembered = 10_000

var errMany = fmt.Errorf("has %d annotations already; delete some first", mostKept)

// Keeper keeps what analysts write. It is safe for concurrent use.
type Keeper struct {
	documents Documents
	now       func() time.Time

	mu   sync.Mutex
	read map[string]kept // by the name of the document
}

// kept is a document that was read.
type kept struct {
	document.Document
	value any // *Annotation, *View or *Report; nil if it is wrong
}

// New returns what analysts have written as documents.
func New(documents Documents, now func() time.Time) *Keeper {
	return &Keeper{documents: documents, now: now, read: map[string]kept{}}
}

// Saved is something that was saved, with who wrote its newest version, and when.
type Saved[T any] struct {
	Value   T
	By      string
	Time    time.Time
	Version int
}

// Annotations lists those about a time, and about one of the points if any are named; the earliest first.
func (k *Keeper) Annotations(ctx context.Context, from, to time.Time, points []string) ([]Saved[Annotation], error) {
	list, err := all[Annotation](ctx, k, annotations)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s Saved[Annotation]) bool { return !s.Value.About(from, to, points) })
	slices.SortFunc(list, func(a, b Saved[Annotation]) int {
		return cmp.Or(a.Value.From.Compare(b.Value.From), cmp.Compare(a.Value.ID, b.Value.ID))
	})
	return list, nil
}

// Annotate writes an annotation, a new one without an ID.
func (k *Keeper) Annotate(ctx context.Context, a Annotation, by string) (Annotation, error) {
	const op = "annotation.put"
	if err := a.Validate(); err != nil {
		return Annotation{}, err
	}
	list, err := all[Annotation](ctx, k, annotations)
	if err != nil {
		return Annotation{}, err
	}
	expect := document.AnyVersion
	if a.ID == "" {
		if len(list) >= mostKept {
			return Annotation{}, fault.E(op, fault.Conflict, "node", errMany)
		}
		a.ID, expect = strings.ToLower(rand.Text()), 0
	} else if !slices.ContainsFunc(list, func(s Saved[Annotation]) bool { return s.Value.ID == a.ID }) {
		return Annotation{}, fault.E(op, fault.NotFound, a.ID, errNone)
	}
	a.By, a.From, a.To = by, a.From.UTC(), a.To.UTC()
	return a, k.write(ctx, annotations+a.ID, &a, by, expect)
}

var errNone = errors.New("is not there; the list says what is")

// DeleteAnnotation removes an annotation.
func (k *Keeper) DeleteAnnotation(ctx context.Context, id, by string) error {
	return k.remove(ctx, "annotation.delete", annotations, id, by)
}

// Views lists the saved views by name.
func (k *Keeper) Views(ctx context.Context) ([]Saved[View], error) { return all[View](ctx, k, views) }

// View returns a saved view.
func (k *Keeper) View(ctx context.Context, name string) (View, error) {
	list, err := k.Views(ctx)
	if err != nil {
		return View{}, err
	}
	for i := range list {
		if list[i].Value.Name == name {
			return list[i].Value, nil
		}
	}
	return View{}, fault.E("view.list", fault.NotFound, name, errNone)
}

// SaveView writes a view.
func (k *Keeper) SaveView(ctx context.Context, v *View, by string) error {
	if err := v.Validate(); err != nil {
		return err
	}
	return k.write(ctx, views+v.Name, v, by, document.AnyVersion)
}

// DeleteView removes a view, whose history stays.
func (k *Keeper) DeleteView(ctx context.Context, name, by string) error {
	return k.remove(ctx, "view.delete", views, name, by)
}

// Reports lists the reports by name.
func (k *Keeper) Reports(ctx context.Context) ([]Saved[Report], error) {
	return all[Report](ctx, k, reports)
}

// Report returns a report.
func (k *Keeper) Report(ctx context.Context, name string) (Report, error) {
	list, err := k.Reports(ctx)
	if err != nil {
		return Report{}, err
	}
	for i := range list {
		if strings.EqualFold(list[i].Value.Name, name) {
			return list[i].Value, nil
		}
	}
	return Report{}, fault.E("report.pdf", fault.NotFound, name, errNone)
}

// SaveReport writes a report over the version that is expected, or over any with document.AnyVersion.
func (k *Keeper) SaveReport(ctx context.Context, r *Report, by string, expect int) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.View != "" {
		if _, err := k.View(ctx, r.View); err != nil {
			return fault.E("report.put", fault.Invalid, "view", errNoView)
		}
	}
	return k.write(ctx, reports+r.Name, r, by, expect)
}

// DeleteReport removes a report, whose history stays.
func (k *Keeper) DeleteReport(ctx context.Context, name, by string) error {
	return k.remove(ctx, "report.delete", reports, name, by)
}

func (k *Keeper) write(ctx context.Context, name string, what any, by string, expect int) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return fault.E("analysis.Write", fault.Internal, name, err)
	}
	_, err = k.documents.Set(ctx, document.Document{
		Key: document.Key{Owner: document.Shared, Name: name}, Type: document.JSON, Text: string(text) + "\n", By: by,
	}, expect)
	return err
}

func (k *Keeper) remove(ctx context.Context, op, folder, name, by string) error {
	if name == "" || strings.Contains(name, "/") {
		return fault.E(op, fault.NotFound, name, errNone)
	}
	return k.documents.Delete(ctx, document.Key{Owner: document.Shared, Name: folder + name}, by, "", document.AnyVersion)
}

// validator is what is kept.
type validator[T any] interface {
	*T
	Validate() error
}

// all returns the documents of a folder that are right, by name. What was read before is not read again.
func all[T any, P validator[T]](ctx context.Context, k *Keeper, folder string) ([]Saved[T], error) {
	list, err := k.documents.List(ctx, document.Shared)
	if err != nil {
		return nil, err
	}
	out := []Saved[T]{}
	for i := range list {
		d := &list[i]
		if !strings.HasPrefix(strings.ToLower(d.Name), folder) {
			continue
		}
		found, err := readOne[T, P](ctx, k, d)
		if fault.Is(err, fault.NotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		if v, is := found.value.(*T); is {
			out = append(out, Saved[T]{Value: *v, By: found.By, Time: found.At, Version: found.Version})
		}
	}
	return out, nil
}

func readOne[T any, P validator[T]](ctx context.Context, k *Keeper, d *document.Document) (kept, error) {
	k.mu.Lock()
	known, is := k.read[d.Name]
	k.mu.Unlock()
	if is && known.Version == d.Version {
		return known, nil
	}
	whole, err := k.documents.Get(ctx, d.Key, 0)
	if err != nil {
		return kept{}, err
	}
	v := new(T)
	in := json.NewDecoder(bytes.NewReader([]byte(whole.Text)))
	in.DisallowUnknownFields()
	found := kept{Document: whole}
	if in.Decode(v) == nil && P(v).Validate() == nil {
		found.value = v
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.read) > mostRemembered {
		clear(k.read)
	}
	k.read[d.Name] = found
	return found, nil
}
