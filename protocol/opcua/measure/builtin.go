package measure

import (
	"io"
	"math"
	"reflect"
	"time"

	"github.com/gopcua/opcua/ua"
)

// builtin are the types that the decoder does not take apart by their fields.
var builtin map[reflect.Type]func(w *walker, depth int) error //nolint:gochecknoglobals // a table

func init() { //nolint:gochecknoinits // the table and what it names need each other
	builtin = map[reflect.Type]func(w *walker, depth int) error{
		reflect.TypeFor[time.Time]():          func(w *walker, _ int) error { return w.skip(8) },
		reflect.TypeFor[ua.NodeID]():          func(w *walker, _ int) error { _, err := w.nodeID(); return err },
		reflect.TypeFor[ua.ExpandedNodeID]():  func(w *walker, _ int) error { return w.expandedNodeID() },
		reflect.TypeFor[ua.GUID]():            func(w *walker, _ int) error { return w.skip(16) },
		reflect.TypeFor[ua.LocalizedText]():   func(w *walker, _ int) error { return w.localizedText() },
		reflect.TypeFor[ua.Variant]():         (*walker).variant,
		reflect.TypeFor[ua.DataValue]():       (*walker).dataValue,
		reflect.TypeFor[ua.DiagnosticInfo]():  (*walker).diagnosticInfo,
		reflect.TypeFor[ua.ExtensionObject](): (*walker).extensionObject,
	}
}

// nodeID passes a node's identifier (clause 5.2.2.9) and returns its first byte.
func (w *walker) nodeID() (mask byte, err error) {
	if mask, err = w.octet(); err != nil {
		return 0, err
	}
	switch ua.NodeIDType(mask & 0xF) {
	case ua.NodeIDTypeTwoByte:
		err = w.skip(1)
	case ua.NodeIDTypeFourByte:
		err = w.skip(3)
	case ua.NodeIDTypeNumeric:
		err = w.skip(6)
	case ua.NodeIDTypeGUID:
		if err = w.takes(1, reflect.TypeFor[ua.GUID]().Size()); err == nil {
			err = w.skip(18)
		}
	case ua.NodeIDTypeByteString, ua.NodeIDTypeString:
		if err = w.skip(2); err == nil {
			err = w.bytes()
		}
	default:
		err = ErrType
	}
	return mask, err
}

func (w *walker) expandedNodeID() error {
	if err := w.takes(1, reflect.TypeFor[ua.NodeID]().Size()); err != nil {
		return err
	}
	mask, err := w.nodeID()
	if err == nil && mask&0x80 != 0 {
		err = w.bytes()
	}
	if err == nil && mask&0x40 != 0 {
		err = w.skip(4)
	}
	return err
}

func (w *walker) localizedText() error {
	mask, err := w.octet()
	for _, bit := range []byte{ua.LocalizedTextLocale, ua.LocalizedTextText} {
		if err == nil && mask&bit != 0 {
			err = w.bytes()
		}
	}
	return err
}

// dataValue passes a value with its status and times (clause 5.2.2.17).
func (w *walker) dataValue(depth int) error {
	mask, err := w.octet()
	if err != nil {
		return err
	}
	if err := w.takes(1, reflect.TypeFor[ua.Variant]().Size()); err != nil {
		return err
	}
	if mask&ua.DataValueValue != 0 {
		if err := w.variant(depth); err != nil {
			return err
		}
	}
	rest := 0
	for _, f := range [...]struct {
		bit  byte
		size int
	}{
		{ua.DataValueStatusCode, 4}, {ua.DataValueSourceTimestamp, 8}, {ua.DataValueSourcePicoseconds, 2}, {ua.DataValueServerTimestamp, 8}, {ua.DataValueServerPicoseconds, 2},
	} {
		if mask&f.bit != 0 {
			rest += f.size
		}
	}
	return w.skip(rest)
}

// diagnosticInfo passes the vendor's words about an error, which may have others within (clause 5.2.2.12).
func (w *walker) diagnosticInfo(depth int) error {
	if depth >= Depth {
		return ErrDepth
	}
	mask, err := w.octet()
	if err != nil {
		return err
	}
	for _, bit := range []byte{ua.DiagnosticInfoSymbolicID, ua.DiagnosticInfoNamespaceURI, ua.DiagnosticInfoLocale, ua.DiagnosticInfoLocalizedText} {
		if err == nil && mask&bit != 0 {
			err = w.skip(4)
		}
	}
	if err == nil && mask&ua.DiagnosticInfoAdditionalInfo != 0 {
		err = w.bytes()
	}
	if err == nil && mask&ua.DiagnosticInfoInnerStatusCode != 0 {
		err = w.skip(4)
	}
	if err == nil && mask&ua.DiagnosticInfoInnerDiagnosticInfo != 0 {
		if err = w.takes(1, reflect.TypeFor[ua.DiagnosticInfo]().Size()); err == nil {
			err = w.diagnosticInfo(depth + 1)
		}
	}
	return err
}

