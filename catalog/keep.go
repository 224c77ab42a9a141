package catalog

import (
	"context"
	"errors"
	"fmt"

	"voltbus/catalog/register"
	"voltbus/point"
)

var errNoDevice = errors.New("belongs to no device; use Upsert for it")

// Keep sets the points of all devices: it stores new and changed ones and removes every other point that
// belongs to a device, in one transaction. Points without a device and those of children are unchanged. After
// an error nothing has changed.
func (ps *Points) Keep(ctx context.Context, infos []point.Info) error {
	const op = "catalog.Keep"
	err := check(op, infos, func(p *point.Info) error {
		if p.Device == "" {
			return errNoDevice
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ps.change(ctx, op, func(d *draft) { d.keep(infos, func(device point.Path) bool { return device != "" }) })
}

// Replace sets the points of a device: it stores new and changed ones and removes the device's other points,
// in one transaction. After an error nothing has changed.
func (ps *Points) Replace(ctx context.Context, device point.Path, infos []point.Info) error {
	const op = "catalog.Replace"
	err := check(op, infos, func(p *point.Info) error {
		if p.Device != device {
			return fmt.Errorf("belongs to the device %q, not to %q", p.Device, device)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return ps.change(ctx, op, func(d *draft) { d.keep(infos, func(of point.Path) bool { return of == device }) })
}

// keep sets the points of some of this node's devices.
func (d *draft) keep(infos []point.Info, some func(device point.Path) bool) {
	stay := make(map[string]bool, len(infos))
	for i := range infos {
		stay[string(infos[i].Path)] = true
	}
	d.upsert(infos, func(r *register.Record) bool {
		r.Child = ""
		return true
	})
	for n := range uint32(d.points.Len()) {
		if t := d.points.Traits(n); t.Removed != 0 || t.Child != "" || !some(d.points.Device(n)) {
			continue
		}
		if p := string(d.points.Path(n)); !stay[p] {
			d.remove(p)
		}
	}
}
