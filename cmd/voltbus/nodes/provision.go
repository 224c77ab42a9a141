package nodes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/settings"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation/children"
	"voltbus/point"
	"voltbus/uplink/bundle"
	"voltbus/uplink/enrol"
)

// provisioning holds the arguments of voltbus provision.
type provisioning struct {
	count     int
	first     int
	from      string
	out       string
	name      string
	prefix    string
	grants    []string
	addresses []string
	expires   string
	end       time.Time // when the keys expire; zero: never
}

// never is the flag for keys that do not expire.
const never = "never"

const mostBundles = 10_000

// NewProvision returns the command "provision".
func NewProvision(f *shell.Flags) *cobra.Command {
	p := &provisioning{}
	cmd := &cobra.Command{
		Use: "provision", Short: "Prepare many nodes for unattended joining, with a bundle for each", Args: cobra.NoArgs,
		Long: `Prepare many nodes for unattended joining. Each gets a folder with its configuration, its key, and the address and
authority of this node, where it is already approved. The subfolder cloud-init has the files for cloud-init on a new
machine; hosts.yaml and playbook.yaml beside the folders install the nodes with Ansible.

With --from the nodes are the rows of a CSV file with a header: the column name, and optionally prefix and host, the
address for Ansible. Every other column becomes a label in hosts.yaml.

The folders contain the only copy of the keys, so protect them, and remove them when the nodes run. A node takes a new
key at its first connection, and its folder is then worthless. A bundle that is not used until --expires is refused, and
its node shown as expired; voltbus children approve, or this command, renews it. The command can be repeated: existing
bundles stay, and unused ones get the new expiry.`,
		Example: `  voltbus provision --count 50 --out bundles
  voltbus provision --count 3 --first 51 --name 'plant-%03d' --prefix 'region/{name}' --out bundles
  voltbus provision --from plants.csv --out bundles`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := grantsOf(p.grants)
			if err != nil {
				return err
			}
			if p.expires != never {
				p.end, err = settings.EndOf(p.expires, time.Now())
			}
			if err == nil && p.end.IsZero() && p.expires != never {
				err = errors.New("--expires needs a time such as 30d or 720h, or never")
			}
			if err != nil {
				return shell.Usage(err)
			}
			list, err := p.list(cmd)
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return p.run(ctx, s, list, g) })
		},
	}
	f.Where.Register(cmd)
	fs := cmd.Flags()
	fs.IntVar(&p.count, "count", 1, "how many nodes")
	fs.IntVar(&p.first, "first", 1, "number of the first one")
	fs.StringVar(&p.from, "from", "", "CSV file with the nodes, in place of --count, --first and --name")
	fs.StringVar(&p.out, "out", "", "folder to write to, which must be given")
	fs.StringVar(&p.name, "name", "node-%02d", "how they are called; %d or %02d stands for the number")
	fs.StringVar(&p.prefix, "prefix", "", "path below which all points of a node must be; {name} stands for its name; default: anywhere")
	fs.StringArrayVar(&p.grants, "grant", nil, "what each may do here besides, such as 'read weather/**'; may be repeated")
	fs.StringArrayVar(&p.addresses, "address", nil, "host:port where the nodes reach the bus of this one; may be repeated; default: what this one knows")
	fs.StringVar(&p.expires, "expires", "30d", "until when a bundle can be used for the first time: a time such as 30d or 720h from now, 2027-01-31T12:00:00Z, or never")
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.MarkFlagFilename("from", "csv")
	return cmd
}

// planned is a node that gets a bundle.
type planned struct {
	bundle.Host
	prefix string
}

// list returns the requested nodes.
func (p *provisioning) list(cmd *cobra.Command) ([]planned, error) {
	if p.out == "" {
		return nil, shell.Usage(errors.New("say with --out where the bundles are written"))
	}
	if info, err := os.Stat(p.out); err == nil && !info.IsDir() {
		return nil, shell.Usage(fmt.Errorf("--out %s is a file; name a folder", p.out))
	}
	var list []planned
	if p.from != "" {
		for _, other := range []string{"count", "first", "name"} {
			if cmd.Flags().Changed(other) {
				return nil, shell.Usage(fmt.Errorf("the file of --from says which nodes there are; leave --%s away", other))
			}
		}
		list, err := plannedFrom(p.from, p.prefix)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("--from %s does not exist; name a CSV file with a heading, such as name,prefix,host", p.from)
		}
		if err != nil {
			return nil, shell.Usage(err)
		}
		return list, nil
	}
	names, err := p.names()
	for _, name := range names {
		list = append(list, planned{bundle.Host{Name: name}, prefixOf(p.prefix, name)})
	}
	return list, err
}

func prefixOf(prefix, name string) string {
	return strings.ReplaceAll(prefix, registry.PrefixOfName, name)
}

// countedName is a name with at most one placeholder for a number.
var countedName = regexp.MustCompile(`^[^%]*(%(0[1-9])?d[^%]*)?$`)

// names lists the numbered names of nodes.
func (p *provisioning) names() ([]string, error) {
	if p.count < 1 || p.count > mostBundles || p.first < 0 {
		return nil, shell.Usage(fmt.Errorf("--count must be from 1 to %d, and --first 0 or more", mostBundles))
	}
	if !countedName.MatchString(p.name) {
		return nil, shell.Usage(fmt.Errorf("--name %q: write %%d or %%02d once, where the number stands", p.name))
	}
	seen := map[string]bool{}
	names := make([]string, p.count)
	for i := range names {
		names[i] = p.name
		if strings.Contains(p.name, "%") {
			names[i] = fmt.Sprintf(p.name, p.first+i)
		}
		if err := identity.CheckChildName(names[i]); err != nil {
			return nil, shell.Usage(fmt.Errorf("--name %q gives %q: %w", p.name, names[i], err))
		}
		if seen[strings.ToLower(names[i])] {
			return nil, shell.Usage(fmt.Errorf("--name %q gives the same name twice; write %%d for the number", p.name))
		}
		seen[strings.ToLower(names[i])] = true
	}
	return names, nil
}

