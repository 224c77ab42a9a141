package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink/enrol"
)

// provisioning is what voltbus provision was asked for.
type provisioning struct {
	count     int
	first     int
	out       string
	name      string
	prefix    string
	grants    []string
	addresses []string
}

const mostBundles = 10_000

func newProvision(f *flags) *cobra.Command {
	p := &provisioning{}
	cmd := &cobra.Command{
		Use: "provision", Short: "Prepare many nodes that join without a person: a bundle for each", Args: cobra.NoArgs,
		Long: `Prepare many nodes that join without a person. Each gets a folder with its configuration, its key and what
it must know of this node, which knows it as approved; cloud-init.yaml puts the same on a new machine,
and hosts.yaml lists the folders for Ansible.

The keys are made here and are nowhere else, so keep the folders like keys, and remove them when the nodes
run. The command can be repeated: what is there stays.`,
		Example: `  voltbus provision --count 50 --out bundles
  voltbus provision --count 3 --first 51 --name 'plant-%03d' --prefix 'region/{name}' --out bundles`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := grantsOf(p.grants)
			if err != nil {
				return err
			}
			names, err := p.names()
			if err != nil {
				return err
			}
			return f.where.with(cmd, func(ctx context.Context, s session) error { return p.run(ctx, s, names, g) })
		},
	}
	f.where.register(cmd)
	fs := cmd.Flags()
	fs.IntVar(&p.count, "count", 1, "how many nodes")
	fs.IntVar(&p.first, "first", 1, "number of the first one")
	fs.StringVar(&p.out, "out", "", "folder to write to")
	fs.StringVar(&p.name, "name", "node-%02d", "how they are called; %d or %02d stands for the number")
	fs.StringVar(&p.prefix, "prefix", "", "path below which all points of a node must be; {name} stands for its name; default: anywhere")
	fs.StringArrayVar(&p.grants, "grant", nil, "what each may do here besides, such as 'read weather/**'; may be repeated")
	fs.StringArrayVar(&p.addresses, "address", nil, "host:port where the nodes reach the bus of this one; may be repeated; default: what this one knows")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

// names lists the names of the nodes.
func (p *provisioning) names() ([]string, error) {
	switch {
	case p.out == "":
		return nil, usage(errors.New("say with --out where the bundles are written"))
	case p.count < 1 || p.count > mostBundles || p.first < 0:
		return nil, usage(fmt.Errorf("--count must be from 1 to %d, and --first 0 or more", mostBundles))
	}
	seen := map[string]bool{}
	names := make([]string, p.count)
	for i := range names {
		names[i] = p.name
		if strings.Contains(p.name, "%") {
			names[i] = fmt.Sprintf(p.name, p.first+i)
		}
		if err := identity.CheckChildName(names[i]); err != nil {
			return nil, usage(fmt.Errorf("--name %q gives %q: %w", p.name, names[i], err))
		}
		if seen[names[i]] {
			return nil, usage(fmt.Errorf("--name %q gives the same name twice; write %%d for the number", p.name))
		}
		seen[names[i]] = true
	}
	return names, nil
}

func (p *provisioning) run(ctx context.Context, s session, names []string, g identity.Grants) error {
	door, err := s.Door(ctx)
	if err != nil {
		return err
	}
	if len(p.addresses) > 0 {
		door.Addresses = p.addresses
	}
	if len(door.Addresses) == 0 {
		return usage(errors.New("nothing listens for other nodes: set listen.bus and start this node, or give --address"))
	}
	for _, a := range door.Addresses {
		if err := enrol.CheckAddress(a); err != nil {
			return err
		}
	}
	for _, name := range names {
		prefix := strings.ReplaceAll(p.prefix, identity.PrefixOfName, name)
		if err := p.register(ctx, s, name, prefix, g); err != nil {
			return err
		}
		err := enrol.WriteBundle(p.out, &enrol.Bundle{
			Parent: door.Node, Addresses: door.Addresses, Fingerprint: door.Fingerprint, Authority: door.Authority,
			Name: name, Prefix: point.Path(prefix),
		}, time.Now())
		if err != nil {
			return err
		}
	}
	if err := enrol.WriteInventory(p.out, names); err != nil {
		return err
	}
	s.Printf("%d nodes are approved; their bundles are in %s, with their keys\n", len(names), filepath.Clean(p.out))
	return nil
}

// register makes the key of a node and has it known here. One that is known already is left as it is.
func (p *provisioning) register(ctx context.Context, s session, name, prefix string, g identity.Grants) error {
	key, err := enrol.BundleKey(p.out, name)
	if err != nil {
		return err
	}
	_, err = s.AddChild(ctx, client.NewChild{Name: name, Public: key.Public(), Prefix: prefix, Grants: g})
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	if c, there := s.Child(ctx, name); there == nil && c.Public == key.Public() {
		return nil
	}
	return err
}
