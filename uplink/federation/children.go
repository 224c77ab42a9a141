package federation

import (
	"context"
	"slices"
	"strings"

	"voltbus/point"
)

// children are the children that may be queried.
type children []Child

func (f *Federation) children(hops int) children {
	if hops == 0 {
		return nil
	}
	return f.cfg.Children()
}

// below returns the child whose prefix contains the point; -1 for none.
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

// owners are, for each point, the children that may have samples of it.
type owners struct {
	of     [][]int
	theirs []bool // per point, whether there are any, even if they are not asked for it because they are asked for too much
	asked  []int  // points per child
	long   []bool // per child, whether it is asked for too much
	pairs  int
}

// add adds a point to the query of children, unless there are too many points for one.
func (o *owners) add(point int, children []int) {
	o.theirs[point] = len(children) > 0
	for _, c := range children {
		if o.asked[c] >= maxAsked || o.pairs >= maxPairs {
			o.long[c] = true
			continue
		}
		o.asked[c]++
		o.pairs++
		o.of[point] = append(o.of[point], c)
	}
}

// asks returns a query for each child that has points; nil for the others.
func (o *owners) asks(l children, hold *holding) []*ask {
	list := make([]*ask, len(l))
	for c := range l {
		if o.asked[c] > 0 || o.long[c] {
			list[c] = &ask{child: l[c], hold: hold}
		}
		if o.long[c] {
			list[c].err = errLong
		}
	}
	return list
}

// present omits the children that are not concerned.
func present(asks []*ask) []*ask {
	return slices.DeleteFunc(asks, func(k *ask) bool { return k == nil })
}

// of returns for each point the children that may have samples of it: the one whose prefix contains it,
// otherwise the one that described it, otherwise those that may send it. Points of this node's own devices
// have none.
func (f *Federation) of(ctx context.Context, l children, points []point.Path) (*owners, error) {
	out := &owners{
		of: make([][]int, len(points)), theirs: make([]bool, len(points)), asked: make([]int, len(l)), long: make([]bool, len(l)),
	}
	var others []int
	var paths []point.Path
	for i, p := range points {
		if at := l.below(p); at >= 0 {
			out.add(i, []int{at})
		} else {
			others, paths = append(others, i), append(paths, p)
		}
	}
	if len(others) == 0 || !l.free() {
		return out, nil
	}
	told, err := f.cfg.Catalog.Owners(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, i := range others {
		owner, said := told[points[i]]
		switch {
		case !said:
			out.add(i, l.may(points[i]))
		case owner != "":
			list := l.named(owner)
			if list == nil { // it is no longer a child
				list = l.may(points[i])
			}
			out.add(i, list)
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
