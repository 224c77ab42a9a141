// Package cluster declares and carries out the operations on the replicas that a node is one of.
package cluster

import (
	"context"
	"time"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/cluster/report"
)

// Replicas knows the replicas. See replication.Replicas.
type Replicas interface {
	Cluster() report.Cluster
	Add(ctx context.Context, name, address string, witness bool) error
	Remove(ctx context.Context, name string) error
	Drain(ctx context.Context, name string, undo bool) error
}

// The arguments.
type (
	// Replica names a replica.
	Replica struct {
		Name string `json:"name" api:"required,max=64" doc:"The node.name of the replica"`
	}
	// Draining names a replica to drain.
	Draining struct {
		Replica
		Undo bool `json:"undo" doc:"Let it take clients again"`
	}
	// NewReplica is a replica to add.
	NewReplica struct {
		Replica
		Address string `json:"address" api:"required,max=300" doc:"host:port where it listens for the others; of a replica that is there already, its new one"`
		Witness bool   `json:"witness" doc:"It has the logs and counts for the majority, and has neither clients, devices nor history; its configuration says so, too"`
	}
)

const smallBody = 4 << 10

// leaveTime is longer than a removal waits for the logs.
const leaveTime = 150 * time.Second

// The operations.
var (
	Status = operation.Declare[operation.None, report.Cluster](operation.Spec{
		Name: "cluster.status", ID: "getCluster", HTTP: "GET /cluster", Role: identity.Viewer, Remote: true,
		Summary: "Tell how the replicas of a node are", Result: "The replicas, as the node sees them",
		Doc: "Each replica tells the others every second how it is. Of one that is not reached it is what it told last.",
	})
	Add = operation.Declare[NewReplica, operation.None](operation.Spec{
		Name: "cluster.add", ID: "addReplica", HTTP: "POST /cluster/replicas", Role: identity.Administrator, Audited: true, Body: smallBody,
		Summary: "Add a replica while the others run, give one another address, or keep one that is leaving",
		Doc:     "It joins when it starts with a configuration that lists all replicas, and the key of the cluster. There may be five. A witness is marked in its own configuration, too, and joins only then.",
	})
	Remove = operation.Declare[Replica, operation.None](operation.Spec{
		Name: "cluster.remove", ID: "removeReplica", HTTP: "DELETE /cluster/replicas/{name}", Role: identity.Administrator, Audited: true,
		Waits: true, Wait: leaveTime,
		Summary: "Remove a replica while the others run",
		Doc:     "The answer comes when the others have all logs without it, and it may be stopped: it acknowledges nothing from then on. Until then it is leaving. At least three must be left. The others keep what it recorded. After two minutes the answer says what remains; that goes on, and the request may be repeated.",
	})
	Drain = operation.Declare[Draining, operation.None](operation.Spec{
		Name: "cluster.drain", ID: "drainReplica", HTTP: "POST /cluster/replicas/{name}/drain", Role: identity.Administrator, Audited: true, Body: smallBody,
		Summary: "Send the MQTT clients of a replica to the others and give them its devices, so that it may be stopped",
		Doc:     "cluster.status says drained when no client is left, another replica has its devices, and the others have stored all that it acknowledged. A restart undoes it.",
	})
)

// Part carries out the operations on replicas.
type Part struct {
	Replicas Replicas // that of a node alone says so
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		operation.Bind(Status, nil, p.status),
		operation.Bind(Add, nil, p.add),
		operation.Bind(Remove, nil, p.remove),
		operation.Bind(Drain, nil, p.drain),
	}
}

func (p *Part) status(context.Context, *operation.Call, *operation.None) (report.Cluster, error) {
	if p.Replicas == nil {
		return report.Cluster{}, operation.NotHere("cluster")
	}
	return p.Replicas.Cluster(), nil
}

func (p *Part) add(ctx context.Context, c *operation.Call, in *NewReplica) (operation.None, error) {
	c.Did(in.Name, map[string]any{"address": in.Address, "witness": in.Witness})
	if p.Replicas == nil {
		return operation.None{}, operation.NotHere("cluster")
	}
	return operation.None{}, p.Replicas.Add(ctx, in.Name, in.Address, in.Witness)
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Replica) (operation.None, error) {
	c.Did(in.Name, nil)
	if p.Replicas == nil {
		return operation.None{}, operation.NotHere("cluster")
	}
	return operation.None{}, p.Replicas.Remove(ctx, in.Name)
}

func (p *Part) drain(ctx context.Context, c *operation.Call, in *Draining) (operation.None, error) {
	c.Did(in.Name, map[string]bool{"undo": in.Undo})
	if p.Replicas == nil {
		return operation.None{}, operation.NotHere("cluster")
	}
	return operation.None{}, p.Replicas.Drain(ctx, in.Name, in.Undo)
}
