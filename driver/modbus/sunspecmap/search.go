package sunspecmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/driver/registry"
	"voltbus/fault"
	"voltbus/protocol/sunspec"
)

// Kind returns the Modbus driver with a search: it reads the SunSpec models of the unit that a configuration names, and gives the
// registry of its points as CSV.
func Kind() driver.Kind {
	kind := modbus.Kind()
	kind.Search = &driver.Search{
		Without: map[string]any{"registry": []any{map[string]any{"name": "none", "address": 0, "type": "uint16"}}},
		Run:     search,
		Covers:  isSame,
		Is:      func(driver.Config, *driver.Neighbour) bool { return true }, // a search asks one unit
	}
	return kind
}

// search reads the models of a unit.
func search(ctx context.Context, cfg driver.Config) (list []driver.Neighbour, err error) {
	const op = "sunspec.Search"
	c, ok := cfg.(*modbus.Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	probe, err := modbus.DialProbe(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, probe.Close()) }()
	found, err := Scan(ctx, probe, uint8(c.Unit))
	where := fmt.Sprintf("unit %d at %s", c.Unit, c.LineName())
	switch {
	case errors.Is(err, sunspec.ErrNoMap):
		return nil, fault.E(op, fault.NotFound, where, err)
	case err != nil:
		return nil, fault.E(op, fault.KindOf(err), where, err)
	}
	n, err := neighbour(where, found)
	return []driver.Neighbour{n}, err
}

// isSame reports whether a configured device is the unit that a search asks.
func isSame(cfg, device driver.Config) bool {
	c, _ := cfg.(*modbus.Config)
	d, ok := device.(*modbus.Config)
	return ok && c != nil && c.LineName() == d.LineName() && c.Unit == d.Unit
}

// common is the number of the model that says what a device is.
const common = 1

// neighbour describes a device by its models.
func neighbour(where string, found []sunspec.Found) (driver.Neighbour, error) {
	n := driver.Neighbour{Facts: map[string]string{}}
	unpublished, rows := 0, Rows(found)
	for i := range found {
		f := &found[i]
		part := driver.Part{Number: int(f.ID), At: "holding " + strconv.Itoa(int(f.Address))}
		if f.Model == nil {
			unpublished++
		} else {
			part.Name = cmp.Or(f.Model.Group.Label, f.Model.Group.Name)
		}
		for _, p := range f.Points() {
			if p.Implemented() {
				part.Points++
			}
			if fact := factOf(p.Name); fact != "" && f.ID == common && p.Implemented() {
				n.Facts[fact] = text(p.Words)
			}
		}
		n.Parts = append(n.Parts, part)
	}
	n.Name = registry.Readable(n.Facts["model"])
	n.Detail = strings.Join(strings.Fields(n.Facts["vendor"]+" "+n.Facts["model"]+" "+where), " ")
	switch {
	case unpublished == 1:
		n.Note = fmt.Sprintf("1 of its %d models has no published definition: its registers are not in the list.", len(found))
	case unpublished > 1:
		n.Note = fmt.Sprintf("%d of its %d models have no published definition: their registers are not in the list.", unpublished, len(found))
	}
	var list strings.Builder
	if err := Write(&list, rows, false); err != nil {
		return n, err
	}
	n.Config = map[string]any{"registry": list.String()}
	return n, nil
}

// factOf returns what a point of the common model says of a device; "" if that is not shown.
func factOf(name string) string {
	switch name {
	case "Mn":
		return "vendor"
	case "Md":
		return "model"
	case "Vr":
		return "version"
	case "SN":
		return "serial"
	}
	return ""
}

// text returns what registers hold as characters.
func text(words []uint16) string {
	b := make([]byte, 0, 2*len(words))
	for _, w := range words {
		b = append(b, byte(w>>8), byte(w))
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.ToValidUTF8(strings.TrimSpace(s), "·")
}
