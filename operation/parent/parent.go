// Package parent declares and carries out the operations on the parent of this node.
package parent

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// Parent is the parent of this node, as an operation sees it.
type Parent interface {
	Parent(ctx context.Context) (answer.Parent, error)
	// JoinParent makes this node the child of the node that issued the code; name is the name it asks for, "" for the one in the code or else its
	// own.
	JoinParent(ctx context.Context, code, name string) (answer.Parent, error)
	LeaveParent(ctx context.Context) error
	// RotateKey gives this node a new key in place of the one known to its parent.
	RotateKey(ctx context.Context) (answer.Parent, error)
}

// Code is the code of an invitation.
type Code struct {
	Code string `json:"code" api:"required,judged,max=4096" doc:"Begins with vb1"`
	Name string `json:"name" api:"judged,max=64" doc:"What this node wants to be called there; empty or left out: what the code says, or its own name"`
}

// The operations.
var (
	Get = operation.Declare[struct{}, answer.Parent](operation.Spec{
		Name: "parent.get", HTTP: "GET /parent", Role: identity.Viewer,
		Summary: "Read the state of the link to the parent", Result: "The parent; member is false if there is none",
	})
	Join = operation.Declare[Code, answer.Parent](operation.Spec{
		Name: "parent.join", HTTP: "POST /parent", Role: identity.Administrator, Audited: true, Body: 8 << 10,
		Summary: "Join a parent with its code", Result: "The parent",
		Doc: "400 for a code that was not copied right, 403 for one that was used, expired or cancelled, or if another node answers, 409 if the name is taken or this node has a parent.",
	})
	Leave = operation.Declare[struct{}, operation.None](operation.Spec{
		Name: "parent.leave", HTTP: "DELETE /parent", Role: identity.Administrator, Audited: true,
		Summary: "Leave the parent of this node, and forget the key that it knows",
	})
	Rotate = operation.Declare[struct{}, answer.Parent](operation.Spec{
		Name: "parent.rotate", ID: "rotateKey", HTTP: "POST /parent/rotate", Role: identity.Administrator, Audited: true,
		Summary: "Replace the key that the parent knows by a new one", Result: "The parent", Doc: "The parent refuses the old one from then on.",
	})
)

// Part carries out the operations on the parent of this node.
type Part struct {
	Parent Parent // nil if there can be none
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(Get, nil, p.get), operation.Bind(Join, nil, p.join), operation.Bind(Leave, nil, p.leave), operation.Bind(Rotate, nil, p.rotate),
	}
	if p.Parent == nil {
		return operation.Absent(list)
	}
	return list
}

// joinTime is the limit for trying all addresses of a code.
const joinTime = 25 * time.Second

func (p *Part) get(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.Parent, error) {
	return p.Parent.Parent(ctx)
}

// join never writes the code to the audit log: it is a secret until used.
func (p *Part) join(ctx context.Context, c *operation.Call, in *Code) (answer.Parent, error) {
	c.Did(in.Name, nil)
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	out, err := p.Parent.JoinParent(ctx, in.Code, in.Name)
	if err == nil {
		c.Did(out.Parent, map[string]string{"fingerprint": out.Fingerprint, "name": out.Name, "state": out.State})
	}
	return out, err
}

func (p *Part) leave(ctx context.Context, c *operation.Call, _ *struct{}) (operation.None, error) {
	if before, err := p.Parent.Parent(ctx); err == nil {
		c.Did(before.Parent, nil)
	}
	return operation.None{}, p.Parent.LeaveParent(ctx)
}

func (p *Part) rotate(ctx context.Context, c *operation.Call, _ *struct{}) (answer.Parent, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	out, err := p.Parent.RotateKey(ctx)
	if err == nil {
		c.Did(out.Parent, map[string]string{"key_fingerprint": out.Key})
	}
	return out, err
}
