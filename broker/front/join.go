package front

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"voltbus/broker/account"
	"voltbus/broker/cluster"
	"voltbus/fault"
)

// journalName and journalBytes are those of the journal that the brokers of all replicas write. A replica that misses more of it reads
// what they have in common from another one.
const (
	journalName  = "BROKER"
	journalBytes = 256 << 20
)

// join opens what the broker has in common with those of other replicas; nil for a node alone.
func (f *Front) join(ctx context.Context, devices *shared) (*cluster.Cluster, error) {
	if f.cfg.Mesh == nil {
		return nil, nil
	}
	journal, err := f.cfg.Mesh.Journal(ctx, journalName, journalBytes)
	if err != nil {
		return nil, err
	}
	return cluster.Open(ctx, cluster.Config{
		Mesh: f.cfg.Mesh, Journal: journal, Store: f.storage, Devices: devices, Now: f.cfg.Now, Log: f.cfg.Log,
	})
}

// shared keeps the devices of all replicas: what one of them changes, all get from the journal.
type shared struct {
	front    *Front
	registry atomic.Pointer[account.Registry]
}

// Devices implements account.Storage.
func (s *shared) Devices(ctx context.Context, each func(account.Device)) error {
	return s.front.storage.Rows(ctx, cluster.DeviceRow, "", func(r cluster.Row) error {
		d, err := deviceOf(r.Key, r.Body)
		if err == nil {
			each(d)
		}
		return err
	})
}

func deviceOf(name string, state []byte) (d account.Device, err error) {
	if err = json.Unmarshal(state, &d); err != nil {
		return d, fault.E("front.Devices", fault.Corrupt, name, err)
	}
	return d, nil
}

// PutDevices implements account.Storage.
func (s *shared) PutDevices(ctx context.Context, list []account.Device) error {
	all := make([]cluster.Device, len(list))
	for i, d := range list {
		state, err := json.Marshal(d)
		if err != nil {
			return fault.E("front.PutDevices", fault.Internal, d.Name, err)
		}
		all[i] = cluster.Device{Name: d.Name, State: state}
	}
	return s.front.cluster.Change(ctx, all)
}

// RemoveDevice implements account.Storage.
func (s *shared) RemoveDevice(ctx context.Context, name string) error {
	return s.front.cluster.Change(ctx, []cluster.Device{{Name: name}})
}

// Apply implements cluster.Devices.
func (s *shared) Apply(c cluster.Device) {
	r := s.registry.Load()
	if r == nil {
		return // it is read from the storage
	}
	if c.State == nil {
		r.Apply(c.Name, nil)
		return
	}
	d, err := deviceOf(c.Name, c.State)
	if err != nil {
		s.front.cfg.Log.Error("an account of a device that another replica changed cannot be read", "err", err)
		return
	}
	r.Apply(c.Name, &d)
}
