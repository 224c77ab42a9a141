// Package tokens declares and carries out the operations on tokens: record-only ones, and those that people create for programs.
package tokens

import (
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
)

// Tokens creates and revokes tokens, as identity.Logins does.
type Tokens interface {
	IssueRecord(ctx context.Context, name, under string) (secret string, err error)
	RecordTokens(ctx context.Context) ([]identity.RecordToken, error)
	RevokeRecord(ctx context.Context, name string) error
	IssueOwn(ctx context.Context, by identity.Shown, t identity.OwnToken) (secret string, made identity.OwnToken, err error)
	OwnTokens(ctx context.Context, user string) ([]identity.OwnToken, error)
	RevokeOwn(ctx context.Context, user, id string) (identity.OwnToken, error)
}

// Members creates tokens for other members of the metering cluster, as identity.MemberTokens does.
type Members interface {
	IssueMember(ctx context.Context, name string) (secret string, err error)
}

// The arguments.
type (
	// Recorder is a record-only token.
	Recorder struct {
		Name  string `json:"name" api:"required,judged,max=57"`
		Under string `json:"under" api:"max=512" doc:"Path below which it may record; anywhere if left out"`
		// Member makes it the token of a cluster member.
		Member bool `json:"member" doc:"It does not record: it is for another member of the metering cluster, whose node has the name"`
	}
	// Name names a record-only token.
	Name struct {
		Name string `json:"name" api:"required"`
	}
	// Own is a token for programs on behalf of the caller.
	Own struct {
		Name    string `json:"name" api:"required,judged,max=64"`
		Role    string `json:"role" api:"required,judged,schema=Role"`
		Expires string `json:"expires" api:"schema=Time" doc:"Left out: it does not end"`
	}
	// ID names one of the caller's own tokens.
	ID struct {
		ID string `json:"id" api:"required"`
	}
)

// most is the maximum size of arguments in bytes.
const most = 8 << 10

// The operations.
var (
	List = operation.Declare[struct{}, answer.Tokens](operation.Spec{
		Name: "token.list", ID: "listTokens", HTTP: "GET /tokens", Role: identity.Administrator,
		Summary: "List the tokens that can only record, and those of members of the metering cluster", Result: "By name, without the secrets",
	})
	Issue = operation.Declare[Recorder, answer.IssuedToken](operation.Spec{
		Name: "token.issue", HTTP: "POST /tokens", Role: identity.Administrator, Audited: true, Body: most,
		Summary: "Make a token that can only record, or is for a member of the metering cluster; the secret is shown only here", Result: "The token",
	})
	Revoke = operation.Declare[Name, operation.None](operation.Spec{
		Name: "token.revoke", HTTP: "DELETE /tokens/{name}", Role: identity.Administrator, Audited: true,
		Summary: "Revoke a token at once",
	})
	ListOwn = operation.Declare[struct{}, answer.OwnTokens](operation.Spec{
		Name: "token.own.list", ID: "listOwnTokens", HTTP: "GET /tokens/own", Role: identity.Viewer,
		Summary: "List the tokens that who asks made for programs", Result: "By age, without the secrets",
	})
	IssueOwn = operation.Declare[Own, answer.IssuedOwnToken](operation.Spec{
		Name: "token.own.issue", ID: "issueOwnToken", HTTP: "POST /tokens/own", Role: identity.Viewer, Audited: true, Body: most,
		Summary: "Make a token for programs in the own name; the secret is shown only here", Result: "The token",
		Doc: "The role must not be above that of who asks. A token that was made by showing another one ends with it. A person can have 100.",
	})
	RevokeOwn = operation.Declare[ID, operation.None](operation.Spec{
		Name: "token.own.revoke", ID: "revokeOwnToken", HTTP: "DELETE /tokens/own/{id}", Role: identity.Viewer, Audited: true,
		Summary: "Revoke an own token at once, and the sessions and tokens that were made with it",
	})
)

// Part carries out the operations on tokens.
type Part struct {
	Tokens  Tokens // nil if there are none
	Members Members
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Issue, nil, p.issue), operation.Bind(Revoke, nil, p.revoke),
		operation.Bind(ListOwn, nil, p.listOwn), operation.Bind(IssueOwn, nil, p.issueOwn), operation.Bind(RevokeOwn, nil, p.revokeOwn),
	}
	if p.Tokens == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.Tokens, error) {
	list, err := p.Tokens.RecordTokens(ctx)
	if err != nil {
		return answer.Tokens{}, err
	}
	out := answer.Tokens{Tokens: make([]answer.Token, len(list))}
	for i, t := range list {
		out.Tokens[i] = answer.Token{Name: t.Name, Purpose: string(t.Purpose), Under: t.Under, Created: t.Created}
	}
	return out, nil
}