// door returns what the nodes must know about this one.
func (p *provisioning) door(ctx context.Context, s shell.Session) (answer.Door, error) {
	door, err := client.Do(ctx, s.Client, children.Reach, struct{}{})
	if err != nil {
		return door, err
	}
	if len(p.addresses) > 0 {
		door.Addresses = p.addresses
	}
	if len(door.Addresses) == 0 {
		return door, shell.Usage(errors.New("nothing listens for other nodes: set listen.bus and start this node, or give --address"))
	}
	for _, a := range door.Addresses {
		if err := enrol.CheckAddress(a); err != nil {
			return door, err
		}
	}
	return door, nil
}

// outcome is the outcome of the nodes.
type outcome struct {
	hosts  []bundle.Host // that have bundles
	end    time.Time     // when the first of them expires; zero: none does
	joined []string      // names of those that no longer need one
	known  []error       // names in use by others
}

// expires records until when a bundle can be used.
func (o *outcome) expires(at *time.Time) {
	if at != nil && (o.end.IsZero() || at.Before(o.end)) {
		o.end = *at
	}
}

func (p *provisioning) run(ctx context.Context, s shell.Session, list []planned, g identity.Grants) error {
	door, err := p.door(ctx, s)
	if err != nil {
		return err
	}
	var done outcome
	for i := range list {
		one := &list[i]
		c, err := p.prepare(ctx, s, one, &door, g)
		switch {
		case err == nil:
			done.expires(c.Expires)
			done.hosts = append(done.hosts, one.Host)
		case errors.Is(err, errJoined):
			done.joined = append(done.joined, one.Name)
		case fault.Is(err, fault.Conflict):
			done.known = append(done.known, fmt.Errorf("%s: %w", one.Name, reasonOf(err)))
		default:
			return errors.Join(fmt.Errorf("%s: %w", one.Name, err), p.finish(s, &done))
		}
	}
	return p.finish(s, &done)
}

// prepare creates the bundle of a node, if it needs one, and returns the node as known here.
func (p *provisioning) prepare(ctx context.Context, s shell.Session, one *planned, door *answer.Door, g identity.Grants) (answer.Child, error) {
	c, err := p.register(ctx, s, one, g)
	if err != nil {
		return c, err
	}
	return c, bundle.Write(p.out, &bundle.Bundle{
		Parent: door.Node, Addresses: door.Addresses, Fingerprint: door.Fingerprint, Authority: door.Authority,
		Name: one.Name, Prefix: point.Path(c.Prefix),
	}, time.Now())
}

// reasonOf returns an error without its origin.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// finish writes the common files of the bundles, and reports which nodes got none.
func (p *provisioning) finish(s shell.Session, done *outcome) error {
	if len(done.hosts) > 0 {
		if err := errors.Join(bundle.Shared(p.out), bundle.WriteInventory(p.out, done.hosts)); err != nil {
			return err
		}
		s.Printf("%s approved; the bundles are in %s, with the keys\n", nodes(len(done.hosts), "is", "are"), filepath.Clean(p.out))
		if !done.end.IsZero() {
			s.Printf("a bundle that no node has used by %s expires; voltbus children approve renews it, or this command once more\n", done.end.Local().Format(time.DateTime))
		}
	}
	if n := len(done.joined); n > 0 {
		s.Printf("%s joined already, so that no bundle is made: %s\n"+
			"to set a machine up anew, voltbus children remove the node and remove its folder first\n", nodes(n, "has", "have"), someOf(done.joined))
	}
	if n := len(done.known); n > 0 {
		return fault.E("voltbus provision", fault.Conflict, nodes(n, "gets", "get")+" no bundle", errors.Join(done.known...))
	}
	return nil
}

// nodes formats a count of nodes with the verb for one or many.
func nodes(n int, one, many string) string {
	if n == 1 {
		return "1 node " + one
	}
	return fmt.Sprintf("%d nodes %s", n, many)
}

// someOf names the first ones of many.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

var (
	errJoined = errors.New("has joined already")
	errNamed  = errors.New("a node of this name is known here, with another key; choose another name, or voltbus children remove it first")
)

// register creates the key of a node, and registers it here. A known node is left unchanged, except for the expiry of
// an unused key.
func (p *provisioning) register(ctx context.Context, s shell.Session, one *planned, g identity.Grants) (answer.Child, error) {
	key, err := bundle.Key(p.out, one.Name)
	if err != nil {
		return answer.Child{}, err
	}
	wish := client.NewChild{Name: one.Name, Public: key.Public(), Prefix: one.prefix, Grants: g}
	if !p.end.IsZero() {
		wish.Expires = &p.end
	}
	c, err := client.Do(ctx, s.Client, children.Add, wish.Arguments())
	if err == nil {
		return c, nil
	}
	if fault.Is(err, fault.Invalid) {
		bundle.Drop(p.out, one.Name)
	}
	if !fault.Is(err, fault.Conflict) {
		return c, err
	}
	if c, err = client.Do(ctx, s.Client, children.Get, children.Node{Name: one.Name}); err != nil || c.Public == key.Public() {
		return c, err
	}
	bundle.Drop(p.out, one.Name)
	if c.Keys > 1 && c.Expires == nil {
		return c, fault.E("provision", fault.Conflict, one.Name, errJoined)
	}
	return c, fault.E("provision", fault.Conflict, one.Name, errNamed)
}
