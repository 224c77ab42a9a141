package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/control"
	nodes0 "voltbus/operation/nodes"
	"voltbus/operation/people"
)

// NewRelease returns the command "release".
func NewRelease(f *shell.Flags) *cobra.Command {
	var chosen answer.CommandSelection
	cmd := &cobra.Command{
		Use: "release [<path>]", Short: "Relinquish your own commands; other commands then apply, or the points revert",
		Long: `Relinquish your own commands: those on a point, or on all points of a device or branch, those of a task, one by its
identifier, or all with the reservations. The next level in use then applies, or the point reverts to its default.

With --all this includes the other nodes of the tree. If points of one stay commanded, or it cannot be reached, this is
reported, and the exit code is not 0. With --node only that node is included.`,
		Example: `  voltbus release site/zone1/setpoint
  voltbus release site/zone1
  voltbus release --all
  voltbus release --all --of agent:tune`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				chosen.Point = args[0]
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				_, err := client.Do(ctx, s.Client, control.Release, chosen)
				if chosen.All && f.Where.Node == "" {
					err = errors.Join(err, releaseElsewhere(s, ctx, chosen))
				}
				return err
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&chosen.Task, "task", "", "what was commanded under this reservation")
	fs.StringVar(&chosen.ID, "id", "", "the command with this identifier")
	fs.IntVar(&chosen.Level, "level", 0, "only on this level")
	fs.BoolVar(&chosen.All, "all", false, "everything, reservations included")
	fs.StringVar(&chosen.Requester, "of", "", "of somebody else, such as agent:tune; needs the role engineer")
	return cmd
}

// releaseAtOnce is how many other nodes are asked at once.
const releaseAtOnce = 16

// left is a node whose points remain commanded, as far as known.
type left struct {
	node    string
	points  []string // nil: unknown
	err     error
	unknown bool // the node did not report which commands are in force
}

var errLeft = errors.New("points there stay commanded: release them with --node, or on the node itself")

// releaseElsewhere ends the commands that were given from this node at the other nodes of the tree, and reports
// where that failed.
func releaseElsewhere(s shell.Session, ctx context.Context, chosen answer.CommandSelection) error {
	list, err := client.Do(ctx, s.Client, nodes0.List, struct{}{})
	if err != nil {
		return err
	}
	who, err := heldAs(s, ctx, &list, chosen.Requester)
	if err != nil {
		return err
	}
	var names []string
	for i := range list.Nodes {
		if n := &list.Nodes[i]; n.State != answer.NodeHere {
			names = append(names, n.Name)
		}
	}
	if chosen.Requester == "" {
		names = append(names, list.Above...)
	} else {
		chosen.Requester = who
	}
	found := make([]*left, len(names))
	var asking sync.WaitGroup
	free := make(chan struct{}, releaseAtOnce)
	for i, name := range names {
		asking.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			found[i] = releaseAt(ctx, s, name, chosen, who)
			if l := found[i]; l != nil && l.unknown && slices.Contains(list.Above, name) {
				found[i] = nil // a parent that permits this node no requests holds nothing for it
			}
		})
	}
	asking.Wait()
	return tellLeft(s, slices.DeleteFunc(found, func(l *left) bool { return l == nil }))
}

// heldAs returns the requester's name at other nodes: that of this node or the caller.
func heldAs(s shell.Session, ctx context.Context, list *answer.Nodes, requester string) (string, error) {
	if requester == "" {
		me, err := client.Do(ctx, s.Client, people.Session, struct{}{})
		if err != nil {
			return "", err
		}
		requester = "person:" + me.User
	}
	kind, name, _ := strings.Cut(requester, ":")
	if strings.Contains(name, "/") || len(list.Nodes) == 0 {
		return requester, nil
	}
	return kind + ":" + list.Nodes[0].Name + "/" + name, nil
}

// releaseAt ends the commands at another node; nil if no command is in force there any more.
func releaseAt(ctx context.Context, s shell.Session, node string, chosen answer.CommandSelection, who string) *left {
	there := s.At(node)
	_, err := client.Do(ctx, there, control.Release, chosen)
	if err == nil || fault.Is(err, fault.NotFound) {
		return nil
	}
	held, unknown := client.Do(ctx, there, control.Held, control.Requester{Requester: who})
	switch {
	case unknown != nil:
		return &left{node: node, err: err, unknown: fault.Is(unknown, fault.Refused)}
	case len(held.Commands) == 0:
		return nil
	}
	l := &left{node: node, err: err, points: []string{}}
	for i := range held.Commands {
		l.points = append(l.points, held.Commands[i].Path)
	}
	return l
}

func tellLeft(s shell.Session, list []*left) error {
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, l := range list {
		names = append(names, l.node)
		if l.points == nil {
			fmt.Fprintf(s.ErrOrStderr(), "%s could not be asked, what is commanded there from here stays: %s\n", shell.Plain(l.node), shell.Plain(l.err.Error()))
		}
		for _, p := range l.points {
			fmt.Fprintf(s.ErrOrStderr(), "%s of %s stays commanded: %s\n", shell.Plain(p), shell.Plain(l.node), shell.Plain(l.err.Error()))
		}
	}
	return fault.E("voltbus", fault.KindOf(list[0].err), strings.Join(names, ", "), errLeft)
}
