package opcua

import (
	"context"
	"fmt"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/fault"
)

// Nodes of the standard (Part 6, annex A).
const (
	nodeObjects      = 85   // the folder of what a server has
	nodeServer       = 2253 // what it tells of itself
	nodeHierarchical = 33   // the type of references that make a tree
	nodeHasProperty  = 46
)

// Child is a node under another.
type Child struct {
	Node  string // its address
	Name  string // its browse name
	Class string // Object, Variable, Method and others
}

// Browse returns the nodes under one, by its address; those of the folder Objects for "".
func Browse(ctx context.Context, open driver.Line, address string) ([]Child, error) {
	const op = "opcua.Browse"
	l, is := open.(*line)
	if !is {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("the line is a %T", open))
	}
	at := ua.NewNumericNodeID(0, nodeObjects)
	if address != "" {
		where, err := pointlist.ParseNode(address)
		if err == nil {
			at, err = where.Resolve(l.namespaces)
		}
		if err != nil {
			return nil, fault.E(op, fault.Invalid, address, err)
		}
	}
	found, err := l.browse(ctx, []*ua.NodeID{at})
	if err != nil {
		return nil, fault.E(op, fault.Unavailable, address, explain(err))
	}
	list := make([]Child, len(found[0]))
	for i, ref := range found[0] {
		list[i] = Child{Node: pointlist.NodeOf(ref.NodeID.NodeID, l.namespaces).String(), Name: ref.BrowseName.Name, Class: className(ref.NodeClass)}
	}
	return list, nil
}

func className(class ua.NodeClass) string {
	switch class {
	case ua.NodeClassObject:
		return "Object"
	case ua.NodeClassVariable:
		return "Variable"
	case ua.NodeClassMethod:
		return "Method"
	case ua.NodeClassView:
		return "View"
	default:
		return "Type"
	}
}

// allFields asks for all fields of references, allClasses for nodes of all classes.
const (
	allFields  = uint32(ua.BrowseResultMaskAll)
	allClasses = 0
)

// browse returns what is below each of some nodes (Part 4, clause 5.9.2). A node that cannot be browsed has nothing.
func (l *line) browse(ctx context.Context, nodes []*ua.NodeID) ([][]*ua.ReferenceDescription, error) {
	found := make([][]*ua.ReferenceDescription, len(nodes))
	for begin := 0; begin < len(nodes); begin += l.most.browse {
		part := nodes[begin:min(len(nodes), begin+l.most.browse)]
		req := &ua.BrowseRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)}}
		for _, id := range part {
			req.NodesToBrowse = append(req.NodesToBrowse, &ua.BrowseDescription{
				NodeID: id, BrowseDirection: ua.BrowseDirectionForward, ReferenceTypeID: ua.NewNumericNodeID(0, nodeHierarchical), IncludeSubtypes: true, NodeClassMask: allClasses, ResultMask: allFields,
			})
		}
		resp, err := l.conn.Do(ctx, req, l.cfg.Timeout)
		if err != nil {
			return nil, err
		}
		answer, is := resp.(*ua.BrowseResponse)
		if !is || len(answer.Results) != len(part) {
			return nil, fmt.Errorf("the server does not answer as asked: %T for %d nodes", resp, len(part))
		}
		for i, result := range answer.Results {
			refs, err := l.rest(ctx, result)
			if err != nil {
				return nil, err
			}
			found[begin+i] = whole(refs)
		}
	}
	return found, nil
}

// rest gets the references that did not fit into an answer (Part 4, clause 5.9.3).
func (l *line) rest(ctx context.Context, result *ua.BrowseResult) ([]*ua.ReferenceDescription, error) {
	refs := result.References
	for more := result.ContinuationPoint; len(more) > 0 && len(refs) < maxNodes; {
		resp, err := l.conn.Do(ctx, &ua.BrowseNextRequest{ContinuationPoints: [][]byte{more}}, l.cfg.Timeout)
		if err != nil {
			return nil, err
		}
		answer, is := resp.(*ua.BrowseNextResponse)
		if !is || len(answer.Results) != 1 {
			return nil, fmt.Errorf("the server does not answer as asked: %T for the rest of a list", resp)
		}
		refs, more = append(refs, answer.Results[0].References...), answer.Results[0].ContinuationPoint
	}
	return refs, nil
}

// whole leaves out references that lack what is needed, or lead to another server.
func whole(refs []*ua.ReferenceDescription) (list []*ua.ReferenceDescription) {
	for _, ref := range refs {
		if ref != nil && ref.NodeID != nil && ref.NodeID.NodeID != nil && ref.NodeID.ServerIndex == 0 && ref.BrowseName != nil && ref.ReferenceTypeID != nil {
			list = append(list, ref)
		}
	}
	return list
}
