package opcua

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/point"
)

// Bounds of what a survey takes from a server.
const (
	maxNodes    = 200_000
	maxDepth    = 30
	maxElements = 64 // of an array whose elements become points
)

// variable is a variable that a survey found.
type variable struct {
	id         *ua.NodeID
	path       []string
	properties map[string]*ua.NodeID // by browse name
	value      *ua.DataValue
	dataType   *ua.NodeID
	access     byte
	text       string // its description
}

// place is a node whose children are not known yet.
type place struct {
	id   *ua.NodeID
	path []string
	of   *variable // nil for an object
}

// Discover implements driver.Discoverer: the variables below the folder Objects, with names from their browse names, units, states
// and whether they may be written.
func (s *session) Discover(ctx context.Context) ([]driver.Found, error) {
	const op = "opcua.Discover"
	list, err := s.line.survey(ctx)
	if err == nil {
		err = s.line.attributes(ctx, list)
	}
	var about map[string]*ua.DataValue
	if err == nil {
		about, err = s.line.propertyValues(ctx, list)
	}
	if err != nil {
		return nil, s.fail(op, ctx, err)
	}
	var names pointlist.Namer
	var found []driver.Found
	for _, v := range list {
		found = append(found, s.line.points(v, about, &names)...)
	}
	return found, nil
}

var _ driver.Discoverer = (*session)(nil)

// survey walks the tree of a server, a level at a time.
func (l *line) survey(ctx context.Context) (list []*variable, err error) {
	level := []place{{id: ua.NewNumericNodeID(0, nodeObjects)}}
	seen := map[string]bool{level[0].id.String(): true}
	for depth := 0; len(level) > 0 && depth < maxDepth; depth++ {
		ids := make([]*ua.NodeID, len(level))
		for i := range level {
			ids[i] = level[i].id
		}
		found, err := l.browse(ctx, ids)
		if err != nil {
			return nil, err
		}
		var next []place
		for i, refs := range found {
			next = append(next, beyond(level[i], refs, seen)...)
		}
		for _, p := range next {
			if p.of != nil {
				list = append(list, p.of)
			}
		}
		level = next
	}
	return list, nil
}

// beyond returns the places that references lead to and nobody has seen, and notes the properties of a variable.
func beyond(from place, refs []*ua.ReferenceDescription, seen map[string]bool) (next []place) {
	for _, ref := range refs {
		id := ref.NodeID.NodeID
		if from.of != nil && ref.ReferenceTypeID.Namespace() == 0 && ref.ReferenceTypeID.IntID() == nodeHasProperty {
			from.of.properties[ref.BrowseName.Name] = id
			continue
		}
		if p, wanted := follow(from, ref); wanted && !seen[id.String()] && len(seen) < maxNodes {
			seen[id.String()] = true
			next = append(next, p)
		}
	}
	return next
}

// follow returns where a reference leads, and whether points may be there.
func follow(from place, ref *ua.ReferenceDescription) (place, bool) {
	id := ref.NodeID.NodeID
	if id.Namespace() == 0 && id.IntID() == nodeServer || ref.ReferenceTypeID.Namespace() == 0 && ref.ReferenceTypeID.IntID() == nodeHasProperty {
		return place{}, false
	}
	p := place{id: id, path: append(slices.Clone(from.path), ref.BrowseName.Name)}
	switch ref.NodeClass {
	case ua.NodeClassObject:
		return p, true
	case ua.NodeClassVariable:
		p.of = &variable{id: id, path: p.path, properties: make(map[string]*ua.NodeID)}
		return p, true
	default:
		return place{}, false
	}
}

// attributes reads what variables are.
func (l *line) attributes(ctx context.Context, list []*variable) error {
	wanted := []ua.AttributeID{ua.AttributeIDValue, ua.AttributeIDDataType, ua.AttributeIDUserAccessLevel, ua.AttributeIDDescription}
	var nodes []*ua.ReadValueID
	for _, v := range list {
		for _, attribute := range wanted {
			nodes = append(nodes, attributeOf(v.id, attribute))
		}
	}
	results, err := l.readAll(ctx, nodes)
	if err != nil {
		return err
	}
	for i, v := range list {
		r := results[i*len(wanted):]
		v.value = r[0]
		v.dataType, _ = valueIn(r[1]).(*ua.NodeID)
		v.access, _ = valueIn(r[2]).(byte)
		if text, is := valueIn(r[3]).(*ua.LocalizedText); is && text != nil {
			v.text = text.Text
		}
	}
	return nil
}

