package node_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/declared"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// noArgument is an argument that no operation has: who may ask is told so, and nothing is done.
const noArgument = "no_such_argument"

// asked asks a node for an operation over HTTP, of itself or of another one, and returns the status of the answer.
func (m *member) asked(t *testing.T, d *operation.Declared, token, node string) int {
	t.Helper()
	method, path := d.Path()
	address := m.HTTPAddr() + hiddenArgument.ReplaceAllString(path, "nothing") + "?" + noArgument + "=1"
	if node != "" {
		address += "&node=" + node
	}
	req, err := http.NewRequestWithContext(wait(t), method, address, strings.NewReader(`{"`+noArgument+`":1}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // an answer without an end among them
	return resp.StatusCode
}

// Whoever adds an operation does nothing here: it is asked as its declaration says.
func TestAttackEveryDeclaredOperationIsJudgedByTheRoleOfWhoAsksOverEveryWay(t *testing.T) {
	t.Parallel()
	campus, plant, _ := couple(t, "uplink: {allow: [administer]}\n")
	list := declared.All()
	for _, way := range []struct {
		name     string
		from, at *member
	}{{"from the parent", &campus, &plant}, {"from the child", &plant, &campus}} {
		there := way.at.cfg.Node.Name
		for _, role := range roles {
			name := "eve-" + role.String()
			_, here := way.from.as(t, name, role)
			_, local := way.at.as(t, name, role)
			for i := range list {
				d := &list[i]
				refused := d.Members || !role.Includes(d.Role) // members of a metering cluster have tokens of their own
				if d.HTTP != "" {
					if got := way.at.asked(t, d, local, ""); (got == http.StatusForbidden) != refused || (got < 400 && !d.Foreign) {
						t.Errorf("%s over HTTP for %v: %d", d.Name, role, got)
					}
					if got := way.from.asked(t, d, here, there); (got == http.StatusForbidden) != refused || (got < 400 && !d.Foreign) {
						t.Errorf("%s, %s with node= for %v: %d", way.name, d.Name, role, got)
					}
				}
				// As a node asks that does not judge its own people.
				_, err := way.from.Tree().Ask(wait(t), tree.Caller{Name: "person:" + name, Role: role}, tree.Request{
					Node: there, Agent: wire.NodeName, Method: d.Known(), Body: json.RawMessage(`{"kwargs":{"` + noArgument + `":1}}`),
				})
				switch {
				case d.Remote && (fault.Is(err, fault.Refused) != refused || err == nil):
					t.Errorf("%s, %s through the tree for %v: %v", way.name, d.Name, role, err)
				case !d.Remote && !fault.Is(err, fault.Refused) && !fault.Is(err, fault.NotFound):
					t.Errorf("%s, %s is not for other nodes, and answers %v: %v", way.name, d.Name, role, err)
				}
			}
		}
	}
}

// What agents may ask at all, the declaration says; an argument that is not there tells that it was let in.
func TestAttackEveryDeclaredOperationIsAskedByAgentsOnlyAsItIsDeclared(t *testing.T) {
	campus, plant, _ := couple(t, "uplink: {allow: [administer]}\n")
	wrong := map[string]any{noArgument: 1}
	for _, way := range []struct {
		name     string
		from, at *member
	}{{"from the parent", &campus, &plant}, {"from the child", &plant, &campus}} {
		there := way.at.cfg.Node.Name
		eve := join(t, way.from.running, way.from.cfg, "eve-"+there, identity.Grants{Administer: true})
		local := join(t, way.at.running, way.at.cfg, "here-"+there, identity.Grants{Administer: true})
		list := declared.All()
		for i := range list {
			d := &list[i]
			method, forAgents := d.Method, d.Method != "" && !d.People
			if method == "" {
				method = d.Name
			}
			err := local.CallNamed(wait(t), wire.NodeName, method, nil, wrong)
			if unknown := fault.Is(err, fault.NotFound); unknown == forAgents || err == nil {
				t.Errorf("%s by an agent of the node: %v", d.Name, err)
			}
			err = eve.CallNamed(wait(t), there+"/"+wire.NodeName, d.Known(), nil, wrong)
			if may := fault.Is(err, fault.Invalid); may != (forAgents && d.Granted) || err == nil {
				t.Errorf("%s, %s by an agent: %v", way.name, d.Name, err)
			}
		}
	}
}
