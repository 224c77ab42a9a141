package pointlist_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/opcua/measure"
)

// of returns the points of entries, and what is wrong with the others.
func of(entries ...pointlist.Entry) ([]pointlist.Item, []error) {
	r := pointlist.Registry{List: registry.List[pointlist.Entry]{Entries: entries}}
	return r.Items()
}

// item returns the point that the columns describe.
func item(columns ...string) pointlist.Item {
	row := map[string]string{"name": "x", "node": "nsu=urn:plant;s=x"}
	for i := 0; i < len(columns); i += 2 {
		row[columns[i]] = columns[i+1]
	}
	return pointlist.ItemOf(row)
}

func TestEveryMistakeOfARegistrySaysWhatToWrite(t *testing.T) {
	const node = "nsu=urn:plant;s=x"
	items, problems := of([]pointlist.Entry{
		{Node: node},
		{Name: "a/../b", Node: node},
		{Name: "b"},
		{Name: "c", Node: "Pump.Speed"},
		{Name: "d", Node: "ns=70000;s=x"},
		{Name: "e", Node: "nsu=urn:plant;i=x"},
		{Name: "f", Node: "nsu=;s=x"},
		{Name: "g", Node: node, Element: "-1"},
		{Name: "h", Node: node, Type: "number"},
		{Name: "i", Node: node, States: "1=Auto|1=Hand"},
		{Name: "j", Node: node, Writable: "maybe"},
		{Name: "k", Node: node, Sampling: "1"},
		{Name: "l", Node: node, Sampling: "1ms"},
		{Name: "m", Node: node, Deadband: "-1"},
		{Name: "n", Node: node, Deadband: "101%"},
		{Name: "o", Node: node, Min: "1"},
		{Name: "p", Node: node, Writable: "true", Max: "much"},
		{Name: "q", Node: node, Writable: "true", Type: "int", Default: "1.5"},
		{Name: "r", Node: node, Writable: "true", Type: "text", States: "Off|On", Default: "Half"},
		{Name: "s", Node: node},
		{Name: "s", Node: node},
	}...)
	want := []string{
		"registry[0].name: is missing; write the name of the point",
		"registry[1].name: (a/../b) ",
		"registry[2].node: (b) is no node; write nsu=URI;s=NAME",
		"registry[3].node: (c) is no node",
		"registry[4].node: (d) is no node",
		"registry[5].node: (e) is no node",
		"registry[6].node: (f) is no node",
		`registry[7].element: (g) "-1" is no element of an array; write a number from 0`,
		`registry[8].type: (h) "number" is no type of a point; write float, int, bool or text`,
		`registry[9].states: (i) "1=Auto|1=Hand" has two texts for 1; write each value once`,
		`registry[10].writable: (j) "maybe" is neither true nor false; write one of them`,
		`registry[11].sampling: (k) "1" is no time from 10ms to 24h; write one such as 500ms`,
		`registry[12].sampling: (l) "1ms" is no time from 10ms to 24h`,
		`registry[13].deadband: (m) "-1" is no change; write a number such as 0.5`,
		`registry[14].deadband: (n) "101%" is no change`,
		"registry[15].default: (o) and min and max are for points that may be written; leave them out, or write true for writable",
		`registry[16].max: (p) "much" is no number`,
		"registry[17].default: (q) is no whole number",
		"registry[18].default: (r) is none of the states of the point; write one of Off, On",
		`registry[20].name: (s) "s" stands there twice; give each point its own name`,
	}
	if len(items) != 1 || len(problems) != len(want) {
		t.Errorf("%d items, %d problems, want %d: %v", len(items), len(problems), len(want), problems)
	}
	for i := range min(len(problems), len(want)) {
		if p, ok := problems[i].(*driver.Problem); !ok || !strings.HasPrefix(p.Error(), want[i]) { //nolint:errorlint // they are made here
			t.Errorf("problem %d is %v, want %s…", i, problems[i], want[i])
		}
	}
}

