package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/documents"
	"voltbus/operation/history"
	"voltbus/operation/points"
)

// Parts do what is asked of a node. Each says that this node does not have it as long as it is not filled in.
type Parts struct {
	Documents documents.Part
	History   history.Part
	Points    points.Part
}

// Operations lists what the parts do.
func (p *Parts) Operations() []operation.Bound {
	return slices.Concat(p.Documents.Operations(), p.History.Operations(), p.Points.Operations())
}
