// Package cluster declares and carries out the operations on the replicas that a node is one of.
package cluster

import (
	"context"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/cluster/report"
)

// Replicas knows the replicas. See replication.Replicas.
type Replicas interface {
	Cluster() report.Cluster
}

// Status tells how the replicas are.
var Status = operation.Declare[operation.None, report.Cluster](operation.Spec{
	Name: "cluster.status", ID: "getCluster", HTTP: "GET /cluster", Role: identity.Viewer, Remote: true,
	Summary: "Tell how the replicas of a node are", Result: "The replicas, as the node sees them",
	Doc: "Each replica tells the others every second how it is. Of one that is not reached it is what it told last.",
})

// Part carries out the operations on replicas.
type Part struct {
	Replicas Replicas // that of a node alone says so
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(Status, nil, p.status)}
}

func (p *Part) status(context.Context, *operation.Call, *operation.None) (report.Cluster, error) {
	if p.Replicas == nil {
		return report.Cluster{}, operation.NotHere("cluster")
	}
	return p.Replicas.Cluster(), nil
}