// extensionObject passes a structure with its type (clause 5.2.2.15). One whose type is not known is passed as it is.
func (w *walker) extensionObject(depth int) error {
	if depth >= Depth {
		return ErrDepth
	}
	start := w.pos
	if err := w.takes(1, reflect.TypeFor[ua.ExpandedNodeID]().Size()); err != nil {
		return err
	}
	if err := w.expandedNodeID(); err != nil {
		return err
	}
	id := w.b[start:w.pos]
	mask, err := w.octet()
	if err != nil || mask == ua.ExtensionObjectEmpty {
		return err
	}
	n, err := w.number()
	if err != nil || n == 0 || n == null {
		return err
	}
	if int64(n) > int64(len(w.b)-w.pos) {
		return io.ErrUnexpectedEOF
	}
	body := &walker{b: w.b[w.pos : w.pos+int(n)], memory: w.memory}
	if mask == ua.ExtensionObjectXML {
		err = body.bytes()
	} else if t := typeOf(id); t != nil {
		err = body.value(t, depth+1)
	}
	w.memory = body.memory
	if err != nil {
		return err
	}
	return w.skip(int(n))
}

// typeOf returns the Go type of a structure, nil if the decoder does not know it: it is told that one byte of it follows, makes it, and finds that the
// rest is missing.
func typeOf(id []byte) reflect.Type {
	var probe ua.ExtensionObject
	_, _ = probe.Decode(append(append([]byte{}, id...), ua.ExtensionObjectBinary, 1, 0, 0, 0, 0)) // the type is what counts
	return reflect.TypeOf(probe.Value)
}

// Flags of a variant (clause 5.2.2.16).
const (
	typeMask = 0x3F
	isArray  = 0x80
	hasSizes = 0x40
)

// variant passes a value of any built-in type, or an array of them.
func (w *walker) variant(depth int) error {
	if depth >= Depth {
		return ErrDepth
	}
	mask, err := w.octet()
	if err != nil || mask&typeMask == byte(ua.TypeIDNull) {
		return err
	}
	t, known := elements[ua.TypeID(mask&typeMask)]
	if !known {
		return ErrType
	}
	if mask&isArray == 0 {
		if err := w.takes(1, t.Size()); err != nil {
			return err
		}
		return w.value(t, depth+1)
	}
	n, err := w.elements(t, depth)
	if err != nil || mask&hasSizes == 0 {
		return err
	}
	return w.dimensions(n)
}

// elements passes the elements of an array, and returns how many there are: -1 if the array is not there.
func (w *walker) elements(t reflect.Type, depth int) (int, error) {
	length, err := w.number()
	n := int(int32(length)) //nolint:gosec // the standard's Int32
	switch {
	case err != nil || n == -1:
		return n, err
	case n < 0 || n > ua.MaxVariantArrayLength:
		return n, ErrLength
	case n > len(w.b)-w.pos:
		return n, io.ErrUnexpectedEOF
	}
	if err := w.takes(n, 2*t.Size()); err != nil { // each is made, and copied
		return n, err
	}
	for range n {
		if err := w.value(t, depth+1); err != nil {
			return n, err
		}
	}
	return n, nil
}

// dimensions passes the sizes of an array of several dimensions. The decoder makes a slice for each part of each.
func (w *walker) dimensions(n int) error {
	count, err := w.number()
	if err != nil {
		return err
	}
	if count > Dimensions {
		return ErrDimensions
	}
	product := int64(1)
	for range count {
		size, err := w.number()
		if err != nil {
			return err
		}
		if size == 0 || size > math.MaxInt32 {
			return ErrDimensions
		}
		if product *= int64(size); product > int64(n) {
			return ErrDimensions
		}
	}
	if count > 0 && product != int64(n) {
		return ErrDimensions
	}
	return w.takes(max(0, n)*int(count), 2*reflect.TypeFor[[]any]().Size())
}

// elements are the types of what a variant has.
var elements = map[ua.TypeID]reflect.Type{ //nolint:gochecknoglobals // a table
	ua.TypeIDBoolean: reflect.TypeFor[bool](), ua.TypeIDSByte: reflect.TypeFor[int8](), ua.TypeIDByte: reflect.TypeFor[uint8](),
	ua.TypeIDInt16: reflect.TypeFor[int16](), ua.TypeIDUint16: reflect.TypeFor[uint16](), ua.TypeIDInt32: reflect.TypeFor[int32](),
	ua.TypeIDUint32: reflect.TypeFor[uint32](), ua.TypeIDInt64: reflect.TypeFor[int64](), ua.TypeIDUint64: reflect.TypeFor[uint64](),
	ua.TypeIDFloat: reflect.TypeFor[float32](), ua.TypeIDDouble: reflect.TypeFor[float64](), ua.TypeIDString: reflect.TypeFor[string](),
	ua.TypeIDDateTime: reflect.TypeFor[time.Time](), ua.TypeIDGUID: reflect.TypeFor[*ua.GUID](), ua.TypeIDByteString: reflect.TypeFor[[]byte](),
	ua.TypeIDXMLElement: reflect.TypeFor[ua.XMLElement](), ua.TypeIDNodeID: reflect.TypeFor[*ua.NodeID](),
	ua.TypeIDExpandedNodeID: reflect.TypeFor[*ua.ExpandedNodeID](), ua.TypeIDStatusCode: reflect.TypeFor[ua.StatusCode](),
	ua.TypeIDQualifiedName: reflect.TypeFor[*ua.QualifiedName](), ua.TypeIDLocalizedText: reflect.TypeFor[*ua.LocalizedText](),
	ua.TypeIDExtensionObject: reflect.TypeFor[*ua.ExtensionObject](), ua.TypeIDDataValue: reflect.TypeFor[*ua.DataValue](),
	ua.TypeIDVariant: reflect.TypeFor[*ua.Variant](), ua.TypeIDDiagnosticInfo: reflect.TypeFor[*ua.DiagnosticInfo](),
}
