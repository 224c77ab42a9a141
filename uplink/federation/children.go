package federation

import (
	"context"
	"strings"

	"voltbus/point"
)

// children are those who may be asked.
type children []Child

func (f *Federation) children(hops int) children {
	if hops == 0 {
		return nil
	}
	return f.cfg.Children()
}

// below returns the child below whose prefix the point lies; -1 for none.
func (l children) below(p point.Path) int {
	best := -1
	for i := range l {
		prefix := l[i].Prefix
		if prefix == "" {
			continue
		}
		if rest, under := strings.CutPrefix(string(p), string(prefix)); under && strings.HasPrefix(rest, "/") &&
			(best < 0 || len(prefix) > len(l[best].Prefix)) {
			best = i
		}
	}
	return best
}

// free reports whether there is a child without a prefix.
func (l children) free() bool {
	for i := range l {
		if l[i].Prefix == "" {
			return true
		}
	}
	return false
}

// may returns the children without a prefix that may send the point.
func (l children) may(p point.Path) (list []int) {
	for i := range l {
		if l[i].Prefix != "" {
			continue
		}
		for _, pattern := range l[i].Record {
			if pattern.Match(p) {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// of returns for each point the children that may have samples of it: the one below whose prefix it
// lies, else the one that described it, else those that may send it. Points of this node's own devices
// have none.
func (f *Federation) of(ctx context.Context, l children, points []point.Path) ([][]int, error) {
	out := make([][]int, len(points))
	var others []point.Path
	for i, p := range points {
		if at := l.below(p); at >= 0 {
			out[i] = []int{at}
		} else {
			others = append(others, p)
		}
	}
	if len(others) == 0 || !l.free() {
		return out, nil
	}
	owners, err := f.cfg.Catalog.Owners(ctx, others)
	if err != nil {
		return nil, err
	}
	for i, p := range points {
		if out[i] != nil {
			continue
		}
		owner, said := owners[p]
		switch {
		case !said:
			out[i] = l.may(p)
		case owner != "":
			if out[i] = l.named(owner); out[i] == nil { // it is no child any more
				out[i] = l.may(p)
			}
		}
	}
	return out, nil
}

func (l children) named(name string) []int {
	for i := range l {
		if strings.EqualFold(l[i].Name, name) {
			return []int{i}
		}
	}
	return nil
}
