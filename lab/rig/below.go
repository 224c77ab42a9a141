package rig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/children"
	"voltbus/operation/ledger"
	"voltbus/point"
	"voltbus/uplink/bundle"
)

// Provision makes the node of a name a child of this one, as voltbus provision does: its bundle is
// in a folder of its name below dir, which is returned. address is where the child finds this node;
// "" for where it listens.
func (r *Running) Provision(ctx context.Context, dir, name, prefix, address string) (string, error) {
	door, err := client.Do(ctx, r.Client, children.Reach, struct{}{})
	if err != nil {
		return "", err
	}
	key, err := bundle.Key(dir, name)
	if err != nil {
		return "", err
	}
	if _, err := client.Do(ctx, r.Client, children.Add, client.NewChild{Name: name, Public: key.Public(), Prefix: prefix}.Arguments()); err != nil {
		return "", err
	}
	if address == "" {
		address = r.Bus
	}
	return filepath.Join(dir, name), bundle.Write(dir, &bundle.Bundle{
		Parent: door.Node, Addresses: []string{address}, Fingerprint: door.Fingerprint, Authority: door.Authority,
		Name: name, Prefix: point.Path(prefix),
	}, time.Now())
}

// Below starts a station with the site below another node, from the bundle that Provision made.
func (s Site) Below(ctx context.Context, program []string, place string) (*Running, error) {
	s.Name = filepath.Base(place)
	file, err := s.Write(place)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(place, "voltbus.yaml")); err != nil && !os.IsNotExist(err) { // the site's is used
		return nil, fault.E("rig.Below", fault.Unavailable, place, err)
	}
	return Station{Config: file}.Open(ctx, program)
}

// Accounts returns the ledger's lines by the node that they are of, its lanes added up.
func (r *Running) Accounts(ctx context.Context) (map[string]answer.Origin, error) {
	l, err := client.Do(ctx, r.Client, ledger.Get, ledger.Reach{})
	if err != nil {
		return nil, err
	}
	out := map[string]answer.Origin{}
	for _, o := range l.Origins {
		name := nodeOf(o.Origin)
		sum, there := out[name]
		out[name] = answer.Origin{
			Origin: name, Own: o.Own, Balanced: o.Balanced && (sum.Balanced || !there),
			Produced: sum.Produced + o.Produced, Acknowledged: sum.Acknowledged + o.Acknowledged, Stored: sum.Stored + o.Stored,
			Refused: sum.Refused + o.Refused, Missing: sum.Missing + o.Missing, Repeated: sum.Repeated + o.Repeated, Left: sum.Left + o.Left,
			BacklogBlocks: sum.BacklogBlocks + o.BacklogBlocks, BacklogSamples: sum.BacklogSamples + o.BacklogSamples,
		}
	}
	return out, nil
}

// Ended closes nodes in the order of the list, and returns what went wrong.
func Ended(nodes []*Running) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
