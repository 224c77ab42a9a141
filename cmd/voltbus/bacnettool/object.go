package bacnettool

import (
	"fmt"
	"strconv"
	"strings"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// parseProperty parses OBJECT[.PROPERTY[INDEX]], such as analog-value:1.priority-array[8].
func parseProperty(text string) (p client.Property, err error) {
	object, name, named := strings.Cut(text, ".")
	p = client.Property{Property: enum.PropertyPresentValue}
	if p.Object, err = parseObject(object); err != nil || !named {
		return p, err
	}
	if head, index, found := strings.Cut(name, "["); found {
		n, err := strconv.ParseUint(strings.TrimSuffix(index, "]"), 10, 32)
		if err != nil {
			return p, shell.Usage(fmt.Errorf("%q: %q is no index; write such as analog-value:1.priority-array[8]", text, index))
		}
		name, p.Index = head, constructed.At(uint32(n))
	}
	if p.Property, err = enum.ParseProperty(pointlist.Hyphenated(name)); err != nil {
		return p, shell.Usage(err)
	}
	return p, nil
}

func parseObject(text string) (encoding.ObjectID, error) {
	kind, instance, _ := strings.Cut(strings.ReplaceAll(text, ",", ":"), ":")
	id, err := encoding.ParseObjectID(pointlist.Hyphenated(kind) + ":" + instance)
	if err != nil {
		return id, shell.Usage(err)
	}
	return id, nil
}

// valueText formats the value of a property.
func valueText(p enum.Property, data encoding.Any) string {
	if text, known := constructed.Text(p, data); known {
		return text
	}
	values, err := data.Values()
	if err != nil {
		return fmt.Sprintf("%X", []byte(data))
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
		switch {
		case v.Kind() != encoding.KindEnumerated && p != enum.PropertyStatusFlags:
		case p == enum.PropertyUnits:
			texts[i] = enum.Unit(v.Uint()).String()
		case p == enum.PropertyReliability:
			texts[i] = enum.Reliability(v.Uint()).String()
		case p == enum.PropertyEventState:
			texts[i] = enum.EventState(v.Uint()).String()
		case p == enum.PropertyStatusFlags:
			texts[i] = constructed.StatusFlagsOf(v.Bits()).String()
		case p == enum.PropertyObjectType:
			texts[i] = enum.ObjectType(v.Uint()).String()
		}
	}
	return strings.Join(texts, ", ")
}

// kindText names the type of a value.
func kindText(data encoding.Any) string {
	values, err := data.Values()
	switch {
	case err != nil:
		return "malformed"
	case len(values) == 1:
		return values[0].Kind().String()
	}
	return fmt.Sprintf("%d values", len(values))
}
