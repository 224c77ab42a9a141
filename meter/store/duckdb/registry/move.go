package registry

import (
	"context"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/duckdb/engine"
)

// Moving is a part of an exchange of two meters of which this store keeps one: that one leaves its service point, or comes to it.
type Moving struct {
	ServicePoint string
	Meter        string
	Leaves       bool
	At           time.Time
}

// Move notes where a meter is. It may have been noted before. It fails with fault.NotFound for a meter that is not registered, and with fault.Conflict
// for one that is not there, or that is elsewhere.
func Move(ctx context.Context, c *engine.Conn, dir *directory.Directory, m *Moving) error {
	const op = "metering.Move"
	number, ok := dir.Number(m.Meter)
	if !ok {
		return store.Unregistered(op, m.Meter)
	}
	list, err := around(ctx, c, dir, m.ServicePoint, number)
	if err != nil {
		return err
	}
	noted := func(i meter.Installation) bool {
		return i.Meter == m.Meter && i.ServicePoint == m.ServicePoint && (m.Leaves && i.To.Equal(m.At) || !m.Leaves && i.From.Equal(m.At))
	}
	if slices.ContainsFunc(list, noted) {
		return nil
	}
	var model meter.Installations
	for _, i := range list {
		if err := model.Install(i); err != nil {
			return fault.E(op, fault.Internal, m.ServicePoint, err)
		}
	}
	until, since := dir.DaysOfExchange(m.At)
	if m.Leaves {
		if err := model.Remove(m.Meter, m.At); err != nil {
			return fault.E(op, fault.Conflict, m.ServicePoint, err)
		}
		if err := c.Exec(ctx, "UPDATE installations SET until = $1 WHERE point = $2 AND meter = $3 AND until = 0", m.At.UnixMicro(), m.ServicePoint, number); err != nil {
			return err
		}
		return c.Exec(ctx, "UPDATE meters SET until = $1 WHERE number = $2", int(until), number)
	}
	if err := model.Install(meter.Installation{Meter: m.Meter, ServicePoint: m.ServicePoint, From: m.At}); err != nil {
		return fault.E(op, fault.Conflict, m.ServicePoint, err)
	}
	if err := c.Exec(ctx, "INSERT INTO installations VALUES ($1, $2, $3, 0)", strings.Clone(m.ServicePoint), number, m.At.UnixMicro()); err != nil {
		return err
	}
	return c.Exec(ctx, "UPDATE meters SET since = $1 WHERE number = $2", int(since), number)
}

// around lists the installations of a service point and of a meter.
func around(ctx context.Context, c *engine.Conn, dir *directory.Directory, servicePoint string, number uint32) ([]meter.Installation, error) {
	list, err := Installations(ctx, c, dir, "point = $1", servicePoint)
	if err != nil {
		return nil, err
	}
	there, err := Installations(ctx, c, dir, "meter = $1", number)
	for _, i := range there {
		if !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list, err
}
