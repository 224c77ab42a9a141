package config

import (
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// checkTogether checks devices against each other: paths, groups and points.
func (l *loader) checkTogether() {
	first := make(map[point.Path]int, len(l.devices))
	for i := range l.devices {
		d := &l.devices[i]
		if d.Path == "" {
			continue
		}
		j, ok := first[d.Path]
		if !ok {
			first[d.Path] = i
			continue
		}
		other := l.devices[j].Source
		l.reportIn(d.Source, d.node, "path", "%q is the path of %s in %s:%d already; write another", d.Path, other.Key, other.File, other.Line)
	}
	l.checkGroups()
	for i := range l.devices {
		if l.devices[i].sound {
			l.checkPoints(&l.devices[i], first)
		}
	}
	l.checkInterlocks(first)
}

// checkGroups checks that the devices of a group are spread over the same period.
func (l *loader) checkGroups() {
	first := make(map[string]int)
	for i := range l.devices {
		d := &l.devices[i]
		j, ok := first[d.Group]
		if !ok {
			first[d.Group] = i
			continue
		}
		other := &l.devices[j]
		if d.Group != "" && d.Stagger != other.Stagger {
			l.reportIn(d.Source, d.node, "stagger", "%s differs from %s of %s in the same group; write the same for all of %q",
				duration(d.Stagger), duration(other.Stagger), other.Source.Key, d.Group)
		}
	}
}

// checkPoints checks that every point of a device has a valid and unique path.
func (l *loader) checkPoints(d *described, first map[point.Path]int) {
	infos := d.Config.Points()
	seen := make(map[point.Path]bool, len(infos))
	for i := range infos {
		name := infos[i].Path
		path := d.Path.Join(string(name))
		switch err := path.Validate(); {
		case name == "":
			l.reportPoint(d, "point %d has no name; write one", i+1)
		case err != nil:
			l.reportPoint(d, "point %q has no possible path: %v", name, err)
		case seen[name]:
			l.reportPoint(d, "point %q is there twice; write another name", name)
		}
		seen[name] = true
	}
	l.checkAncestors(d, first, seen)
}

// checkAncestors looks for devices above d that have a point of the same path: device a with point b/c, and
// device a/b with point c.
func (l *loader) checkAncestors(d *described, first map[point.Path]int, names map[point.Path]bool) {
	for above := d.Path.Parent(); above != ""; above = above.Parent() {
		j, ok := first[above]
		if !ok || !l.devices[j].sound {
			continue
		}
		other := &l.devices[j]
		below := d.Path[len(above)+1:]
		for _, info := range other.Config.Points() {
			if len(info.Path) > len(below) && info.Path[:len(below)] == below && names[info.Path[len(below)+1:]] {
				l.reportPoint(d, "point %q is a point of %s in %s:%d already; write another name or path",
					above.Join(string(info.Path)), other.Source.Key, other.Source.File, other.Source.Line)
			}
		}
	}
}

func (l *loader) reportPoint(d *described, format string, args ...any) {
	l.problems = append(l.problems, strictyaml.New(d.Source.File, strictyaml.Line(d.node, "config"), d.Source.Key+".config", format, args...))
}
