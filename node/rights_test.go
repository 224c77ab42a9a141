package node_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/api/client"
	agent "voltbus/bus/client"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/declared"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/service"
	"voltbus/testing/link"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

var roles = []identity.Role{identity.Viewer, identity.Operator, identity.Engineer, identity.Administrator}

// everything is what a child may be granted at most.
var everything = identity.Grants{
	Read: []point.Pattern{"**"}, Subscribe: []point.Pattern{"**"}, Record: []point.Pattern{"**"}, Publish: []point.Pattern{"**"},
	Command: []identity.CommandGrant{{Path: "**", Level: 1}}, Call: []identity.CallGrant{{Agent: "*/*"}, {Agent: wire.NodeName}},
}

// couple is campus ◀ plant, of which each lets the other do everything, so that only who asks is judged.
func couple(t *testing.T, allow string) (campus, plant member, way *link.Link) {
	t.Helper()
	way = link.New(t)
	grow := func(name, extra string) member {
		cfg := nodeOf(t, t.TempDir(), name, listenAnywhere+extra)
		return member{run(t, cfg), cfg}
	}
	campus, plant = grow("campus", ""), grow("plant", allow)
	way.Lead(campus.BusAddr())
	invited, err := client.Do(wait(t), campus.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: "plant", Grants: everything, Addresses: []string{way.Addr()}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), plant.Client, parentop.Join, parentop.Code{Code: invited.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "the nodes know each other", func() bool {
		above, _ := plant.Lineage().Ancestors()
		below := campus.Subtree().Nodes()
		return len(above) == 1 && len(below) == 1 && below[0].Away.IsZero()
	})
	return campus, plant, way
}