// issue creates a token; it is shown in this answer only.
func (p *Part) issue(ctx context.Context, c *operation.Call, in *Recorder) (answer.IssuedToken, error) {
	c.Did(in.Name, map[string]any{"under": in.Under})
	if in.Member {
		return p.issueMember(ctx, c, in)
	}
	if err := point.Path(in.Under).Validate(); in.Under != "" && err != nil {
		return answer.IssuedToken{}, fault.E("tokens.issue", fault.Invalid, "under", err)
	}
	if err := point.Path(in.Name).Validate(); in.Name != "" && err != nil { // it appears in lists and logs
		return answer.IssuedToken{}, fault.E("tokens.issue", fault.Invalid, "name", err)
	}
	secret, err := p.Tokens.IssueRecord(ctx, in.Name, in.Under)
	if err != nil {
		return answer.IssuedToken{}, err
	}
	return answer.IssuedToken{Name: in.Name, Under: in.Under, Token: secret}, nil
}

// issueMember creates a token for another member of the metering cluster.
func (p *Part) issueMember(ctx context.Context, c *operation.Call, in *Recorder) (answer.IssuedToken, error) {
	c.Did(in.Name, map[string]any{"member": true})
	if in.Under != "" {
		return answer.IssuedToken{}, fault.E("tokens.issue", fault.Invalid, "under", errUnderMember)
	}
	secret, err := p.Members.IssueMember(ctx, in.Name)
	if err != nil {
		return answer.IssuedToken{}, err
	}
	return answer.IssuedToken{Name: in.Name, Token: secret}, nil
}

var errUnderMember = errors.New("is for tokens that record; leave it out for a member of the cluster")

func (p *Part) revoke(ctx context.Context, c *operation.Call, in *Name) (operation.None, error) {
	c.Did(in.Name, nil)
	return operation.None{}, p.Tokens.RevokeRecord(ctx, in.Name)
}

func shown(t *identity.OwnToken) answer.OwnToken {
	out := answer.OwnToken{ID: t.ID, Name: t.Name, Role: t.Role.String(), Created: t.Created}
	if !t.Expires.IsZero() {
		out.Expires = &t.Expires
	}
	return out
}

func (p *Part) listOwn(ctx context.Context, c *operation.Call, _ *struct{}) (answer.OwnTokens, error) {
	list, err := p.Tokens.OwnTokens(ctx, c.User())
	if err != nil {
		return answer.OwnTokens{}, err
	}
	out := answer.OwnTokens{Tokens: make([]answer.OwnToken, len(list))}
	for i := range list {
		out.Tokens[i] = shown(&list[i])
	}
	return out, nil
}

var (
	errExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it out for a token without an end")
	errLogin   = errors.New("is for people and programs that show a login of this node")
)

// issueOwn creates a token; it is shown in this answer only.
func (p *Part) issueOwn(ctx context.Context, c *operation.Call, in *Own) (answer.IssuedOwnToken, error) {
	const op = "tokens.issueOwn"
	detail := map[string]any{"role": in.Role, "expires": nil}
	if in.Expires != "" {
		detail["expires"] = in.Expires
	}
	c.Did(in.Name, detail)
	if c.Login == nil {
		return answer.IssuedOwnToken{}, fault.E(op, fault.Refused, c.Name, errLogin)
	}
	role, _ := identity.ParseRole(in.Role) // Nobody is refused
	t := identity.OwnToken{Name: in.Name, Role: role}
	if in.Expires != "" {
		var err error
		if t.Expires, err = time.Parse(time.RFC3339, in.Expires); err != nil {
			return answer.IssuedOwnToken{}, fault.E(op, fault.Invalid, "expires", errExpires)
		}
	}
	secret, made, err := p.Tokens.IssueOwn(ctx, c.Login.Shown(), t)
	if err != nil {
		return answer.IssuedOwnToken{}, err
	}
	detail["name"] = made.Name
	c.Did(made.ID, detail)
	return answer.IssuedOwnToken{OwnToken: shown(&made), Token: secret}, nil
}

func (p *Part) revokeOwn(ctx context.Context, c *operation.Call, in *ID) (operation.None, error) {
	c.Did(in.ID, nil)
	gone, err := p.Tokens.RevokeOwn(ctx, c.User(), in.ID)
	if err == nil {
		c.Did(in.ID, map[string]any{"name": gone.Name})
	}
	return operation.None{}, err
}
