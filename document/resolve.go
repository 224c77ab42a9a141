package document

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
)

// reference begins a text that stands for another document.
const reference = "config://"

// resolver puts the documents that are referred to in place of the references.
type resolver struct {
	storage Storage
	changed map[Key]*Document // by folded key: what the storage is about to hold; nil: deleted
	chain   []Key
	done    map[Key]resolved
	used    map[Key]bool // folded keys of all that was met
}

type resolved struct {
	value any
	size  int // bytes of all texts in it
}

func newResolver(storage Storage, changed ...*Document) *resolver {
	r := &resolver{storage: storage, changed: map[Key]*Document{}, done: map[Key]resolved{}, used: map[Key]bool{}}
	for _, d := range changed {
		if d.Deleted {
			r.changed[d.Fold()] = nil
		} else {
			r.changed[d.Fold()] = d
		}
	}
	return r
}

// find returns a document that is there.
func (r *resolver) find(ctx context.Context, k Key) (*Document, error) {
	if d, ok := r.changed[k.Fold()]; ok {
		return d, nil
	}
	d, err := r.storage.Document(ctx, k, 0)
	switch {
	case fault.Is(err, fault.NotFound) || (err == nil && d.Deleted):
		return nil, nil //nolint:nilnil // none is no error
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// visit is a walk through one document.
type visit struct {
	*resolver
	owner string
	at    *parsed
	size  int // bytes of all texts that were met
}

// document resolves a document. A problem is one of the document that was asked for first; it names
// the chain to where it lies.
func (r *resolver) document(ctx context.Context, d *Document) (resolved, parsed, error) {
	r.chain = append(r.chain, d.Key)
	defer func() { r.chain = r.chain[:len(r.chain)-1] }()
	p, err := parse(d.Type, d.Text)
	if err != nil {
		if len(r.chain) > 1 {
			err = wrong(0, "", fmt.Sprintf("%s: %v", r.way(), err))
		}
		return resolved{}, p, err
	}
	if d.Type != YAML && d.Type != JSON {
		return resolved{p.value, len(d.Text)}, p, nil
	}
	v := visit{r, d.Owner, &p, len(d.Text)}
	value, err := v.value(ctx, p.value, nil)
	return resolved{value, v.size}, p, err
}

// way writes the chain of references.
func (r *resolver) way(more ...string) string {
	names := make([]string, 0, len(r.chain)+len(more))
	for _, k := range r.chain {
		names = append(names, k.String())
	}
	return strings.Join(append(names, more...), " → ")
}

// value resolves a value in a document. It does not change the value that is given.
func (r *visit) value(ctx context.Context, v any, path []string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var err error
			if out[k], err = r.value(ctx, v[k], append(path, k)); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = r.value(ctx, v[i], append(path, strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string:
		name, ok := strings.CutPrefix(v, reference)
		if !ok {
			return v, nil
		}
		out, err := r.follow(ctx, r.owner, name)
		r.size += out.size
		if err == nil && r.size > maxResolved {
			err = wrong(0, "", fmt.Sprintf("%s: has more than %d bytes with all it refers to", r.way(), maxResolved))
		}
		if list, ok := err.(Problems); ok && len(r.chain) == 1 { //nolint:errorlint // ours, not wrapped
			list[0].Line, list[0].Path = r.at.line(path), strings.Join(path, ".")
		}
		return out.value, err
	}
	return v, nil
}

// follow resolves a reference in a document of the owner: its own document first, then the shared one.
func (r *resolver) follow(ctx context.Context, owner, name string) (resolved, error) {
	candidates := []Key{{owner, name}, {Shared, name}}
	if rest, ok := cutFold(name, Shared+"/"); ok {
		candidates = []Key{{Shared, rest}}
	}
	for _, k := range candidates {
		if k.Validate() != nil {
			continue
		}
		// Whoever refers to a name depends on all documents that could have it.
		r.used[k.Fold()] = true
		if slices.ContainsFunc(r.chain, func(c Key) bool { return c.Fold() == k.Fold() }) {
			return resolved{}, wrong(0, "", "refers to itself: "+r.way(k.String()))
		}
		if out, ok := r.done[k.Fold()]; ok {
			return out, nil
		}
		d, err := r.find(ctx, k)
		if err != nil {
			return resolved{}, err
		}
		if d == nil {
			continue
		}
		if len(r.chain) >= maxDepth {
			return resolved{}, wrong(0, "", fmt.Sprintf("%s: refers deeper than %d documents", r.way(k.String()), maxDepth))
		}
		out, _, err := r.document(ctx, d)
		if err == nil {
			r.done[k.Fold()] = out
		}
		return out, err
	}
	return resolved{}, wrong(0, "", fmt.Sprintf("there is no document %s, neither of %s nor shared: %s", name, owner, r.way(reference+name)))
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
