package history

import (
	"context"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

// Adopt adds the points of other nodes that store into the database to a catalogue, until ctx ends.
func (h *History) Adopt(ctx context.Context, into *catalog.Catalog) error {
	return h.database.Watch(ctx, func(paths []point.Path) error { return h.adopt(ctx, into, paths) })
}

// adopt adds unknown points to the catalogue. Known ones, including removed ones, stay as they are. The kind is that
// of the newest sample.
func (h *History) adopt(ctx context.Context, into *catalog.Catalog, paths []point.Path) error {
	entries, err := into.Entries(ctx, paths)
	if err != nil {
		return err
	}
	var unknown []point.Path
	for i := range entries {
		if entries[i].FirstSeen.IsZero() {
			unknown = append(unknown, entries[i].Path)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	newest, err := h.store.Latest(ctx, unknown)
	if err != nil {
		return fault.E("history.Adopt", fault.KindOf(err), "", err)
	}
	infos := make([]point.Info, len(unknown))
	for i, p := range unknown {
		infos[i] = point.Info{Path: p, Kind: newest[i].Value.Kind()}
	}
	return into.Adopt(ctx, infos)
}