// readAll reads nodes in requests of a size that the server takes.
func (l *line) readAll(ctx context.Context, nodes []*ua.ReadValueID) ([]*ua.DataValue, error) {
	var results []*ua.DataValue
	for part := range slices.Chunk(nodes, l.most.read) {
		r, err := read(ctx, l.conn, part, l.cfg.Timeout)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// telling are the properties that say what a value means (Part 8, clause 5.3).
var telling = []string{"EngineeringUnits", "EnumStrings", "EnumValues", "TrueState", "FalseState"} //nolint:gochecknoglobals // a table

// propertyValues reads the properties that say what values mean, also those of enumerations as data types, by node.
func (l *line) propertyValues(ctx context.Context, list []*variable) (map[string]*ua.DataValue, error) {
	if err := l.enumerations(ctx, list); err != nil {
		return nil, err
	}
	var nodes []*ua.ReadValueID
	values := make(map[string]*ua.DataValue)
	for _, v := range list {
		for _, name := range telling {
			id := v.properties[name]
			if id == nil {
				continue
			}
			if _, twice := values[id.String()]; !twice {
				values[id.String()] = nil
				nodes = append(nodes, valueOf(id))
			}
		}
	}
	results, err := l.readAll(ctx, nodes)
	if err != nil {
		return nil, err
	}
	for i, n := range nodes {
		values[n.NodeID.String()] = results[i]
	}
	return values, nil
}

// enumerations gives variables whose data type is an enumeration the texts of the type.
func (l *line) enumerations(ctx context.Context, list []*variable) error {
	types := make(map[string][]*variable)
	var ids []*ua.NodeID
	for _, v := range list {
		if v.dataType == nil || v.dataType.Namespace() == 0 || v.properties["EnumStrings"] != nil || v.properties["EnumValues"] != nil {
			continue
		}
		key := v.dataType.String()
		if types[key] == nil {
			ids = append(ids, v.dataType)
		}
		types[key] = append(types[key], v)
	}
	found, err := l.browse(ctx, ids)
	if err != nil {
		return err
	}
	for i, refs := range found {
		for _, ref := range refs {
			if !slices.Contains(telling, ref.BrowseName.Name) {
				continue
			}
			for _, v := range types[ids[i].String()] {
				v.properties[ref.BrowseName.Name] = ref.NodeID.NodeID
			}
		}
	}
	return nil
}

// writable is the bit of an access level that says that the present value may be written (Part 3, clause 8.57).
const writable = 0x02

// points are those that a variable is: one, or one for each element of an array.
func (l *line) points(v *variable, about map[string]*ua.DataValue, names *pointlist.Namer) []driver.Found {
	entry := map[string]string{"node": pointlist.NodeOf(v.id, l.namespaces).String()}
	if text := strings.Join(strings.Fields(v.text), " "); text != "" {
		entry["description"] = text
	}
	if v.access&writable != 0 {
		entry["writable"] = "true"
	}
	tell := func(name string) any {
		if id := v.properties[name]; id != nil {
			return valueIn(about[id.String()])
		}
		return nil
	}
	if unit := unitIn(tell("EngineeringUnits")); unit != "" {
		entry["unit"] = unit
	}
	if states := statesIn(tell); len(states) > 0 {
		entry["states"] = states.String()
	}
	if v.value == nil || v.value.Value == nil || !v.value.Value.Has(ua.VariantArrayValues) {
		return []driver.Found{foundAt(v, entry, v.path, -1, names)}
	}
	n := int(v.value.Value.ArrayLength())
	if n < 1 || n > maxElements || len(v.value.Value.ArrayDimensions()) > 1 {
		return nil
	}
	var list []driver.Found
	for i := range n {
		list = append(list, foundAt(v, entry, append(slices.Clone(v.path), strconv.Itoa(i)), i, names))
	}
	return list
}

// foundAt makes one point of a variable, or of an element of it.
func foundAt(v *variable, about map[string]string, path []string, element int, names *pointlist.Namer) driver.Found {
	entry := make(map[string]string, len(about)+3)
	maps.Copy(entry, about)
	if element >= 0 {
		entry["element"] = strconv.Itoa(element)
	}
	item := pointlist.ItemOf(entry)
	sample := point.Sample{Quality: point.BadDevice}
	if v.value != nil && !isBad(v.value.Status) {
		if value, ok := item.Decode(v.value.Value); ok {
			sample.Value, sample.Quality = value, qualityOf(v.value.Status)
			entry["type"] = value.Kind().String()
		}
	}
	entry["name"] = names.Name(path)
	item = pointlist.ItemOf(entry)
	sample.Point = point.Path(item.Name)
	return driver.Found{Info: item.Info(), Entry: entry, Sample: sample}
}

func unitIn(v any) string {
	if object, is := v.(*ua.ExtensionObject); is && object != nil {
		if unit, is := object.Value.(*ua.EUInformation); is && unit != nil {
			return pointlist.UnitText(unit)
		}
	}
	return ""
}

// statesIn are the texts of an enumeration, or of the two states of a truth value.
func statesIn(tell func(string) any) (list pointlist.States) {
	if texts, is := tell("EnumStrings").([]*ua.LocalizedText); is {
		for i, text := range texts {
			list = append(list, pointlist.State{Value: int64(i), Text: text.Text})
		}
		return list
	}
	if objects, is := tell("EnumValues").([]*ua.ExtensionObject); is {
		for _, object := range objects {
			if v, is := object.Value.(*ua.EnumValueType); is && v.DisplayName != nil {
				list = append(list, pointlist.State{Value: v.Value, Text: v.DisplayName.Text})
			}
		}
		return list
	}
	off, hasOff := tell("FalseState").(*ua.LocalizedText)
	on, hasOn := tell("TrueState").(*ua.LocalizedText)
	if hasOff && hasOn {
		list = pointlist.States{{Value: 0, Text: off.Text}, {Value: 1, Text: on.Text}}
	}
	return list
}
