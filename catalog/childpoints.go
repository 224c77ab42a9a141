package catalog

import (
	"context"

	"voltbus/catalog/register"
	"voltbus/point"
)

// Bound limits the points of one child; zero values mean no limit.
type Bound struct {
	Points int   // including removed ones, and those for which the child only sends readings
	Bytes  int64 // of their paths, devices, units, tags and descriptions
}

// PointBytes is the maximum average number of bytes of strings per point of a child.
const PointBytes = 256

// BoundOf returns the bound for a number of points.
func BoundOf(points int) Bound { return Bound{Points: points, Bytes: int64(points) * PointBytes} }

// holds reports whether a share is within the bound, or does not grow.
func (b Bound) holds(before, after register.Share) bool {
	points := b.Points == 0 || after.Points <= max(b.Points, before.Points)
	return points && (b.Bytes == 0 || after.Bytes <= max(b.Bytes, before.Bytes))
}

// Below stores points of a child as it describes them, and marks others as removed, in one transaction. Points of this
// node's own devices are unchanged: for them this node is authoritative. Points for which the bound has no room are
// left unchanged, and counted. After an error nothing has changed.
func (ps *Points) Below(ctx context.Context, child string, infos []point.Info, removed []point.Path, most Bound) (refused int, err error) {
	const op = "catalog.Below"
	if err := check(op, infos, checkDevice); err != nil {
		return 0, err
	}
	err = ps.change(ctx, op, func(d *draft) {
		theirs := make([]point.Info, 0, len(infos))
		for i := range infos {
			if !d.own(string(infos[i].Path)) {
				theirs = append(theirs, infos[i])
			}
		}
		share := d.points.Share(child)
		d.upsert(theirs, func(r *register.Record) bool {
			r.Child = child
			after := d.grown(share, r)
			if !most.holds(share, after) {
				refused++
				return false
			}
			share = after
			return true
		})
		for _, p := range removed {
			if !d.own(string(p)) {
				d.remove(string(p))
			}
		}
	})
	return refused, err
}

// Name lists points for which a child sends readings: undescribed ones are listed as the child's, with only their path.
// It returns for how many points there is no room; in that case no point was added. All paths must be valid.
func (ps *Points) Name(ctx context.Context, child string, paths []point.Path, most Bound) (refused int, err error) {
	fresh := unknown(ps.register, paths)
	if len(fresh) == 0 {
		return 0, nil
	}
	err = ps.change(ctx, "catalog.Name", func(d *draft) {
		share := d.points.Share(child)
		for _, p := range fresh {
			if _, known := d.find(string(p)); known { // another call may have named it meanwhile
				continue
			}
			r := bare(p, child, d.now)
			after := d.grown(share, &r)
			if !most.holds(share, after) {
				refused++
				continue
			}
			share = after
			d.add(r)
		}
		if refused > 0 {
			d.records, d.known = nil, nil
		}
	})
	return refused, err
}

// unknown returns the paths that were never listed.
func unknown(points *register.Register, paths []point.Path) (fresh []point.Path) {
	points.Read(func() {
		before := uint32(0)
		for _, p := range paths {
			at, known := points.Follow(string(p), before)
			if !known {
				fresh = append(fresh, p)
				continue
			}
			before = at
		}
	})
	return fresh
}

// bare returns a point of which only the path is known, because a child sends readings of it.
func bare(path point.Path, child string, now int64) register.Record {
	r := register.RecordOf(&point.Info{Path: path}, "", now)
	r.Child = child
	return r
}

// isBare reports whether nothing but its owner is known about a point.
func isBare(r *register.Record) bool {
	return r.Child != "" && *r == register.Record{Path: r.Path, FirstSeen: r.FirstSeen, Traits: register.Traits{Child: r.Child}}
}

// checkDevice reports an invalid device: a child may describe anything.
func checkDevice(p *point.Info) error {
	if p.Device == "" {
		return nil
	}
	return p.Device.Validate()
}

// grown returns the share of a child after a change of a point.
func (d *draft) grown(share register.Share, r *register.Record) register.Share {
	if old, known := d.find(r.Path); known && old.Child == r.Child {
		share.Points--
		share.Bytes -= old.Size()
	}
	share.Points++
	share.Bytes += r.Size()
	return share
}

// own reports whether a point belongs to one of this node's own devices.
func (d *draft) own(path string) bool {
	r, known := d.find(path)
	return known && r.Child == "" && r.Device != "" && r.Removed == 0
}

// Owners returns which child described each of the points, "" for points of this node's own devices. Points
// whose owner was never reported are omitted.
func (ps *Points) Owners(ctx context.Context, paths []point.Path) (map[point.Path]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("catalog.Owners", File, err)
	}
	owners := map[point.Path]string{}
	ps.register.Read(func() {
		guess := uint32(0)
		for _, p := range paths {
			n, known := ps.register.Find(string(p), guess)
			if !known {
				continue
			}
			guess = n + 1
			if child := ps.register.Traits(n).Child; child != "" || ps.register.Device(n) != "" {
				owners[p] = child
			}
		}
	})
	return owners, nil
}

// Place tells whether a point is listed, and its owner.
type Place uint8

// Places.
const (
	Unlisted Place = iota // unknown or removed
	Outside               // it belongs to no device
	OfDevice              // it belongs to a device, of this node or of a child
)

// Places appends the places of n points to dst.
func (ps *Points) Places(dst []Place, n int, path func(i int) point.Path) []Place {
	ps.register.Read(func() {
		before := uint32(0)
		for i := range n {
			place := Unlisted
			if at, known := ps.register.Follow(string(path(i)), before); known {
				before = at
				switch {
				case ps.register.Traits(at).Removed != 0:
				case ps.register.Device(at) != "":
					place = OfDevice
				default:
					place = Outside
				}
			}
			dst = append(dst, place)
		}
	})
	return dst
}