func TestARegistryIsReadFromCSVAndItsBadRowsAreNamed(t *testing.T) {
	text := "Name,NodeId,Units,Writable,States,Deadband,tag:room,Comment\n" +
		"speed,nsu=urn:plant;s=Pump.Speed,°C,,,2%,hall,seen on site\n" +
		"mode,\"nsu=urn:plant;s=a,b\",,yes,Off|On,,,\n" +
		"short,ns=2\n" +
		"twice,i=1,,,,1x,,\n"
	entries, problems := pointlist.ParseCSV("registry", "plant.csv", strings.NewReader(text))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	items, problems := of(entries...)
	if len(items) != 2 || len(problems) != 2 {
		t.Fatalf("%d items, %v", len(items), problems)
	}
	for i, field := range []string{"node", "deadband"} {
		p, is := errors.AsType[*driver.Problem](problems[i])
		if !is || p.File != "plant.csv" || p.Row != 4+i || !strings.Contains(p.Key, field) {
			t.Errorf("the bad row is told as %+v", p)
		}
	}
	if i := items[0]; i.Info().Unit != "degC" || i.Info().Tags["room"] != "hall" || i.Deadband != (pointlist.Deadband{Value: 2, Percent: true}) || i.Writable {
		t.Errorf("the speed is %+v", i)
	}
	if i := items[1]; i.Node.String() != "nsu=urn:plant;s=a,b" || !i.Writable || i.Info().Tags["states"] != "Off|On" {
		t.Errorf("the mode is %+v", i)
	}
	if _, problems := pointlist.ParseCSV("registry", "plant.csv", strings.NewReader("Name,Adress\nx,y\n")); len(problems) == 0 || !strings.Contains(problems[0].Error(), "node") {
		t.Errorf("a column that is not known gives %v, want those that are", problems)
	}
}

func TestANodeIsNamedByTheURIOfItsNamespace(t *testing.T) {
	namespaces := []string{"http://opcfoundation.org/UA/", "urn:own", "urn:a;b%c"}
	for _, tt := range []struct {
		text string
		id   *ua.NodeID
		back string // "" for the same
	}{
		{"i=2258", ua.NewNumericNodeID(0, 2258), ""},
		{" i=2258 ", ua.NewNumericNodeID(0, 2258), "i=2258"},
		{"nsu=urn:own;s=a;b", ua.NewStringNodeID(1, "a;b"), ""},
		{"ns=2;s=x", ua.NewStringNodeID(2, "x"), "nsu=urn:a%3Bb%25c;s=x"},
		{"nsu=urn:a%3Bb%25c;b=AQI=", ua.NewByteStringNodeID(2, []byte{1, 2}), ""},
		{"nsu=urn:own;g=1111AAAA-22BB-33CC-44DD-55EE77FF9900", ua.NewGUIDNodeID(1, "1111AAAA-22BB-33CC-44DD-55EE77FF9900"), ""},
		{"ns=9;i=1", ua.NewNumericNodeID(9, 1), ""},
	} {
		n, err := pointlist.ParseNode(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		id, err := n.Resolve(namespaces)
		if err != nil || !id.Equal(tt.id) {
			t.Errorf("%s is %v, %v, want %v", tt.text, id, err, tt.id)
			continue
		}
		want := tt.back
		if want == "" {
			want = tt.text
		}
		if got := pointlist.NodeOf(id, namespaces).String(); got != want {
			t.Errorf("%s becomes %s, want %s", tt.text, got, want)
		}
	}
	n, err := pointlist.ParseNode("nsu=urn:gone;s=x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Resolve(namespaces); err == nil || !strings.Contains(err.Error(), `no namespace "urn:gone"; it has "http://opcfoundation.org/UA/", "urn:own"`) {
		t.Errorf("a namespace that is gone gives %v, want those that are there", err)
	}
}

func TestUnitsOfTheServerBecomeThoseOfANode(t *testing.T) {
	code := func(text string) (n int32) {
		for _, c := range []byte(text) {
			n = n<<8 | int32(c)
		}
		return n
	}
	const uri = "http://www.opcfoundation.org/UA/units/un/cefact"
	for _, tt := range []struct {
		unit *ua.EUInformation
		want string
	}{
		{&ua.EUInformation{NamespaceURI: uri, UnitID: code("CEL"), DisplayName: ua.NewLocalizedText("Grad")}, "degC"},
		{&ua.EUInformation{NamespaceURI: uri, UnitID: code("KWH"), DisplayName: ua.NewLocalizedText("kW·h")}, "kWh"},
		{&ua.EUInformation{NamespaceURI: uri, UnitID: code("C62"), DisplayName: ua.NewLocalizedText("one")}, ""},
		{&ua.EUInformation{NamespaceURI: uri, UnitID: code("XYZ"), DisplayName: ua.NewLocalizedText("°F")}, "degF"},
		{&ua.EUInformation{NamespaceURI: "urn:vendor", UnitID: code("CEL"), DisplayName: ua.NewLocalizedText("parts")}, "parts"},
		{&ua.EUInformation{UnitID: -1}, ""},
	} {
		if got := pointlist.UnitText(tt.unit); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.unit, got, tt.want)
		}
	}
	for text, want := range map[string]string{"°C": "degC", " Celsius": "degC", "m³/h": "m3/h", "r/min": "rpm", "kW": "kW", "Zoll": "Zoll"} {
		if got := pointlist.UnitOf(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

func TestNamesOfNodesAreMadeReadableAndUnique(t *testing.T) {
	var n pointlist.Namer
	for _, tt := range []struct {
		path []string
		want string
	}{
		{[]string{"Line 1", "Pump.Speed"}, "Line_1/Pump_Speed"},
		{[]string{"Line_1", "Pump.Speed"}, "Line_1/Pump_Speed_2"},
		{[]string{"", ""}, "node"},
		{nil, "node_2"},
		{[]string{"Zürich/Nord", "a*b"}, ""},
	} {
		got := n.Name(tt.path)
		if err := point.Path(got).Validate(); err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%q becomes %q, want %q (%v)", tt.path, got, tt.want, err)
		}
	}
}

func TestStatesAreReadAndWrittenAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{"Off|On": "Off|On", "4=Hand|1=Auto": "1=Auto|4=Hand", "-9223372036854775808=a|9223372036854775807=b": "-9223372036854775808=a|9223372036854775807=b", " Off | On ": "Off|On"} {
		states, err := pointlist.ParseStates(text)
		if err != nil || states.String() != want {
			t.Errorf("%s is %v, %v, want %s", text, states, err, want)
		}
	}
}