// as returns the client of a person of a node who has a role.
func (m *member) as(t *testing.T, name string, role identity.Role) (*client.Client, string) {
	t.Helper()
	token, err := m.Issue(wait(t), identity.User{Name: name, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(m.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, token
}

// hidden is an argument in the path of an operation.
var hiddenArgument = regexp.MustCompile(`\{(\w+)\}`)

// locally asks a node for an operation over HTTP, without a body that makes sense, and reports whether
// that is refused.
func (m *member) locally(t *testing.T, op api.Operation, token string) (refused bool) {
	t.Helper()
	address := m.HTTPAddr() + hiddenArgument.ReplaceAllString(op.Path, "nothing")
	req, err := http.NewRequestWithContext(wait(t), op.Method, address, strings.NewReader("{}"))
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
	return resp.StatusCode == http.StatusForbidden
}

// nonsense are arguments of a method by name: a text for all that a path holds, and an empty body.
func nonsense(op *api.Operation) map[string]json.RawMessage {
	args := map[string]json.RawMessage{}
	if op == nil {
		return args
	}
	for _, name := range hiddenArgument.FindAllStringSubmatch(op.Path, -1) {
		args[name[1]] = json.RawMessage(`"nothing"`)
	}
	if op.Method != http.MethodGet {
		args["body"] = json.RawMessage(`{}`)
	}
	return args
}

// counterpart is the operation over HTTP that a method of a node stands for.
func counterpart(t *testing.T, method string, all []api.Operation) api.Operation {
	t.Helper()
	if i := slices.IndexFunc(all, func(op api.Operation) bool { return op.Remote == method }); i >= 0 {
		return all[i]
	}
	const viewer, operator = identity.Viewer, identity.Operator
	for path, op := range map[string]api.Operation{
		"GET /latest": {Remote: "latest", Role: viewer}, "GET /range": {Remote: "range", Role: viewer}, "GET /aggregate": {Remote: "aggregate", Role: viewer},
		"GET /points": {Remote: "points", Role: viewer}, "GET /stream?pattern=x": {Remote: "listen", Role: viewer},
		"GET /version": {Remote: "ping", Role: viewer}, "GET /openapi.yaml": {Remote: "inspect", Role: viewer},
		"POST /control/commands": {Remote: "set", Role: operator},
	} {
		if op.Remote == method {
			op.Method, op.Path, _ = strings.Cut(path, " ")
			op.Path = "/api/v1" + op.Path
			return op
		}
	}
	t.Fatalf("%s may be asked of another node, and stands for no operation over HTTP: say which, and whom that is for", method)
	return api.Operation{}
}

// remoteOperations lists all that may be asked of another node itself: what the program says, so that
// what is added is tested.
func remoteOperations(t *testing.T) (list []api.Operation) {
	all := api.Operations()
	list = slices.Clone(all)
	for _, method := range service.RemoteMethods(declared.All()) {
		if !slices.ContainsFunc(all, func(op api.Operation) bool { return op.Remote == method }) {
			list = append(list, counterpart(t, method, all))
		}
	}
	if len(list) < 30 {
		t.Fatalf("only %d operations: %v", len(list), list)
	}
	return list
}

func isErrand(op api.Operation) bool {
	return !slices.Contains(service.RemoteMethods(declared.All()), op.Remote)
}

func TestAttackEveryOperationOfAnotherNodeIsJudgedByTheRoleOfWhoAsks(t *testing.T) {
	t.Parallel()
	campus, plant, _ := couple(t, "uplink: {allow: [administer]}\n")
	for _, way := range []struct {
		name     string
		from, at *member
	}{{"from above", &campus, &plant}, {"from below", &plant, &campus}} {
		for _, role := range roles {
			name := "eve-" + role.String()
			elsewhere, _ := way.from.as(t, name, role)
			_, token := way.at.as(t, name, role)
			for _, op := range remoteOperations(t) {
				want := way.at.locally(t, op, token)
				if want != !role.Includes(op.Role) {
					t.Errorf("%s asks the node itself for %s %s: refused is %v", role, op.Method, op.Path, want)
				}
				kwargs := nonsense(&op)
				if !isErrand(op) {
					kwargs = nil
				}
				body, err := json.Marshal(wire.Arguments{Kwargs: kwargs})
				if err != nil {
					t.Fatal(err)
				}
				// As a node asks that does not judge its own people.
				_, err = way.from.Tree().Ask(wait(t), tree.Caller{Name: "person:" + name, Role: role}, tree.Request{
					Node: way.at.cfg.Node.Name, Agent: wire.NodeName, Method: op.Remote, Body: body,
				})
				if got := fault.Is(err, fault.Refused); got != want {
					t.Errorf("%s, %s by the tree: %s: refused is %v, at its own node %v (%v)", way.name, role, op.Remote, got, want, err)
				}
				_, err = elsewhere.CallNode(wait(t), way.at.cfg.Node.Name, wire.NodeName, client.Call{Method: op.Remote, Kwargs: kwargs})
				if got := fault.Is(err, fault.Refused); got != want {
					t.Errorf("%s, %s by HTTP: %s: refused is %v, at its own node %v (%v)", way.name, role, op.Remote, got, want, err)
				}
			}
		}
	}
}

func TestAttackAnAgentAsksAnotherNodeForNothingThatItsOwnDoesNotAnswer(t *testing.T) {
	campus, plant, _ := couple(t, "uplink: {allow: [administer]}\n")
	all := identity.Grants{Administer: true}
	for _, way := range []struct {
		name     string
		from, at *member
	}{{"from above", &campus, &plant}, {"from below", &plant, &campus}} {
		eve := join(t, way.from.running, way.from.cfg, "eve-"+way.at.cfg.Node.Name, all)
		there := join(t, way.at.running, way.at.cfg, "here-"+way.at.cfg.Node.Name, all)
		for _, op := range remoteOperations(t) {
			local := there.CallNamed(wait(t), wire.NodeName, op.Remote, nil, nil)
			far := eve.CallNamed(wait(t), way.at.cfg.Node.Name+"/"+wire.NodeName, op.Remote, nil, nil)
			unknown := fault.Is(local, fault.NotFound) && strings.Contains(local.Error(), "no method of the node")
			if unknown != (fault.Is(far, fault.Refused) && strings.Contains(far.Error(), "is for people")) {
				t.Errorf("%s: %s: at its own node %v, at the other one %v", way.name, op.Remote, local, far)
			}
		}
	}
}

// hear has a child's own key, without a node, ask its parent.
func stranger(t *testing.T, parent *member, name string, grants identity.Grants) func(r tree.Request) error {
	t.Helper()
	as := access(t, parent.cfg, name)
	if _, err := client.Do(wait(t), parent.Client, children.Add, client.NewChild{Name: name, Public: as.Key.Public(), Grants: grants}.Arguments()); err != nil {
		t.Fatal(err)
	}
	conn, err := peer.DialParent(wait(t), peer.Way{Address: parent.BusAddr(), TLS: &tls.Config{RootCAs: as.CA, MinVersion: tls.VersionTLS13}}, as.Key, identity.ChildPrefix+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	awaitTrue(t, "the parent knows the child", func() bool {
		return slices.ContainsFunc(parent.Subtree().Nodes(), func(n replica.Node) bool { return n.Name == name })
	})
	return func(r tree.Request) error {
		r.Node, r.Caller, r.Path, r.Timeout = parent.cfg.Node.Name, "person:eve", []string{name}, 5
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Ask(wait(t), tree.RelayMethod, body)
		return err
	}
}

// What a child's key can say of itself: any role, or none.
func TestAttackAChildsOwnKeyClaimsWhatItLikes(t *testing.T) {
	cfg := nodeOf(t, t.TempDir(), "campus", listenAnywhere)
	campus := member{run(t, cfg), cfg}
	nothing := stranger(t, &campus, "bare", identity.Grants{})
	some := stranger(t, &campus, "some", identity.Grants{Call: []identity.CallGrant{{Agent: wire.NodeName}}})
	for _, op := range remoteOperations(t) {
		if !isErrand(op) {
			continue
		}
		body, err := json.Marshal(wire.Arguments{Kwargs: nonsense(&op)})
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range []struct{ who, role string }{
			{"", ""}, {"person:NAME/eve", ""}, {"person:NAME/eve", "administrator"}, {"person:NAME/eve", "god"}, {"person:NAME/eve", "nobody"}, {"agent:NAME/eve", "administrator"},
		} {
			r := func(name string) tree.Request {
				return tree.Request{Agent: wire.NodeName, Method: op.Remote, Body: body, For: strings.Replace(claim.who, "NAME", name, 1), Role: claim.role, Grants: &identity.Grants{Administer: true}}
			}
			if err := nothing(r("bare")); !fault.Is(err, fault.Refused) {
				t.Errorf("%s for %q, a child without grants asks for %s: %v", claim.role, claim.who, op.Remote, err)
			}
			// It may ask for operations, and is an engineer by them at most.
			want := !identity.Engineer.Includes(op.Role) || claim.role == "god" || claim.role == "nobody" || strings.HasPrefix(claim.who, "agent:")
			if err := some(r("some")); fault.Is(err, fault.Refused) != want {
				t.Errorf("%s for %q asks for %s: %v", claim.role, claim.who, op.Remote, err)
			}
		}
	}
}

// allowedPushes is as an engineer above would like it.
func allowing(entries ...string) string {
	return fmt.Sprintf("uplink: {allow: [%s]}\n", strings.Join(entries, ", "))
}

const ofConfig = `"call node:config.get", "call node:config.set", "call node:config.confirm", "call node:config.reload"`

func TestAttackNothingFromAboveWidensWhatThoseAboveMay(t *testing.T) {
	t.Parallel()
	for _, by := range []struct {
		name, allow string
		role        identity.Role
	}{
		{"an engineer", ofConfig, identity.Engineer},
		{"an administrator by a link for the configuration", ofConfig, identity.Administrator},
		{"an engineer by a link for everything", ofConfig + ", administer", identity.Engineer},
	} {
		t.Run(by.name, func(t *testing.T) {
			before := allowing(by.allow)
			campus, plant, _ := couple(t, before)
			eve, _ := campus.as(t, "eve", by.role)
			far := eve.At("plant")
			now, err := configurationOf(t, far)
			if err != nil {
				t.Fatal(err)
			}
			for _, wider := range []string{
				allowing(by.allow, "administer", `"read **"`), allowing(by.allow, `"command **@1"`), allowing(by.allow, `"call node:agent.start"`), "",
			} {
				text := strings.Replace(now.Text, before, wider, 1)
				if _, err := setConfig(t, far, text, now.Version, time.Minute); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "uplink.allow") {
					t.Errorf("%s writes %q: %v", by.name, wider, err)
				}
				_, err := eve.CallNode(wait(t), "plant", wire.NodeName, client.Call{Method: "config.set", Kwargs: map[string]json.RawMessage{"body": mustJSON(t, map[string]any{"text": text, "version": now.Version})}})
				if err == nil {
					t.Errorf("%s writes %q without a trial", by.name, wider)
				}
				if plant.text(t) != now.Text {
					t.Fatalf("the file was changed to %q", plant.text(t))
				}
			}
		})
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every section but devices says who may do what, where the node listens, or what it keeps.
func TestAttackNoOtherSectionIsChangedFromAnotherNode(t *testing.T) {
	campus, plant, _ := couple(t, "uplink: {allow: [administer]}\n")
	admin, _ := campus.as(t, "ada", identity.Administrator)
	far := admin.At("plant")
	now, err := configurationOf(t, far)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ old, text string }{
		{"listen: {http: 127.0.0.1:0", "listen: {http: \"0.0.0.0:0\""},
		{"uplink: {allow: [administer]}\n", "uplink: {allow: [administer], select: [\"**\"]}\n"},
		{"", "agents: {nice: 1}\n"},
		{"", "control: {absence: 1s}\n"},
		{"", "store: {memory: 64MiB}\n"},
		{"", "ingest: {retry: 2h}\n"},
		{"", "log: {min_free: 1MiB}\n"},
		{"", "recorder: {max_age: 7ms}\n"},
	} {
		text := now.Text + change.text
		if change.old != "" {
			text = strings.Replace(now.Text, change.old, change.text, 1)
		}
		if text == now.Text {
			t.Fatalf("%q stands not in %q", change.old, now.Text)
		}
		if _, err := setConfig(t, far, text, now.Version, time.Minute); !fault.Is(err, fault.Rejected) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", change.text, err)
		}
		_, err := admin.CallNode(wait(t), "plant", wire.NodeName, client.Call{Method: "config.set", Kwargs: map[string]json.RawMessage{"body": mustJSON(t, map[string]any{"text": text, "version": now.Version})}})
		if !fault.Is(err, fault.Invalid) || plant.text(t) != now.Text {
			t.Errorf("%q without a trial: %v", change.text, err)
		}
	}
}

func TestAttackAnotherNodeNeitherConfirmsNorReloadsWhatSomebodyElseWrote(t *testing.T) {
	before := allowing(ofConfig)
	campus, plant, _ := couple(t, before)
	eve, _ := campus.as(t, "eve", identity.Engineer)
	far := eve.At("plant")
	now, err := configurationOf(t, plant)
	if err != nil {
		t.Fatal(err)
	}
	wider := strings.Replace(now.Text, before, allowing(ofConfig, "administer"), 1)
	applied, err := setConfig(t, plant, wider, now.Version, time.Hour) // by somebody of the plant, on trial
	if err != nil {
		t.Fatal(err)
	}
	if err := confirmConfig(t, far, applied.Version); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("it is confirmed from above: %v", err)
	}
	if err := confirmConfig(t, plant, applied.Version); err != nil {
		t.Fatal(err)
	}
	if _, err := setConfig(t, plant, now.Text, applied.Version, 0); err != nil {
		t.Fatal(err)
	}
	plant.write(t, wider)
	if _, err := reloadConfig(t, far); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "uplink.allow") {
		t.Errorf("a wider uplink.allow of the file holds by a request from above: %v", err)
	}
	// Nor is it let in with a change of devices.
	if _, err := setConfig(t, far, wider+"devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n", versionOf(wider), time.Minute); !fault.Is(err, fault.Refused) {
		t.Errorf("it holds with a new device: %v", err)
	}
	if slices.Contains(plant.Config().Uplink.Allow, "administer") {
		t.Errorf("the plant lets those above do %q", plant.Config().Uplink.Allow)
	}
}

func TestAttackLevelsAndTheCommandsOfOthersNeedTheRoleOfHome(t *testing.T) {
	campus, _, _ := couple(t, commandedRooms+"uplink: {allow: [administer]}\n")
	ask := func(role identity.Role, method string, args map[string]any) (json.RawMessage, error) {
		named := map[string]json.RawMessage{}
		for name, v := range args {
			named[name] = mustJSON(t, v)
		}
		return campus.Tree().Ask(wait(t), tree.Caller{Name: "person:eve", Role: role}, tree.Request{
			Node: "plant", Agent: wire.NodeName, Method: method, Body: mustJSON(t, wire.Arguments{Kwargs: named}),
		})
	}
	for role, most := range map[identity.Role]int{identity.Operator: 8, identity.Engineer: 5, identity.Administrator: 1} {
		for level := 1; level <= 16; level++ {
			got, err := ask(role, "set", map[string]any{"point": "site/room/setpoint", "value": 21, "level": level})
			if err != nil || strings.Contains(string(got), `"status":"accepted"`) != (level >= most) {
				t.Errorf("an %v commands at level %d: %s, %v", role, level, got, err)
			}
		}
		if _, err := ask(role, "release", map[string]any{"all": true}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAttackAMethodThatDemandsACapabilityIsNotCalledFromAfarByWhoMayNotAtHome(t *testing.T) {
	campus, plant, _ := couple(t, "uplink: {allow: [\"call boiler\", \"hold tune\"]}\n")
	offerAll(t, join(t, plant.running, plant.cfg, "boiler", identity.Grants{}))
	for _, role := range roles {
		c, _ := campus.as(t, "eve-"+role.String(), role)
		_, err := c.CallNode(wait(t), "plant", "boiler", client.Call{Method: "tune"})
		if fault.Is(err, fault.Refused) != !role.Includes(identity.Engineer) {
			t.Errorf("an %v: %v", role, err)
		}
		_, err = campus.Tree().Ask(wait(t), tree.Caller{Name: "person:eve", Role: role}, tree.Request{Node: "plant", Agent: "boiler", Method: "tune"})
		if fault.Is(err, fault.Refused) != !role.Includes(identity.Engineer) {
			t.Errorf("an %v whose node does not judge: %v", role, err)
		}
		_, err = campus.Tree().Ask(wait(t), tree.Caller{Name: "person:eve", Role: role}, tree.Request{Node: "plant", Agent: "boiler", Method: "limit", Body: json.RawMessage(`{"kwargs":{"device":"a"}}`)})
		if fault.Is(err, fault.Refused) != !role.Includes(identity.Operator) {
			t.Errorf("an %v calls what demands nothing: %v", role, err)
		}
	}
	may := remoteCalls("plant/boiler")
	without := join(t, campus.running, campus.cfg, "without", may)
	may.Hold = []identity.CapabilityGrant{{Name: "tune"}}
	with := join(t, campus.running, campus.cfg, "with", may)
	for holder, c := range map[string]*agent.Client{"": without, "tune": with} {
		if err := c.Call(wait(t), "plant/boiler", "tune", nil); fault.Is(err, fault.Refused) != (holder == "") {
			t.Errorf("an agent that holds %q: %v", holder, err)
		}
	}
}

func TestAttackAnEngineerConfirmsNoTrialThatTheyCouldNotMake(t *testing.T) {
	before := allowing(ofConfig)
	_, plant, _ := couple(t, before)
	eve, _ := plant.as(t, "eve", identity.Engineer)
	now, err := configurationOf(t, plant)
	if err != nil {
		t.Fatal(err)
	}
	wider := strings.Replace(now.Text, before, allowing(ofConfig, "administer"), 1)
	tried, err := setConfig(t, plant, wider, now.Version, time.Hour) // by an administrator
	if err != nil {
		t.Fatal(err)
	}
	if err := confirmConfig(t, eve, tried.Version); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "uplink.allow") {
		t.Errorf("an engineer confirms it: %v", err)
	}
	if err := confirmConfig(t, plant, tried.Version); err != nil {
		t.Errorf("an administrator does not: %v", err)
	}
	devices := wider + "devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n"
	tried, err = setConfig(t, plant, devices, tried.Version, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := confirmConfig(t, eve, tried.Version); err != nil {
		t.Errorf("an engineer does not confirm a trial of devices: %v", err)
	}
}
