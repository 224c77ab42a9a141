package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/meter/cluster"
)

// ViewFile remembers for which cluster the store keeps meters, in its folder.
const ViewFile = "cluster.json"

// view is a cluster as the store was filled for it.
type view struct {
	Members []string `json:"members"`
	Copies  int      `json:"copies"`
}

func (v *view) String() string {
	text := strings.Join(v.Members, ", ")
	if v.Copies > 1 {
		text += fmt.Sprintf(" with %d copies", v.Copies)
	}
	return text
}

// checkView refuses a store that keeps meters for another cluster than the configuration has, or for none: readings of these meters could not
// be found. A store without meters serves any. It remembers the cluster; nil is none.
func checkView(ctx context.Context, c *Config, members *cluster.Members, self int) error {
	const op = "metering.Open"
	file := filepath.Join(c.Dir, ViewFile)
	before, err := readView(file)
	if err != nil {
		return fault.E(op, fault.Corrupt, file, err)
	}
	var now *view
	if members != nil {
		now = &view{members.Names(), members.Copies()}
	}
	if same(before, now) {
		return nil
	}
	some, err := c.Store.Meters(ctx, "", 1)
	if err != nil {
		return err
	}
	switch {
	case len(some) == 0:
	case before != nil && now == nil:
		return fault.E(op, fault.Conflict, "metering.cluster", fmt.Errorf(
			"the store keeps its share of the meters of a cluster of %s; write metering.cluster again, or move the folder %s away to begin without meters", before, c.Dir))
	case before != nil:
		return fault.E(op, fault.Conflict, "metering.cluster", fmt.Errorf(
			"the store was filled for a cluster of %s, and the configuration has %s: meters would be looked for where they are not; write the members and copies as they were, "+
				"or begin with an empty folder %s at all members, register the meters and send their readings again", before, now, c.Dir))
	default:
		if err := allKept(ctx, c.Store, members, self); err != nil {
			return fault.E(op, fault.Conflict, "metering.cluster", err)
		}
	}
	if now == nil {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.E(op, fault.Unavailable, file, err)
		}
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = atomicfile.Writer{}.Write(file, data, 0o600)
	}
	if err != nil {
		return fault.E(op, fault.Unavailable, file, err)
	}
	return nil
}

func readView(file string) (*view, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there was no cluster
	}
	v := &view{}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return nil, fmt.Errorf("it says for which cluster the store keeps meters, and cannot be read (%w): restore it from a copy, or move it away if "+
			"metering.cluster has the members and copies for which the meters here were registered", err)
	}
	return v, nil
}

func same(a, b *view) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Copies == b.Copies && slices.Equal(a.Members, b.Members)
}

// page is how many meters are looked at at a time.
const page = 10_000

// allKept refuses a store with meters that other members would keep.
func allKept(ctx context.Context, st Store, members *cluster.Members, self int) error {
	strange, all, after := 0, 0, ""
	for {
		list, err := st.Meters(ctx, after, page)
		if err != nil {
			return err
		}
		for i := range list {
			all++
			if after = list[i].ID; !members.Holds(self, after) {
				strange++
			}
		}
		if len(list) < page {
			break
		}
	}
	if strange == 0 {
		return nil
	}
	return fmt.Errorf("%d of the %d meters that are registered here would be kept by other members, where their readings are not: begin the cluster with empty members, "+
		"register the meters and send their readings again", strange, all)
}