func TestValuesOfTheServerBecomeValuesOfPointsAndBack(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)
	for _, tt := range []struct {
		name    string
		columns []string
		wire    any
		value   point.Value
	}{
		{"number", nil, 21.5, point.FloatOf(21.5)},
		{"single", nil, float32(0.1), point.FloatOf(0.1)},
		{"whole", nil, int16(-5), point.IntOf(-5)},
		{"byte", nil, uint8(200), point.IntOf(200)},
		{"large", nil, uint64(1) << 62, point.IntOf(1 << 62)},
		{"whole as number", []string{"type", "float"}, uint32(7), point.FloatOf(7)},
		{"truth", nil, true, point.BoolOf(true)},
		{"truth as number", []string{"type", "int"}, true, point.IntOf(1)},
		{"state as text", []string{"type", "text", "states", "Off|On"}, int32(1), point.TextOf("On")},
		{"text", nil, "grün", point.TextOf("grün")},
		{"words", nil, ua.NewLocalizedText("grün"), point.TextOf("grün")},
		{"time", nil, at, point.TextOf("2026-03-01T12:00:00.5Z")},
		{"bytes", nil, []byte{1, 255}, point.TextOf("01ff")},
	} {
		i := item(tt.columns...)
		v := ua.MustVariant(tt.wire)
		if got, ok := i.Decode(v); !ok || got != tt.value {
			t.Errorf("%s: %v is %v, %t, want %v", tt.name, tt.wire, got, ok, tt.value)
		}
		got, err := i.Encode(tt.value, v.Type())
		if err != nil {
			t.Errorf("%s: %v: %v", tt.name, tt.value, err)
			continue
		}
		if again, ok := i.Decode(got); !ok || again != tt.value || got.Type() != v.Type() {
			t.Errorf("%s: %v becomes %v of the type %v, want %v", tt.name, tt.value, again, got.Type(), v.Type())
		}
	}
	second := item("element", "1")
	if got, ok := second.Decode(ua.MustVariant([]float64{1, 2})); !ok || got != point.FloatOf(2) {
		t.Errorf("the second element is %v, %t", got, ok)
	}
	if v, err := second.Encode(point.IntOf(3), ua.TypeIDByte); err != nil || !slices.Equal(v.Value().(ua.ByteArray), ua.ByteArray{3}) { //nolint:forcetypeassert // a panic is a failure
		t.Errorf("the second element becomes %v, %v", v, err)
	}
	for _, wire := range []any{[]float64{1}, 1.0, math.NaN()} {
		if got, ok := second.Decode(ua.MustVariant(wire)); ok {
			t.Errorf("the second element of %v is %v", wire, got)
		}
	}
}

func TestValuesThatDoNotFitAreRefusedWithTheReason(t *testing.T) {
	for _, tt := range []struct {
		columns []string
		value   point.Value
		wire    ua.TypeID
		want    string
	}{
		{nil, point.IntOf(40000), ua.TypeIDInt16, "write -32768 to 32767"},
		{nil, point.FloatOf(1.5), ua.TypeIDInt32, "is no whole number"},
		{nil, point.FloatOf(1e300), ua.TypeIDFloat, "write up to 3.4e38"},
		{nil, point.TextOf("a"), ua.TypeIDDouble, "is text, and the point a number"},
		{nil, point.IntOf(2), ua.TypeIDBoolean, "is neither 0 nor 1"},
		{nil, point.TextOf("soon"), ua.TypeIDDateTime, "write one such as 2026-03-01T12:00:00Z"},
		{nil, point.TextOf("xyz"), ua.TypeIDByteString, "write them as hexadecimal digits"},
		{nil, point.FloatOf(math.NaN()), ua.TypeIDDouble, "is no value; write one"},
		{nil, point.IntOf(1), ua.TypeIDString, "write text"},
		{nil, point.TextOf("x"), ua.TypeIDNodeID, "cannot be written from here"},
		{[]string{"type", "text", "states", "Off|On"}, point.TextOf("Half"), ua.TypeIDInt32, "is none of the states"},
	} {
		i := item(tt.columns...)
		if got, err := i.Encode(tt.value, tt.wire); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v as %v becomes %v, %v, want %q", tt.value, tt.wire, got, err, tt.want)
		}
	}
}

// FuzzNode reads addresses of nodes: what is read is written in a way that is read as the same.
func FuzzNode(f *testing.F) {
	for _, text := range []string{"nsu=urn:plant;s=Pump.Speed", "ns=2;i=42", "i=2258", "nsu=urn:a%3Bb;g=1111AAAA-22BB-33CC-44DD-55EE77FF9900", "b=AQI="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := pointlist.ParseNode(text)
		if err != nil {
			return
		}
		if again, err := pointlist.ParseNode(n.String()); err != nil || again != n {
			t.Errorf("%q is written as %q, which is read as %q, %v", text, n, again, err)
		}
		id, err := n.Resolve([]string{"http://opcfoundation.org/UA/", "urn:plant"})
		if err == nil && pointlist.NodeOf(id, nil).String() == "" {
			t.Errorf("%q has no address", text)
		}
	})
}

// FuzzValue takes values as a server sends them, of any type and shape, and writes them back.
func FuzzValue(f *testing.F) {
	for _, v := range []any{1.5, true, "text", []float64{1, 2}, ua.ByteArray{1}, ua.NewLocalizedText("x"), ua.NewTwoByteNodeID(1), ua.NewGUID("1111AAAA-22BB-33CC-44DD-55EE77FF9900"), time.Unix(0, 0)} {
		b, err := ua.MustVariant(v).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "", "", "")
		f.Add(b, "text", "Off|On", "0")
	}
	before := readOfOne(f)
	f.Fuzz(func(t *testing.T, wire []byte, kind, states, element string) {
		if _, _, err := measure.Response(slices.Concat(before, wire, []byte{0, 0, 0, 0})); err != nil {
			return // the client does not decode it
		}
		var v ua.Variant
		if _, err := v.Decode(wire); err != nil {
			t.Fatalf("what the client takes is not decoded: %v", err)
		}
		i := item("type", kind, "states", states, "element", element)
		value, ok := i.Decode(&v)
		if n, is := value.Number(); ok && is && (math.IsNaN(n) || math.IsInf(n, 0)) {
			t.Errorf("%v is taken as a number", n)
		}
		if ok {
			_, _ = i.Encode(value, v.Type()) // it does not always fit, and must not fail
		}
	})
}

// readOfOne is a response to a read, up to its one value.
func readOfOne(t testing.TB) []byte {
	t.Helper()
	id, errID := ua.NewFourByteExpandedNodeID(0, ua.ServiceTypeID(&ua.ReadResponse{})).Encode()
	header, errHeader := ua.Encode(&ua.ResponseHeader{ServiceDiagnostics: &ua.DiagnosticInfo{}, AdditionalHeader: ua.NewExtensionObject(nil)})
	if err := errors.Join(errID, errHeader); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(id, header, []byte{1, 0, 0, 0, ua.DataValueValue})
}
